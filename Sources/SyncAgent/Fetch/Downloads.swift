// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import SyncPlan
import SystemPackage
import Transfers

/// All downloads, on one thread: from a request to an image that waits to be published.
///
/// A download crosses to another thread only for what may take long: a name that was not resolved of late, and a file.
package actor Downloads {
    /// How a download ended.
    package struct End: Sendable {
        package var url: IconURL
        package var outcome: FetchOutcome
        /// The way there, if it was not straight.
        package var trail: FetchTrail?
        /// Whether every answer came over HTTP/2; `nil` if there was none.
        package var isMultiplexed: Bool?
    }

    private nonisolated let thread = TransferThread()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let settings: Settings
    private let rules: Download.Rules
    private let proxies: ProxyPolicy
    private let resolver: Resolver
    let staging: Staging
    let clock: AgentClock
    let inspector: ImageInspector
    private let idleTime: Duration
    private let report: @Sendable ([End]) -> Void

    let curl: CurlMulti
    private let streams = NewStreams()
    private var active: [IconURL: ActiveDownload] = [:]
    private var ended: [End] = []
    /// When the limits on time are looked at again; `nil` if they apply to nothing.
    private var nextCheck: ContinuousClock.Instant?
    /// When the connections are closed if there is no request before.
    private var closing: ContinuousClock.Instant?

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - proxies: Which requests go through a proxy.
    ///   - staging: Where images wait to be published.
    ///   - clock: What tells the time of requests and answers.
    ///   - idleTime: How long connections are kept that nothing is asked over. The default is 60 s.
    ///   - report: Gets what has ended, several at a time.
    package init(
        settings: Settings, proxies: ProxyPolicy = ProxyPolicy(), staging: Staging, clock: AgentClock,
        idleTime: Duration = .seconds(60), report: @escaping @Sendable ([End]) -> Void
    ) {
        self.settings = settings
        self.proxies = proxies
        self.staging = staging
        self.clock = clock
        self.idleTime = idleTime
        self.report = report
        rules = Download.Rules(settings)
        resolver = Resolver(policy: NetworkPolicy(settings.network))
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        var options = CurlMulti.Options()
        options.userAgent = settings.fetch.userAgent
        options.caFile = settings.fetch.caFile
        options.connectTimeout = settings.fetch.connectTimeout
        options.connections = 2 * settings.fetch.concurrency
        curl = CurlMulti(options)
        thread.start { [weak self] in self?.assumeIsolated { $0.turn() } }
    }

    deinit {
        thread.stop()
    }

    // MARK: Begin and end

    /// Begins downloads, each of another URL than those under way.
    package func begin(_ requests: [FetchRequest]) {
        for request in requests { Task { await begin(request) } }
    }

    private func begin(_ request: FetchRequest) async {
        precondition(active[request.url] == nil, "one download at a time for a URL")
        let download = ActiveDownload(request, limits: settings.fetch, clock: clock, streams: streams)
        active[request.url] = download
        check(by: download.deadline)
        do {
            switch request.source {
            case .server(let target):
                try await staging.checkRoom(for: nil)
                var partial = request.mayResume ? await staging.partial(of: request.url) : nil
                if let found = partial, !found.canGoOn(at: clock.now) {
                    await staging.discardPartials(of: [request.url])
                    partial = nil
                }
                download.steps = try Download(request, at: target, from: partial, rules: rules)
                try await ask(download)
            case .inline(let url):
                let (bytes, info) = try url.image(upTo: settings.fetch.maxBytes, inspector)
                let now = clock.now
                let response = StoredResponse(fields: HTTPFields([]), requestTime: now, responseTime: now)
                try await keep(bytes, AppListDocument.Image(of: bytes, info), response, of: download)
            }
        } catch {
            end(download, because: error)
        }
    }

    /// Sends the next request of a download.
    private func ask(_ download: ActiveDownload) async throws {
        guard let target = download.steps?.target else { preconditionFailure("an image that is there is not asked for") }
        let proxy = proxies.proxy(for: target)
        download.steps?.begin(through: proxy)
        let route = try await resolver.route(to: target, through: proxy)
        guard !download.hasEnded else { return }
        download.restart()
        let fields = download.steps?.fields(allowedBy: route.setting, now: clock.now) ?? []
        closing = nil
        download.transfer = curl.begin(
            TransferRequest(url: target.url, fields: fields, proxy: proxy, route: route), download)
        check(by: .now + min(settings.fetch.idleTimeout, settings.fetch.connectTimeout))
    }

    /// Sends the next request of a download, whose last answer called for one.
    func askAgain(_ download: ActiveDownload) async {
        do {
            if case .discardPartial = download.step { await staging.discardPartials(of: [download.url]) }
            guard !download.hasEnded else { return }
            try await ask(download)
        } catch {
            end(download, because: error)
        }
    }

    /// Gives a download up; it ends as ``FetchOutcome/cancelled``.
    package func cancel(_ url: IconURL) {
        if let download = active[url] { giveUp(download, because: CancellationError()) }
    }

    /// Ends a download before its time, and what has come of its body.
    private func giveUp(_ download: ActiveDownload, because error: any Error) {
        stop(download)
        guard download.isStreamed else { return end(download, because: error) }
        download.endBody(.failure(error))
    }

    /// Ends the transfer of a download.
    func stop(_ download: ActiveDownload) {
        if let transfer = download.transfer { curl.cancel(transfer) }
        download.transfer = nil
    }

    func end(_ download: ActiveDownload, because error: any Error) {
        end(download, FetchOutcome(error))
    }

    func end(_ download: ActiveDownload, _ outcome: FetchOutcome) {
        guard !download.hasEnded else { return }
        download.hasEnded = true
        active[download.url] = nil
        ended.append(
            End(
                url: download.url, outcome: outcome, trail: download.steps?.trail,
                isMultiplexed: download.steps?.isMultiplexed))
    }

    /// Ends the thread; what is under way is given up, and reported as such.
    package func shutdown() {
        for download in active.values { giveUp(download, because: CancellationError()) }
        thread.stop()
    }

    // MARK: Go on

    /// Lets all transfers go on, does what follows, and waits until there is more to do.
    private func turn() {
        for (transfer, failure) in curl.perform() {
            guard let download = transfer.receiver as? ActiveDownload, download.transfer === transfer else { continue }
            download.transfer = nil
            goOn(with: download, after: failure)
        }
        for download in streams.downloads { Task { await stream(download) } }
        streams.downloads = []
        let now = ContinuousClock.now
        if let nextCheck, nextCheck <= now { checkTimes(now) }
        if !ended.isEmpty {
            report(ended)
            ended = []
        }
        if !curl.isIdle {
            closing = nil
        } else if let closing, closing <= now {
            curl.closeConnections()
            self.closing = nil
        } else if closing == nil, curl.hasConnections {
            closing = now + idleTime
        }
        let due = [nextCheck, closing].compactMap(\.self).min()
        curl.wait(for: thread.bell, atMost: due.map { now.duration(to: $0) })
    }

    /// Goes on when a transfer has ended.
    private func goOn(with download: ActiveDownload, after failure: (any Error)?) {
        switch download.step {
        case .ask, .discardPartial: Task { await askAgain(download) }
        case .end(let outcome): end(download, outcome)
        case .take(let body):
            download.endBody(failure.map { .failure($0) } ?? .success(()))
            guard !download.isStreamed else { return }
            if case .failure(let error) = download.bodyEnd { return end(download, because: error) }
            Task { await finish(download, body) }
        case nil:
            if let refusal = failure as? AddressPolicy.Refusal, let host = download.steps?.target.host {
                end(download, because: FetchFailure.address(refusal, of: host))
            } else {
                end(download, because: failure ?? FetchFailure.protocolViolation("an answer without a head"))
            }
        }
    }

    // MARK: Time

    private func check(by time: ContinuousClock.Instant) {
        nextCheck = nextCheck.map { min($0, time) } ?? time
    }

    /// Ends what takes too long.
    private func checkTimes(_ now: ContinuousClock.Instant) {
        nextCheck = nil
        for download in active.values {
            if download.deadline <= now {
                giveUp(download, because: FetchFailure.timeout("fetch.totalTimeout"))
                continue
            }
            var due = download.deadline
            if let transfer = download.transfer {
                if let end = download.drainEnd {
                    if end <= now {
                        stop(download)
                        goOn(with: download, after: nil)
                        continue
                    }
                    due = min(due, end)
                }
                let idleEnd = idleEnd(of: transfer, download, now)
                if idleEnd <= now {
                    if let connection = transfer.connection { curl.breakOff(connection) }
                    giveUp(download, because: FetchFailure.timeout("fetch.idleTimeout to go on"))
                    continue
                }
                due = min(due, idleEnd)
            }
            check(by: due)
        }
    }

    /// When a transfer has been silent for too long; while it connects, another limit counts.
    private func idleEnd(
        of transfer: Transfer, _ download: ActiveDownload, _ now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        guard !transfer.isPaused else { return now + settings.fetch.idleTimeout }
        if let last = transfer.lastActivity { return last + settings.fetch.idleTimeout }
        guard let sent = transfer.sentAfter else { return now + settings.fetch.idleTimeout }
        return download.begun + sent + settings.fetch.idleTimeout
    }
}

extension FetchOutcome {
    /// How a download ends because of an error.
    fileprivate init(_ error: any Error) {
        switch error {
        case let failure as FetchFailure: self = .failed(failure)
        case let rejection as ImageRejection: self = .failed(.image(rejection))
        case let shortage as Shortage: self = .noRoom(shortage)
        case is CancellationError: self = .cancelled
        case let error as Errno where Shortage(error) == nil:
            self = .failed(FetchFailure("connect", "no connection (\(error))", .passing))
        default:
            if let shortage = ((error as? FileError)?.errno ?? error as? Errno).flatMap({ Shortage($0) }) {
                self = .noRoom(shortage)
            } else {
                self = .failed(FetchFailure("disk", "\(error)", .passing))
            }
        }
    }
}
