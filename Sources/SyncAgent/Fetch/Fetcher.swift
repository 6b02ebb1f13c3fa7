// SPDX-License-Identifier: Apache-2.0
import IconCache
import NIOCore
import NIOHTTP1
package import SyncPlan

/// One download from its request to an image in `staging/`: redirects, limits, digest, inspection; and where it was cut
/// before, only of the rest.
package struct Fetcher: Sendable {
    private let transport: any Transport
    let staging: Staging
    private let policy: NetworkPolicy
    private let resolver: Resolver
    let settings: Settings
    let clock: AgentClock
    let inspector: ImageInspector
    private let deadlines: Deadlines

    package init(transport: any Transport, staging: Staging, settings: Settings, clock: AgentClock) {
        self.transport = transport
        self.staging = staging
        self.settings = settings
        self.clock = clock
        policy = NetworkPolicy(settings.network)
        resolver = Resolver(policy: policy)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        deadlines = Deadlines(limit: settings.fetch.totalTimeout)
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
            return try await deadlines.run {
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
            if let shortage = (error as? FileError).flatMap({ Shortage($0.errno) }) { return .noRoom(shortage) }
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
        do {
            return try await download(request, at: start, from: nil, recorder)
        } catch is UnaskedNotModified where request.condition != nil {
            var unconditional = request
            unconditional.condition = nil
            return try await download(unconditional, at: start, from: nil, recorder)
        }
    }

    private func download(
        _ request: FetchRequest, at start: FetchTarget, from partial: PartialDownload?, _ recorder: TrailRecorder
    ) async throws -> FetchOutcome {
        let answer = try await answer(to: request, at: start, from: partial, recorder)
        let asked = partial.flatMap { $0.canGoOn(at: answer.target) ? $0 : nil }
        switch (answer.stored.status, asked) {
        case (200, _): return try await whole(answer, of: request)
        case (206, let partial?): return try await rest(answer, of: partial)
        case (416, .some): throw NotTheRest()
        case (304, _) where request.condition?.applies(to: answer.target) == true: return .notModified(answer.stored)
        case (304, _) where request.condition != nil: throw UnaskedNotModified()
        default:
            let delay = RetryAfter(answer.fields, receivedAt: answer.stored.responseTime)?.delay
            var failure = FetchFailure.status(answer.stored.status, retryAfter: delay)
            if answer.target.origin != start.origin { failure.origin = answer.target.origin }
            throw failure
        }
    }

    // MARK: Requests

    struct Answer {
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
            var headers = headers(for: request, at: chain.target)
            if let partial, partial.canGoOn(at: chain.target) { headers.add(contentsOf: partial.requestFields) }
            let response = try await transport.get(chain.target, headers: headers)
            recorder.update { $0.status = response.status }
            isMultiplexed = isMultiplexed && response.isMultiplexed
            guard RedirectChain.statuses.contains(response.status) else {
                recorder.end(isMultiplexed: isMultiplexed)
                let fields = HTTPFields(response.headers.map { (name: $0.name, value: $0.value) })
                let stored = StoredResponse(
                    status: response.status, url: chain.target.url, fields: fields, requestTime: sent,
                    responseTime: clock.now)
                return Answer(target: chain.target, response: response, fields: fields, stored: stored)
            }
            let locations = Set(response.headers["Location"])
            guard locations.count <= 1 else {
                throw FetchFailure("bad-redirect", "the server redirects to several places at once", .lasting)
            }
            try chain.follow(locations.first)
        }
    }

    private func headers(for request: FetchRequest, at target: FetchTarget) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "User-Agent": settings.fetch.userAgent, "Accept": "image/*,*/*;q=0.1", "Accept-Encoding": "identity",
        ]
        if let condition = request.condition, condition.applies(to: target) {
            let validators = condition.validators
            if let etag = validators.etag { headers.add(name: "If-None-Match", value: etag) }
            if let date = validators.lastModified { headers.add(name: "If-Modified-Since", value: date) }
        }
        return headers
    }
}

/// A `304` from a URL that was asked without conditions: it is about something that another one had.
private struct UnaskedNotModified: Error {}
