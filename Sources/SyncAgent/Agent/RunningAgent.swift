// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
import Glibc
package import Reports
package import SyncPlan
import Synchronization
package import SystemPackage

/// The running agent as its servers see it: what they may ask and do.
///
/// An answer is `nil` when the agent is about to end.
package struct RunningAgent: Sendable {
    /// How long an answer may wait for its work; clients wait a little longer.
    private static let patience: Duration = .seconds(8)

    let loop: AgentLoop
    let lists: ListService
    let scrubber: Scrubber
    let latestSettings: LatestSettings
    package let counts: AgentMetrics
    /// Measures the file system of the cache.
    let space: @Sendable () -> DiskSpace.Amount?
    private let damagedState: @Sendable () -> FilePath?
    /// Why readers' leases may be invisible; `nil` if all are visible.
    private let leaseDoubt: @Sendable () -> LeaseDoubt?
    package let listeners = Listeners()
    /// Writes the metrics to a file; `nil` if the settings name none.
    var textfile: MetricsTextfile?
    let reloads: ReloadRequests
    private let listening = Milestone()
    private let probe: Probe

    package init(
        loop: AgentLoop, lists: ListService, scrubber: Scrubber, settings: LatestSettings,
        reloads: ReloadRequests = ReloadRequests(), counts: AgentMetrics = AgentMetrics(),
        space: @escaping @Sendable () -> DiskSpace.Amount? = { nil }, textfile: MetricsTextfile? = nil,
        damagedState: @escaping @Sendable () -> FilePath? = { nil },
        leaseDoubt: @escaping @Sendable () -> LeaseDoubt? = { nil }
    ) {
        latestSettings = settings
        self.reloads = reloads
        self.counts = counts
        self.space = space
        self.textfile = textfile
        self.damagedState = damagedState
        self.leaseDoubt = leaseDoubt
        self.loop = loop
        probe = Probe(loop.probe)
        self.lists = lists
        self.scrubber = scrubber
    }

    // MARK: Readiness

    package func recordListening() { listening.reach() }

    /// Returns when the whole lists folder was scanned once and clients can connect, or when the task is cancelled.
    func waitUntilReady() async {
        await lists.firstScan.wait()
        await listening.wait()
    }

    /// Whether the first complete scan of the lists folder is still to come.
    var isStarting: Bool { !lists.firstScan.isReached }

    /// Waits until the loop ends or the time is over, and returns whether it has ended.
    func hasEnded(within limit: Duration) async -> Bool {
        await wait(atMost: limit) { [loop] in for await _ in loop.changes {} }
        return loop.feed.newest == nil
    }

    // MARK: Questions

    /// Whether the cache may have icons that not everyone may see.
    package var hasPrivateIcons: Bool { loop.hasPrivateIcons.load(ordering: .relaxed) }

    package var now: Timestamp { loop.now }

    /// Puts a question to the plan.
    package func ask<Answer: Sendable>(_ question: @escaping @Sendable (Reconciler) -> Answer) async -> Answer? {
        await loop.ask(question)
    }

    /// Whether the loop answers within a time; it does not if it hangs.
    package func isResponding(within limit: Duration) async -> Bool {
        await probe.isAnswered(within: limit)
    }

    /// An element at once, and one whenever the status may have changed; ends with the agent.
    ///
    /// Elements that are not taken merge into one.
    package var changes: ChangeFeed.Changes { loop.changes }

    package func status() async -> StatusReport? {
        guard var report = await loop.status() else { return nil }
        report.pid = Int(getpid())
        report.storage = StatusReport.Storage(
            error: loop.storageTrouble.withLock(\.self), damaged: damagedState()?.string,
            events: loop.journal?.failure)
        let watch = lists.watch
        report.watch.mode = Word(watch.mode)
        (report.watch.reason, report.watch.overflows) = (watch.reason, watch.overflows)
        report.listeners = listeners.all + [textfile?.trouble].compactMap(\.self)
        report.eviction.leases = leaseDoubt()?.reason
        return report
    }

    /// The settings in force, with their origins.
    package var settings: SettingsReport {
        var report = latestSettings.current
        report.pid = Int(getpid())
        return report
    }

    /// Reports what is evicted and what stays: for one icon, or for all unreferenced ones.
    package func evictionReport(on url: IconURL? = nil) async -> EvictionReport? {
        await loop.evictionReport(on: url)
    }

    package func muteReport() async -> MuteReport? {
        await loop.ask { [loop] in $0.muteReport(error: loop.storageTrouble.withLock(\.self)) }
    }

    /// Events of the journal, without waiting for new ones; `nil` if there is no journal.
    package func events(from start: EventStart, limit: Int) async -> EventPage? {
        guard let journal = loop.journal else { return nil }
        return await EventPage.read(from: start, limit: limit, of: journal)
    }

    /// A reader of the journal, which can wait for events at no cost; `nil` if there is no journal.
    package func eventFollower(from start: EventStart) -> EventFollower? { loop.journal?.follower(from: start) }

    // MARK: Commands

    /// How many icons are requested in one turn of the loop, at about 20 µs each.
    private static let requestedAtOnce = 500

    /// Requests failed and delayed icons now; for a refresh, also those that have an image, and for a full one without
    /// conditions.
    ///
    /// Large selections are requested in parts, so that the loop can do other work in between.
    ///
    /// - Returns: How many icons are requested, and which selected ones do not exist.
    package func request(
        _ selection: IconSelection, isRefresh: Bool, isFull: Bool = false
    ) async -> SelectionReport? {
        guard let selected = await loop.ask({ $0.selected(by: selection) }) else { return nil }
        let parts = selected.parts(of: Self.requestedAtOnce)
        var report = selected.report
        // Counts all before requesting any: a request also ends the backoff of its origin, and so changes the count.
        for part in parts {
            report.icons += await loop.ask { $0.countDue(part, isRefresh: isRefresh, isFull: isFull) } ?? 0
        }
        for part in parts { await loop.hand(.request(part, isRefresh: isRefresh, isFull: isFull)) }
        return report
    }

    /// Removes and forgets everything but the lists, and downloads it anew.
    ///
    /// Files under a reader's lease go when the last such lease ends.
    ///
    /// - Returns: The result; one that says it is still running if it takes longer than the answer may wait.
    package func purge() async -> PurgeReport? {
        await loop.post(.purge, andWaitUntil: { !$0.isPurging }, atMost: Self.patience)
        // Otherwise a cache that was private could be so again after a restart.
        await wait(atMost: Self.patience) { [loop] in await loop.store() }
        return await loop.ask(\.purgeReport) ?? nil
    }

    /// Reads the configuration again, and rescans the lists folder, as SIGHUP does.
    package func reload() async -> ReloadReport? { await reloads.post().first { _ in true } }

    package func requestScan() { lists.requestScan(isThorough: true) }

    func rescan(atMost limit: Duration) async {
        await wait(atMost: limit) { [lists] in await lists.scan() }
    }

    /// Rescans the lists folder, and moves the icons of some lists to the front of the queue.
    package func rescan(for names: [ListName]) async {
        await lists.scan()
        await loop.hand(.awaited(await loop.ask { $0.urls(of: names) } ?? []))
    }

    /// Pauses new downloads, for a time or until they are resumed; returns when that is stored, or when the status says
    /// why it cannot be.
    package func pause(for duration: Duration? = nil, reason: String? = nil) async {
        await change(.pause(Pause(reason: reason ?? "", until: duration.map { loop.now + $0 })))
    }

    /// Ends the pause for a reason, or all of them; returns as ``pause(for:reason:)`` does.
    package func resume(reason: String? = nil) async { await change(.resume(reason)) }

    private func change(_ event: Reconciler.Event) async {
        await loop.hand(event)
        await wait(atMost: Self.patience) { [loop] in await loop.store() }
    }

    /// Evicts retired icons without the grace period; if confirmed, also those held back.
    package func evict(isConfirmed: Bool) async {
        await loop.post(
            .evict(isConfirmed: isConfirmed), andWaitUntil: { [loop] in $0.isEvictionSettled(at: loop.now) },
            atMost: Self.patience)
    }

    /// Pins or unpins an icon, and returns all pins.
    package func pin(_ url: IconURL, _ isPinned: Bool) async -> PinReport? {
        await loop.post(
            .pin(url: url, isPinned: isPinned),
            andWaitUntil: { $0.arePinsPublished && !(isPinned && $0.isComing(url)) || $0.pinReport.error != nil },
            atMost: Self.patience)
        return await loop.ask(\.pinReport)
    }

    /// Mutes a URL or list, for a time or until it is unmuted, and returns all that is muted once that is stored.
    package func mute(_ target: MuteTarget, _ isMuted: Bool, for duration: Duration? = nil) async -> MuteReport? {
        await change(.mute(target, isMuted: isMuted, until: duration.map { loop.now + $0 }))
        return await muteReport()
    }

    /// Rereads images reported as damaged, and refetches those that are: the report may be wrong.
    ///
    /// Returns early if reading takes longer than the answer may wait.
    package func recheck(_ suspects: Set<Digest>) async {
        let done = Milestone()
        loop.start { [loop, scrubber] in
            if await scrubber.read(suspects, report: { loop.post(.damaged($0)) }) { loop.post(.suspected) }
            // So the next status shows the result.
            loop.probe(done)
        }
        await wait(atMost: Self.patience) { await done.wait() }
    }
}
