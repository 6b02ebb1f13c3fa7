// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules
import ImageChecks
import SyncPlan
import Synchronization
package import Transfers

/// All downloads, on one thread: from a request to an image that waits to be published.
///
/// A download crosses to another thread only for what may take long: a name that was not resolved of late, and a file.
/// The thread ends with ``shutdown()``.
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

    private enum Command: Sendable {
        case begin([FetchRequest])
        case cancel(IconURL)
        case configure(Settings, ProxyPolicy)
    }

    private nonisolated let thread = TransferThread()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    /// What was asked for since the last turn, in order.
    private nonisolated let commands = Mutex<[Command]>([])

    private(set) var settings: Settings
    private(set) var rules: Download.Rules
    private(set) var proxies: ProxyPolicy
    private(set) var resolver: Resolver
    let staging: Staging
    let clock: AgentClock
    private(set) var inspector: ImageInspector
    let metrics: AgentMetrics
    private let idleTime: Duration
    private let report: @Sendable ([End]) -> Void

    let transport: any Transport
    private let nextTurn = TurnRequests()
    var http1Origins = HTTP1Origins()
    private(set) var active: [IconURL: ActiveDownload] = [:]
    /// The documents of upstreams that are under way.
    var documents: [ObjectIdentifier: DocumentTransfer] = [:]
    private var ended: [End] = []
    /// When the limits on time are looked at again; `nil` if they apply to nothing.
    var nextCheck: ContinuousClock.Instant?
    /// When the connections are closed if there is no request before.
    private var closing: ContinuousClock.Instant?
    /// Whether nothing begins any more.
    private(set) var isShutDown = false
    /// Waits until nothing is under way.
    private var shutdownWaiter: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - proxies: Which requests go through a proxy.
    ///   - transport: What sends the requests; `nil` for libcurl.
    ///   - staging: Where images wait to be published.
    ///   - clock: What tells the time of requests and answers.
    ///   - idleTime: How long connections are kept that nothing is asked over. The default is 60 s.
    ///   - metrics: Where downloads are counted.
    ///   - report: Gets what has ended, several at a time.
    package init(
        settings: Settings, proxies: ProxyPolicy = ProxyPolicy(), transport: sending (any Transport)? = nil,
        staging: Staging, clock: AgentClock, idleTime: Duration = .seconds(60), metrics: AgentMetrics = AgentMetrics(),
        report: @escaping @Sendable ([End]) -> Void
    ) {
        self.settings = settings
        self.proxies = proxies
        self.transport = transport ?? CurlMulti(CurlMulti.Options(settings.fetch, isProxied: !proxies.proxies.isEmpty))
        self.staging = staging
        self.clock = clock
        self.idleTime = idleTime
        self.metrics = metrics
        self.report = report
        rules = Download.Rules(settings)
        resolver = Resolver(policy: settings.network)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        thread.start { self.assumeIsolated { $0.turn() } }
    }

    // MARK: Begin and end

    /// Begins downloads, each of another URL than those under way.
    package nonisolated func begin(_ requests: [FetchRequest]) {
        post(.begin(requests))
    }

    /// Gives a download up; it ends as ``FetchOutcome/cancelled``.
    package nonisolated func cancel(_ url: IconURL) {
        post(.cancel(url))
    }

    /// Goes on with other settings: downloads that begin from now on follow them.
    package nonisolated func configure(_ settings: Settings, _ proxies: ProxyPolicy) {
        post(.configure(settings, proxies))
    }

    private nonisolated func post(_ command: Command) {
        commands.withLock { $0.append(command) }
        thread.ring()
    }

    /// Gives up what is under way, closes all connections and ends the thread; what begins later has no end.
    package func shutdown() async {
        isShutDown = true
        for download in active.values { giveUp(download, because: CancellationError()) }
        for document in documents.values { giveUp(document, because: CancellationError()) }
        await withCheckedContinuation { shutdownWaiter = $0 }
        transport.closeConnections()
        thread.stop()
    }

    private func take(_ command: Command) {
        switch command {
        case .begin(let requests):
            for request in requests {
                precondition(active[request.url] == nil, "one download at a time for a URL")
                let download = ActiveDownload(request, settings, clock: clock, turn: nextTurn)
                active[request.url] = download
                check(by: download.deadline)
                if !beginAtOnce(download) { Task { await begin(download) } }
            }
        case .cancel(let url): if let download = active[url] { giveUp(download, because: CancellationError()) }
        case .configure(let settings, let proxies): take(settings, proxies)
        }
    }

    private func take(_ settings: Settings, _ proxies: ProxyPolicy) {
        // What was resolved was judged by the networks that were allowed.
        if settings.network != self.settings.network { resolver = Resolver(policy: settings.network) }
        self.settings = settings
        self.proxies = proxies
        rules = Download.Rules(settings)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        let options = CurlMulti.Options(settings.fetch, isProxied: !proxies.proxies.isEmpty)
        (transport as? CurlMulti)?.configure(options)
    }

    /// Ends a download before its time, and what has come of its body.
    func giveUp(_ download: ActiveDownload, because error: any Error) {
        stop(download)
        if download.givenUp == nil { download.givenUp = error }
        guard download.isStreamed else { return end(download, because: error) }
        download.endBody(.failure(error))
    }

    /// Ends the transfer of a download.
    func stop(_ download: ActiveDownload) {
        if let transfer = download.transfer { transport.cancel(transfer) }
        download.transfer = nil
    }

    func end(_ download: ActiveDownload, because error: any Error) {
        end(download, FetchOutcome(error))
    }

    func end(_ download: ActiveDownload, _ outcome: FetchOutcome) {
        // An error that a function brought from another actor came here on that one's thread (Swift 6.3, optimized).
        preconditionIsolated("a download ends on the thread of the downloads")
        guard !download.hasEnded else { return }
        download.hasEnded = true
        active[download.url] = nil
        let (trail, isMultiplexed) = (download.steps?.trail, download.steps?.isMultiplexed)
        ended.append(End(url: download.url, outcome: outcome, trail: trail, isMultiplexed: isMultiplexed))
        metrics.noteDownload(
            outcome, of: download.request, by: trail, isMultiplexed: isMultiplexed, bytes: download.received,
            in: .now - download.begun)
        if let copy = download.request.copy {
            metrics.noteUpstream(
                place(of: copy.folder), .icon, MetricLabel.UpstreamResult(outcome), bytes: download.received)
        }
    }

    /// The place of an upstream in the settings.
    func place(of folder: FetchTarget) -> Int? { settings.upstream.urls.firstIndex { $0.folder == folder } }

    // MARK: Go on

    /// Takes what was asked for, lets all transfers go on, does what follows, and waits until there is more to do.
    private func turn() {
        for command in commands.withLock({ commands in
            defer { commands = [] }
            return commands
        }) {
            take(command)
        }
        for (transfer, failure) in transport.perform() {
            if let document = transfer.receiver as? DocumentTransfer { end(document, failure) }
            guard let download = transfer.receiver as? ActiveDownload, download.transfer === transfer else { continue }
            download.transfer = nil
            if let failure { note(failure, of: transfer, download) }
            if let failure, isStale(transfer, failure, download) {
                download.hasRetried = true
                Task { await askAgain(download) }
            } else {
                goOn(with: download, after: failure)
            }
        }
        for download in nextTurn.streams { Task { await stream(download) } }
        nextTurn.streams = []
        if let time = nextTurn.check { check(by: time) }
        nextTurn.check = nil
        let now = ContinuousClock.now
        if let nextCheck, nextCheck <= now { checkTimes(now) }
        if !ended.isEmpty {
            report(ended)
            ended = []
        }
        if active.isEmpty, documents.isEmpty, transport.isIdle {
            shutdownWaiter?.resume()
            shutdownWaiter = nil
        }
        closeUnused(now)
        let due = [nextCheck, closing].compactMap(\.self).min()
        transport.wait(for: thread.bell, atMost: due.map { now.duration(to: $0) })
    }

    /// Closes the connections when nothing was asked for a while.
    private func closeUnused(_ now: ContinuousClock.Instant) {
        if !transport.isIdle {
            closing = nil
        } else if let closing, closing <= now {
            transport.closeConnections()
            self.closing = nil
        } else if closing == nil, transport.hasConnections {
            closing = now + idleTime
        }
    }

    /// Goes on when a transfer has ended.
    func goOn(with download: ActiveDownload, after failure: (any Error)?) {
        switch download.step {
        case .ask, .discardPartial: Task { await askAgain(download) }
        case .end(let outcome): end(download, outcome)
        case .take(let body):
            download.endBody(failure.map { .failure($0) } ?? .success(()))
            guard !download.isStreamed else { return }
            if case .failure(let error) = download.bodyEnd { return end(download, because: error) }
            finish(download, body)
        case nil:
            if let refusal = failure as? AddressPolicy.Refusal, let host = download.steps?.target.host {
                end(download, because: FetchFailure.address(refusal, of: host))
            } else {
                end(download, because: failure ?? FetchFailure.protocolViolation("a response without a head"))
            }
        }
    }

    /// Whether a request may go out once more at once: it went over a connection that was kept, and nothing came of it.
    private func isStale(_ transfer: any Transfer, _ failure: any Error, _ download: ActiveDownload) -> Bool {
        download.step == nil && !download.hasRetried && transfer.mayBeStale
            && (failure as? FetchFailure)?.code == .fetch(.connectionClosed)
    }

    /// Has an origin asked by HTTP/1.1 the next time if nothing at all came over a new connection to it; or by HTTP/2
    /// again, if HTTP/1.1 is not better.
    func note(_ failure: any Error, of transfer: any Transfer, _ download: ActiveDownload) {
        guard let target = download.steps?.target, target.isSecure, !transfer.isAnswered,
            case .fetch(let cause)? = (failure as? FetchFailure)?.code,
            [.timeout, .connectionClosed, .protocolViolation].contains(cause)
        else { return }
        if http1Origins.contains(target.origin) {
            http1Origins.remove(target.origin)
        } else {
            http1Origins.insert(target.origin)
        }
    }
}
