// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import ImageChecks
import Transfers

extension Downloads {
    /// Makes an image of a body that arrived in memory.
    func finish(_ download: ActiveDownload, _ body: Download.Body) {
        let bytes = download.dequeueHeld()
        do {
            try body.checkLength(bytes.count)
            let image = try inspector.image(of: bytes, for: download.request, isComplete: body.isDelimited)
            if let name = staging.hold(bytes) {
                download.release(bytes)
                end(download, .image(StagedImage(name: name, image: image), body.response))
            } else {
                start {
                    await self.keep(bytes, image, body.response, of: download)
                    download.release(bytes)
                }
            }
        } catch {
            download.release(bytes)
            end(download, because: Self.page(bytes, download.steps?.otherOrigin, error) ?? error)
        }
    }

    /// The failure of a body that is no image, and may be the login page of a network: HTML, or anything behind a redirect
    /// to another origin.
    private static func page(_ bytes: [UInt8], _ otherOrigin: String?, _ error: any Error) -> FetchFailure? {
        guard let rejection = error as? ImageRejection, case .notAnImage(let hint) = rejection else { return nil }
        var failure = FetchFailure.image(rejection)
        failure.page = FetchFailure.Page(body: hint == "HTML" ? .of(bytes) : nil, origin: otherOrigin)
        return failure
    }

    func keep(
        _ bytes: [UInt8], _ image: AppListDocument.Image, _ response: StoredResponse, of download: ActiveDownload
    ) async {
        do {
            let name = try await staging.keep(bytes)
            guard !download.hasEnded else { return await staging.discard([name]) }
            end(download, .image(StagedImage(name: name, image: image), response))
        } catch {
            end(download, because: error)
        }
    }

    /// Writes a body to a file as it arrives, and makes an image of it at the end.
    func stream(_ download: ActiveDownload) async {
        guard case .take(let body) = download.step else { preconditionFailure("only a body is streamed") }
        var file: String?
        do {
            let name = try await begin(body)
            file = name
            while true {
                let bytes = download.dequeueHeld()
                defer { download.release(bytes) }
                if !bytes.isEmpty {
                    try await staging.append(bytes, to: name)
                } else if let end = download.bodyEnd {
                    try end.get()
                    break
                } else {
                    download.transfer?.resume()
                    await download.waitForBytes(isolation: self)
                }
            }
            guard body.end == nil || body.end == download.count else { throw NotTheRest() }
            try body.checkLength(download.count)
            if body.isPiece, let partial = body.partial { return await goOn(with: partial, body.length, download) }
            let staged = try await end(name, body, of: download)
            guard !download.hasEnded else { return await staging.discard([staged.name]) }
            end(download, .image(staged, body.response))
        } catch {
            stop(download)
            if let file { await giveUp(file, download, body, after: error) }
            if error is NotTheRest || download.isUnreadableRest(error), download.askForWhole() {
                await askAgain(download)
            } else {
                // If its bytes could not be saved either, that is not why the download ended.
                let cause: (any Error)? = if case .failure(let cause) = download.bodyEnd { cause } else { nil }
                let error = error is NotTheRest ? download.givenUp ?? error : cause ?? error
                end(download, because: Shortage(error, of: max(body.announced ?? 0, download.count)) ?? error)
            }
        }
    }

    /// Requests what a response left out of the rest.
    ///
    /// Each response brings some of the image, so `fetch.maxBytes` limits their number.
    private func goOn(with partial: PartialDownload, _ length: Int?, _ download: ActiveDownload) async {
        var partial = partial
        (partial.bytes, partial.length) = (download.count, length)
        await staging.suspend(partial, now: clock.now)
        download.goOn(from: partial)
        await askAgain(download)
    }

    private func begin(_ body: Download.Body) async throws -> String {
        try await staging.checkRoom(for: body.announced)
        guard let partial = body.partial, body.length != nil else { return try await staging.begin(body.partial) }
        guard let file = await staging.resume(partial) else { throw NotTheRest() }
        return file
    }

    private func end(_ file: String, _ body: Download.Body, of download: ActiveDownload) async throws -> StagedImage {
        let (request, otherOrigin) = (download.request, download.steps?.otherOrigin)
        let hasAskedForRest = download.steps?.hasAskedForRest == true
        return try await staging.end(file) { [inspector] bytes in
            do {
                return try inspector.image(of: bytes, for: request, isComplete: body.isDelimited)
            } catch let error as ImageRejection
                where body.length != nil || hasAskedForRest && error.code == .notAnImage
            {
                // The two parts together are no image, or a page refuses the range: that says nothing about the image
                // on the server.
                throw NotTheRest()
            } catch {
                throw Self.page(bytes, otherOrigin, error) ?? error
            }
        }
    }

    private func giveUp(_ file: String, _ download: ActiveDownload, _ body: Download.Body, after error: any Error) async
    {
        let bytes = download.dequeueHeld()
        defer { download.release(bytes) }
        if download.isCut(by: error), var partial = body.partial, (try? await staging.append(bytes, to: file)) != nil {
            partial.bytes = download.count
            await staging.suspend(partial, now: clock.now)
        } else {
            await staging.abandon(file)
        }
    }
}

/// The response is not the rest of the partial image; the whole image must be requested.
private struct NotTheRest: Error {}

extension ImageInspector {
    /// Inspects the bytes as an image for the cache; `isComplete` is whether none of them can be missing.
    ///
    /// - Throws: ``ImageRejection``, or ``FetchFailure/copyMismatch`` if they are not the requested image.
    func image(of bytes: [UInt8], for request: FetchRequest, isComplete: Bool) throws -> AppListDocument.Image {
        do {
            return AppListDocument.Image(of: bytes, try inspect(bytes.span.bytes, isComplete: isComplete))
        } catch {
            guard let copy = request.copy else { throw error }
            // If a copy came damaged, the rejection says nothing about the image that it has.
            guard Digest.of(bytes) == copy.sha256 else { throw FetchFailure.copyMismatch }
            return AppListDocument.Image(of: bytes, try inspect(bytes.span.bytes, isComplete: true))
        }
    }
}

extension AppListDocument.Image {
    init(of bytes: [UInt8], _ info: ImageInfo) {
        self.init(
            suffix: info.type.suffix, sha256: .of(bytes), bytes: bytes.count, type: info.type.mediaType,
            width: info.width, height: info.height)
    }
}

extension Shortage {
    /// The shortage behind an error for an image of `bytes` bytes; `nil` if the error has another cause.
    fileprivate init?(_ error: any Error, of bytes: Int) {
        if let shortage = (error as? FileError).flatMap({ Shortage($0, of: bytes) }) {
            self = shortage
        } else if var shortage = error as? Shortage {
            shortage.bytes = bytes
            self = shortage
        } else {
            return nil
        }
    }
}
