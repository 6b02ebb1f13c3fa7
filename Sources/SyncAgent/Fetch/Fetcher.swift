// SPDX-License-Identifier: Apache-2.0
import IconCache
import NIOCore
import NIOHTTP1
package import SyncPlan

import struct Crypto.SHA256

/// One download from its request to an image in `staging/`: redirects, limits, digest, inspection.
package struct Fetcher: Sendable {
    private let transport: any Transport
    private let staging: Staging
    private let policy: NetworkPolicy
    private let resolver: Resolver
    private let settings: Settings
    private let clock: AgentClock
    private let inspector: ImageInspector

    package init(transport: any Transport, staging: Staging, settings: Settings, clock: AgentClock) {
        self.transport = transport
        self.staging = staging
        self.settings = settings
        self.clock = clock
        policy = NetworkPolicy(settings.network)
        resolver = Resolver(policy: policy)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
    }

    /// Downloads an icon; ends early, as `.cancelled`, when its task is cancelled.
    ///
    /// - Returns: How it ended, and the way there if it was not straight.
    package func fetch(_ request: FetchRequest) async -> (outcome: FetchOutcome, trail: FetchTrail?) {
        let recorder = TrailRecorder()
        let outcome = await outcome(of: request, recorder)
        return (outcome, recorder.trail)
    }

    private func outcome(of request: FetchRequest, _ recorder: TrailRecorder) async -> FetchOutcome {
        do {
            return try await withDeadline(settings.fetch.totalTimeout) {
                switch request.source {
                case .server(let target): try await download(request, from: target, recorder)
                case .inline(let url): try await decode(url)
                }
            } late: { outcome in
                if case .image(let staged, _) = outcome { await staging.discard([staged.name]) }
            }
        } catch let failure as FetchFailure {
            return Task.isCancelled ? .cancelled : .failed(failure)
        } catch let rejection as ImageRejection {
            return .failed(.image(rejection))
        } catch let shortage as Shortage {
            return .noRoom(shortage)
        } catch is DeadlineExceeded {
            return .failed(.timeout("fetch.totalTimeout"))
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed(FetchFailure("disk", "\(error)", .passing))
        }
    }

    /// Takes the image out of a URL that carries it; no server says anything of it.
    private func decode(_ url: DataURL) async throws -> FetchOutcome {
        let (bytes, info) = try url.image(upTo: settings.fetch.maxBytes, inspector)
        let name = try await staging.write(bytes)
        let now = clock.now
        return .image(
            StagedImage(name: name, digest: .of(bytes), bytes: bytes.count, info: info),
            StoredResponse(fields: HTTPFields([]), requestTime: now, responseTime: now))
    }

    private func download(
        _ request: FetchRequest, from start: FetchTarget, _ recorder: TrailRecorder
    ) async throws -> FetchOutcome {
        try await staging.checkRoom(for: nil)
        let (response, target, sent) = try await answer(to: request, from: start, recorder)
        let received = clock.now
        let fields = HTTPFields(response.headers.map { (name: $0.name, value: $0.value) })
        let stored = StoredResponse(
            status: response.status, fields: fields, requestTime: sent, responseTime: received)
        switch response.status {
        case 200: break
        case 304 where request.validators != nil: return .notModified(stored)
        default:
            let delay = RetryAfter(fields, receivedAt: received)?.delay
            var failure = FetchFailure.status(response.status, retryAfter: delay)
            if target.origin != start.origin { failure.origin = target.origin }
            throw failure
        }
        let codings = response.headers[canonicalForm: "Content-Encoding"]
        if let coding = codings.first(where: { $0.lowercased() != "identity" }) {
            throw FetchFailure.encoded(String(coding))
        }
        let length = response.headers.first(name: "Content-Length").flatMap { Int($0) }
        if let length {
            guard length <= settings.fetch.maxBytes.bytes else {
                throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
            }
            try await staging.checkRoom(for: length)
        }
        let staged = try await stage(response.body, length: length ?? 0)
        return .image(staged, stored)
    }

    /// The first answer that is no redirect, where it came from, and when the request for it was sent.
    private func answer(
        to request: FetchRequest, from start: FetchTarget, _ recorder: TrailRecorder
    ) async throws -> (response: TransportResponse, target: FetchTarget, sent: Timestamp) {
        var chain = try RedirectChain(
            from: start, limit: settings.fetch.maxRedirects, allowDowngrade: settings.fetch.allowDowngrade,
            policy: policy)
        while true {
            let proxy = transport.proxy(for: chain.target)
            recorder.begin(chain.target, through: proxy)
            let setting = try await resolver.judge(host: chain.target.host, isProxied: proxy != nil)
            recorder.update { $0.allowedBy = setting }
            let sent = clock.now
            let response = try await transport.get(
                chain.target, headers: headers(for: request, isOwn: chain.target.origin == start.origin))
            recorder.update { $0.status = response.status }
            guard RedirectChain.statuses.contains(response.status) else { return (response, chain.target, sent) }
            let locations = Set(response.headers["Location"])
            guard locations.count <= 1 else {
                throw FetchFailure("bad-redirect", "the server redirects to several places at once", .lasting)
            }
            try chain.follow(locations.first)
        }
    }

    private func headers(for request: FetchRequest, isOwn: Bool) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "User-Agent": settings.fetch.userAgent, "Accept": "image/*,*/*;q=0.1", "Accept-Encoding": "identity",
        ]
        // Validators are the business of the origin that gave them.
        if isOwn, let validators = request.validators {
            if let etag = validators.etag { headers.add(name: "If-None-Match", value: etag) }
            if let date = validators.lastModified { headers.add(name: "If-Modified-Since", value: date) }
        }
        return headers
    }

    // MARK: Bodies

    /// Bodies up to this size are held in memory and written at once.
    private static let inMemory = 64 << 10

    /// Brings an image, of which its server says how long it is (or 0), to `staging/`.
    private func stage(
        _ body: any AsyncSequence<ByteBuffer, any Error> & Sendable, length: Int
    ) async throws -> StagedImage {
        var hasher = SHA256()
        var held: [UInt8] = []
        var file: String?
        var count = 0
        do {
            for try await buffer in body {
                count += buffer.readableBytes
                guard count <= settings.fetch.maxBytes.bytes else {
                    throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
                }
                buffer.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
                held.append(contentsOf: buffer.readableBytesView)
                guard held.count > Self.inMemory else { continue }
                if file == nil { file = try await staging.begin() }
                if let file { try await staging.append(held, to: file) }
                held.removeAll(keepingCapacity: true)
            }
            try Task.checkCancellation()
            let digest = Digest(hasher.finalize())
            if let file {
                try await staging.append(held, to: file)
                held = try await staging.end(file)
            }
            let info = try inspector.inspect(held.span.bytes)
            let name: String
            if let file { name = file } else { name = try await staging.write(held) }
            return StagedImage(name: name, digest: digest, bytes: count, info: info)
        } catch {
            if let file { await staging.abandon(file) }
            throw Shortage(error, of: max(length, count)) ?? error
        }
    }
}

extension Shortage {
    /// What an error says of room for an image of so many bytes; `nil` if it is about something else.
    fileprivate init?(_ error: any Error, of bytes: Int) {
        if let error = error as? FileError, error.isOutOfSpace {
            self.init(bytes: bytes, isGeneral: true, reason: "\(error)")
        } else if var shortage = error as? Shortage {
            shortage.bytes = bytes
            self = shortage
        } else {
            return nil
        }
    }
}

extension StagedImage {
    fileprivate init(name: String, digest: Digest, bytes: Int, info: ImageInfo) {
        let image = AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: info.type.suffix), sha256: digest, bytes: bytes,
            type: info.type.mediaType, width: info.width, height: info.height)
        self.init(name: name, image: image)
    }
}

private struct DeadlineExceeded: Error {}

/// Runs an operation that is cancelled when the time is over; a result that comes later goes to `late`.
private func withDeadline<Result: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Result,
    late: (Result) async -> Void
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw DeadlineExceeded()
        }
        guard let first = await group.nextResult() else { preconditionFailure("the group has two tasks") }
        group.cancelAll()
        while let second = await group.nextResult() {
            if case .success(let result) = second { await late(result) }
        }
        return try first.get()
    }
}
