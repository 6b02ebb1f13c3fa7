// SPDX-License-Identifier: Apache-2.0
import IconCache
import NIOCore
import NIOHTTP1
package import SyncPlan

/// One download from its request to an image in `staging/`: redirects, limits, digest, inspection; and where it was cut
/// before, only of the rest.
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
    /// - Returns: How it ended, the way there if it was not straight, and whether every answer came over HTTP/2; `nil` if
    ///   there was none.
    package func fetch(
        _ request: FetchRequest
    ) async -> (outcome: FetchOutcome, trail: FetchTrail?, isMultiplexed: Bool?) {
        let recorder = TrailRecorder()
        let outcome = await outcome(of: request, recorder)
        return (outcome, recorder.trail, recorder.isMultiplexed)
    }

    private func outcome(of request: FetchRequest, _ recorder: TrailRecorder) async -> FetchOutcome {
        do {
            return try await withDeadline(settings.fetch.totalTimeout) {
                switch request.source {
                case .server(let target): try await download(request, at: target, recorder)
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
            StagedImage(name: name, image: AppListDocument.Image(of: bytes, info)),
            StoredResponse(fields: HTTPFields([]), requestTime: now, responseTime: now))
    }

    private func download(
        _ request: FetchRequest, at start: FetchTarget, _ recorder: TrailRecorder
    ) async throws -> FetchOutcome {
        try await staging.checkRoom(for: nil)
        if request.mayResume, let partial = await staging.partial(of: request.url) {
            do {
                guard partial.canGoOn(at: clock.now) else { throw NotTheRest() }
                return try await download(request, at: start, from: partial, recorder)
            } catch is NotTheRest {
                await staging.discardPartials(of: [request.url])
            }
        }
        return try await download(request, at: start, from: nil, recorder)
    }

    private func download(
        _ request: FetchRequest, at start: FetchTarget, from partial: PartialDownload?, _ recorder: TrailRecorder
    ) async throws -> FetchOutcome {
        let answer = try await answer(to: request, at: start, from: partial, recorder)
        let asked = partial?.target == answer.target.url ? partial : nil
        switch (answer.stored.status, asked) {
        case (200, _): return try await whole(answer, of: request)
        case (206, let partial?): return try await rest(answer, of: partial)
        case (416, .some): throw NotTheRest()
        case (304, _) where request.validators != nil: return .notModified(answer.stored)
        default:
            let delay = RetryAfter(answer.fields, receivedAt: answer.stored.responseTime)?.delay
            var failure = FetchFailure.status(answer.stored.status, retryAfter: delay)
            if answer.target.origin != start.origin { failure.origin = answer.target.origin }
            throw failure
        }
    }

    // MARK: Requests

    private struct Answer {
        let target: FetchTarget
        let response: TransportResponse
        let fields: HTTPFields
        let stored: StoredResponse
    }

    /// The first answer that is no redirect.
    private func answer(
        to request: FetchRequest, at start: FetchTarget, from partial: PartialDownload?, _ recorder: TrailRecorder
    ) async throws -> Answer {
        var chain = try RedirectChain(
            from: start, limit: settings.fetch.maxRedirects, allowDowngrade: settings.fetch.allowDowngrade,
            policy: policy)
        var isMultiplexed = true
        while true {
            let proxy = transport.proxy(for: chain.target)
            recorder.begin(chain.target, through: proxy)
            let setting = try await resolver.judge(host: chain.target.host, isProxied: proxy != nil)
            recorder.update { $0.allowedBy = setting }
            let sent = clock.now
            var headers = headers(for: request, isOwn: chain.target.origin == start.origin)
            if let partial, partial.target == chain.target.url { headers.add(contentsOf: partial.requestFields) }
            let response = try await transport.get(chain.target, headers: headers)
            recorder.update { $0.status = response.status }
            isMultiplexed = isMultiplexed && response.isMultiplexed
            guard RedirectChain.statuses.contains(response.status) else {
                recorder.end(isMultiplexed: isMultiplexed)
                let fields = HTTPFields(response.headers.map { (name: $0.name, value: $0.value) })
                let stored = StoredResponse(
                    status: response.status, fields: fields, requestTime: sent, responseTime: clock.now)
                return Answer(target: chain.target, response: response, fields: fields, stored: stored)
            }
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

    private func whole(_ answer: Answer, of request: FetchRequest) async throws -> FetchOutcome {
        try await check(answer.response.headers)
        var partial: PartialDownload?
        if request.validators == nil {
            partial = PartialDownload(
                of: request.url, from: answer.target, response: answer.stored, fields: answer.fields)
        }
        let body = IncomingBody(to: staging, limit: settings.fetch.maxBytes, partial: partial)
        return .image(try await stage(answer, as: body), answer.stored)
    }

    /// Goes on with an image of which the first bytes are on disk.
    ///
    /// - Throws: ``NotTheRest`` if the two together are no image: that says nothing of what the server has.
    private func rest(_ answer: Answer, of partial: PartialDownload) async throws -> FetchOutcome {
        try await check(answer.response.headers)
        guard let whole = partial.completed(by: answer.stored, fields: answer.fields) else { throw NotTheRest() }
        guard whole.length <= settings.fetch.maxBytes.bytes else {
            throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
        }
        guard let file = await staging.resume(partial) else { throw NotTheRest() }
        let body = IncomingBody(to: staging, limit: settings.fetch.maxBytes, partial: partial, file: file)
        do {
            return .image(try await stage(answer, as: body, length: whole.length), whole.response)
        } catch is ImageRejection {
            throw NotTheRest()
        }
    }

    /// Refuses a body by what its head says of it, or because there is no room for it.
    private func check(_ headers: HTTPHeaders) async throws {
        let codings = headers[canonicalForm: "Content-Encoding"]
        if let coding = codings.first(where: { $0.lowercased() != "identity" }) {
            throw FetchFailure.encoded(String(coding))
        }
        guard let length = headers.first(name: "Content-Length").flatMap({ Int($0) }) else { return }
        guard length <= settings.fetch.maxBytes.bytes else {
            throw FetchFailure.tooLarge(limit: settings.fetch.maxBytes)
        }
        try await staging.checkRoom(for: length)
    }

    /// Reads a body to its end; the image must have that many bytes, those of earlier attempts included.
    private func stage(_ answer: Answer, as body: IncomingBody, length: Int? = nil) async throws -> StagedImage {
        var body = body
        do {
            for try await buffer in answer.response.body { try await body.append(buffer) }
            try Task.checkCancellation()
            guard length == nil || length == body.count else { throw NotTheRest() }
            return try await body.finish(inspector)
        } catch {
            await body.end(after: error, now: clock.now)
            let announced = answer.response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            throw Shortage(error, of: max(announced, body.count)) ?? error
        }
    }
}

/// What was asked for as the rest of an image is none: the whole image is to be asked for.
private struct NotTheRest: Error {}

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
