// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules
import ImageChecks
package import Transfers

/// All downloads, on one thread: from a request to an image that waits for publication.
///
/// Only slow work goes to other threads: name lookups that are not cached, and files. The thread ends with
/// ``shutdown()``.
package actor Downloads {
    /// How long an origin is limited to HTTP/1.1.
    private static let http1Time: Duration = .seconds(3600)

    private nonisolated let thread = TransferThread()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// How many reads of an upstream's files may hang until others fail at once.
    static let hangingReads = 4

    private(set) var settings: Settings
    private(set) var rules: Download.Rules
    private(set) var proxies: ProxyPolicy
    private(set) var resolver: Resolver
    let staging: Staging
    let clock: AgentClock
    private(set) var inspector: ImageInspector
    let metrics: AgentMetrics
    var readFile: FileTransfer.Reader = FileTransfer.read
    /// How long unused connections are kept.
    private let idleTime: Duration
    /// Called with the downloads that have ended, several at a time.
    private let report: @Sendable ([EndedDownload]) -> Void

    let transport: any Transport
    let nextTurn = TurnRequests()
    /// Secure origins that are limited to HTTP/1.1 for a while, because HTTP/2 failed, and since when.
    private var http1Origins = ExpiringTable<String, ContinuousClock.Instant>()
    private(set) var active: [IconURL: ActiveDownload] = [:]
    var documents: [ObjectIdentifier: DocumentTransfer] = [:]
    /// The reads of files that have not returned, by their `file://` upstream.
    var fileReads: [UpstreamURL?: [FileTransfer]] = [:]
    private var ended: [EndedDownload] = []
    /// When timeouts are checked next; `nil` if none applies.
    var nextCheck: ContinuousClock.Instant?
    var sleep = SleepMeter()
    /// When the system last woke from sleep, or the start.
    var woke = ContinuousClock.now
    /// When idle connections are closed.
    private var closing: ContinuousClock.Instant?
    /// The work that waits for files or name lookups.
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var lastTask = 0
    private(set) var isShutDown = false
    private var shutdownWaiter: CheckedContinuation<Void, Never>?

    package init(
        settings: Settings, proxies: ProxyPolicy = ProxyPolicy(), transport: sending (any Transport)? = nil,
        staging: Staging, clock: AgentClock, idleTime: Duration = .seconds(60), metrics: AgentMetrics = AgentMetrics(),
        report: @escaping @Sendable ([EndedDownload]) -> Void
    ) {
        self.settings = settings
        self.proxies = proxies
        self.transport = transport ?? CurlMulti(TransferOptions(settings, isProxied: !proxies.proxies.isEmpty))
        self.staging = staging
        self.clock = clock
        self.idleTime = idleTime
        self.metrics = metrics
        self.report = report
        rules = Download.Rules(settings)
        resolver = Resolver(policy: settings.network)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        nextTurn.setRate(settings.fetch.maxRate)
        thread.start { self.assumeIsolated { $0.turn() } }
    }

    // MARK: Start and end

    /// Starts downloads; their URLs must differ from those in flight.
    package nonisolated func begin(_ requests: [FetchRequest]) {
        perform { downloads in for request in requests { downloads.add(request) } }
    }

    /// Cancels a download; it ends as ``FetchOutcome/cancelled``.
    package nonisolated func cancel(_ url: IconURL) {
        perform { downloads in
            if let download = downloads.active[url] { downloads.giveUp(download, because: CancellationError()) }
        }
    }

    /// Applies new settings to downloads that start from now on.
    package nonisolated func configure(_ settings: Settings, _ proxies: ProxyPolicy) {
        perform { $0.apply(settings, proxies) }
    }

    /// Queues work for the thread of the downloads.
    private nonisolated func perform(_ work: @escaping @Sendable (isolated Downloads) -> Void) {
        thread.run { self.assumeIsolated(work) }
    }

    /// Cancels all work, closes all connections and ends the thread; downloads started later never end.
    package func shutdown() async {
        isShutDown = true
        for download in active.values { giveUp(download, because: CancellationError()) }
        for document in documents.values { giveUp(document, because: CancellationError()) }
        for task in tasks.values { task.cancel() }
        await withCheckedContinuation { shutdownWaiter = $0 }
        transport.closeConnections()
        thread.stop()
    }

    /// Starts work on the thread of the downloads; ``shutdown()`` cancels it and waits for its end.
    func start(_ work: @escaping () async -> Void) {
        lastTask += 1
        let number = lastTask
        tasks[number] = Task {
            await work()
            tasks[number] = nil
        }
    }

    private func add(_ request: FetchRequest) {
        precondition(active[request.url] == nil, "one download at a time for a URL")
        noticeSleep()
        let download = ActiveDownload(request, settings, clock: clock, turn: nextTurn)
        active[request.url] = download
        check(by: download.deadline.time(at: .now, of: nil))
        if !beginAtOnce(download) { start { await self.begin(download) } }
    }

    private func apply(_ settings: Settings, _ proxies: ProxyPolicy) {
        // Cached routes were judged by the old allowed networks.
        if settings.network != self.settings.network { resolver = Resolver(policy: settings.network) }
        self.settings = settings
        self.proxies = proxies
        rules = Download.Rules(settings)
        inspector = ImageInspector(limits: ImageLimits(settings.images))
        nextTurn.setRate(settings.fetch.maxRate)
        transport.configure(TransferOptions(settings, isProxied: !proxies.proxies.isEmpty))
    }

    func giveUp(_ download: ActiveDownload, because error: any Error) {
        stop(download)
        if download.givenUp == nil { download.givenUp = error }
        if download.isStreamed { download.endBody(.failure(error)) } else { cut(download, because: error) }
    }

    /// Ends a download whose body is in memory; keeps what is worth a file.
    private func cut(_ download: ActiveDownload, because error: any Error) {
        guard download.leavesPart(after: error) else { return end(download, because: error) }
        download.leavePart(after: error)
        start { await self.stream(download) }
    }

    func stop(_ download: ActiveDownload) {
        download.transfer?.cancel()
        download.transfer = nil
    }

    func end(_ download: ActiveDownload, because error: any Error) { end(download, FetchOutcome(error)) }

    func end(_ download: ActiveDownload, _ outcome: FetchOutcome) {
        // With Swift 6.3, optimized, an error thrown by another actor's function resumed here on that actor's thread.
        preconditionIsolated("a download ends on the thread of the downloads")
        guard !download.hasEnded else { return }
        download.hasEnded = true
        var outcome = outcome
        if case .failed(var failure) = outcome {
            failure.cut = download.cut(by: failure)
            outcome = .failed(failure)
        }
        download.forgetHeld()
        active[download.url] = nil
        let end = EndedDownload(
            url: download.url, outcome, trail: download.steps?.trail, isMultiplexed: download.steps?.isMultiplexed)
        ended.append(end)
        guard download.request.shared == nil else { return }
        metrics.recordDownload(end, of: download.request, bytes: download.received, in: .now - download.begun)
        if let copy = download.request.copy {
            metrics.recordUpstream(
                place(of: copy.folder), .icon, MetricLabel.UpstreamResult(outcome), bytes: download.received)
        }
    }

    func place(of folder: FetchTarget) -> Int? { settings.upstream.urls.firstIndex { $0.folder == folder } }

    // MARK: Turns

    /// Advances all transfers, acts on the results, and waits until there is more to do.
    private func turn() {
        // Before waits end, which lasted as long, and again before times are checked.
        noticeSleep()
        nextTurn.resumeWaiting(at: .now)
        transport.perform()
        noticeSleep()
        for (download, failure) in nextTurn.ended {
            guard let transfer = download.transfer else { continue }
            download.transfer = nil
            if let failure { switchVersion(after: failure, of: transfer, download) }
            if let failure, isStale(transfer, failure, download) {
                download.hasRetried = true
                start { await self.askAgain(download) }
            } else {
                goOn(with: download, after: failure)
            }
        }
        for download in nextTurn.streams { start { await self.stream(download) } }
        if let time = nextTurn.check { check(by: time) }
        nextTurn.reset()
        let now = ContinuousClock.now
        if let nextCheck, nextCheck <= now { checkTimes(now) }
        if !ended.isEmpty {
            report(ended)
            ended = []
        }
        if active.isEmpty, documents.isEmpty, tasks.isEmpty, transport.isIdle {
            shutdownWaiter?.resume()
            shutdownWaiter = nil
        }
        closeUnused(now)
        let due = [nextCheck, closing, nextTurn.opening].compactMap(\.self).min()
        transport.wait(for: thread.bell, atMost: due.map { now.duration(to: $0) })
    }

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

    func goOn(with download: ActiveDownload, after failure: (any Error)?) {
        switch download.step {
        case .ask, .discardPartial: start { await self.askAgain(download) }
        case .end(let outcome): end(download, outcome)
        case .take(let body):
            download.endBody(failure.map { .failure($0) } ?? .success(()))
            guard !download.isStreamed else { return }
            if case .failure(let error) = download.bodyEnd { return cut(download, because: error) }
            finish(download, body)
        case nil:
            if let refusal = failure as? AddressPolicy.Refusal, let host = download.steps?.target.host {
                end(download, because: Self.refused(.address(refusal, of: host), download))
            } else if let failure = failure as? FetchFailure, let refusal = download.refusal,
                let host = download.steps?.target.host
            {
                end(download, because: failure.leavingOut(refusal, of: host))
            } else {
                let failure = failure ?? FetchFailure.protocolViolation("a response without a head")
                if download.isUnreadableRest(failure), download.askForWhole() {
                    start { await self.askAgain(download) }
                } else {
                    end(download, because: failure)
                }
            }
        }
    }

    /// Whether to repeat a request at once: it used a kept connection, and no response came.
    private func isStale(_ transfer: any Transfer, _ failure: any Error, _ download: ActiveDownload) -> Bool {
        download.step == nil && !download.hasRetried && transfer.mayBeStale
            && (failure as? FetchFailure)?.code == .fetch(.connectionClosed)
    }

    /// Since when an origin is limited to HTTP/1.1; `nil` if it is not.
    func http1Start(of target: FetchTarget) -> ContinuousClock.Instant? {
        guard http1Origins.count > 0, target.isSecure else { return nil }
        return http1Origins.value(of: target.origin, at: .now)?.value
    }

    /// Switches an origin to HTTP/1.1 for the next requests if a new connection to it brought nothing at all.
    ///
    /// If HTTP/1.1 fails as well, switches back to HTTP/2; a server that speaks HTTP/2 alone refuses the TLS connection.
    /// Requests that fail together switch once: the limit under which a request was sent counts, not the present one.
    func switchVersion(after failure: any Error, of transfer: any Transfer, _ download: ActiveDownload) {
        guard let target = download.steps?.target, target.isSecure, !transfer.isAnswered,
            case .fetch(let cause)? = (failure as? FetchFailure)?.code
        else { return }
        let (used, known) = (download.http1Start, http1Start(of: target))
        guard [.timeout, .connectionClosed, .protocolViolation].contains(cause) || used != nil && cause == .tls,
            used == known
        else { return }
        if known != nil {
            http1Origins.remove(target.origin)
        } else {
            let now = ContinuousClock.now
            http1Origins.insert(now, for: target.origin, until: now + Self.http1Time, at: now)
        }
    }
}
