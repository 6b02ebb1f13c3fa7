// SPDX-License-Identifier: Apache-2.0
import IconCache
import NIOCore
import SyncPlan

/// A body on its way to `staging/`: in memory as long as it is small, in a file from then on.
///
/// It ends by `finish`, or by `end(after:)` where anything throws, `finish` included.
struct IncomingBody {
    private let staging: Staging
    private let limit: ByteCount
    /// What to keep of the image if the body is cut.
    private let partial: PartialDownload?
    private var file: String?
    /// What the file does not have yet.
    private var held: [UInt8] = []
    /// How many bytes have come, those of earlier attempts included.
    private(set) var count: Int

    /// A body that begins with the image's first byte.
    init(to staging: Staging, limit: ByteCount, partial: PartialDownload?) {
        self.staging = staging
        self.limit = limit
        self.partial = partial
        count = 0
    }

    /// The rest of an image, of which a file has the first bytes.
    init(to staging: Staging, limit: ByteCount, partial: PartialDownload, file: String) {
        self.init(to: staging, limit: limit, partial: partial)
        self.file = file
        count = partial.bytes
    }

    /// - Throws: A ``FetchFailure`` if there are more bytes than the limit allows, or a ``FileError``.
    mutating func append(_ buffer: ByteBuffer) async throws {
        count += buffer.readableBytes
        guard count <= limit.bytes else { throw FetchFailure.tooLarge(limit: limit) }
        held.append(contentsOf: buffer.readableBytesView)
        if held.count > PartialDownload.smallest.bytes { try await flush() }
    }

    private mutating func flush() async throws {
        let name: String
        if let file { name = file } else { name = try await staging.begin(partial) }
        file = name
        try await staging.append(held, to: name)
        held.removeAll(keepingCapacity: true)
    }

    /// Makes an image of the whole body.
    ///
    /// - Throws: ``ImageRejection``, or a ``FileError``.
    mutating func finish(_ inspector: ImageInspector) async throws -> StagedImage {
        guard file != nil else {
            let image = try inspector.image(of: held)
            return StagedImage(name: try await staging.write(held), image: image)
        }
        try await flush()
        guard let file else { preconditionFailure("what was flushed is in a file") }
        return try await staging.end(file) { try inspector.image(of: $0) }
    }

    /// Keeps or removes what has come, after an error.
    mutating func end(after error: any Error, now: Timestamp) async {
        guard file != nil else { return }
        let isCut = error is CancellationError || (error as? FetchFailure)?.leavesPart == true
        if isCut, var partial, (try? await flush()) != nil {
            partial.bytes = count
            await staging.suspend(partial, now: now)
        } else if let file {
            await staging.abandon(file)
        }
    }
}

extension ImageInspector {
    /// What the bytes are as an image of the cache.
    fileprivate func image(of bytes: [UInt8]) throws(ImageRejection) -> AppListDocument.Image {
        AppListDocument.Image(of: bytes, try inspect(bytes.span.bytes))
    }
}

extension AppListDocument.Image {
    /// The image that the bytes are, of which the inspection told this.
    init(of bytes: [UInt8], _ info: ImageInfo) {
        let digest = Digest.of(bytes)
        self.init(
            path: CacheLayout.image(digest, suffix: info.type.suffix), sha256: digest, bytes: bytes.count,
            type: info.type.mediaType, width: info.width, height: info.height)
    }
}
