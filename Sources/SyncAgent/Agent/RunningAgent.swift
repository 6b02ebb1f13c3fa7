// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
import Glibc
package import Reports
package import SyncPlan
import Synchronization
package import SystemPackage

/// The agent while it runs, as its servers see it: what they may ask, and what they may have it do.
///
/// An answer is `nil` when the agent is about to end.
package struct RunningAgent: Sendable {
    /// How long an answer may wait for what was asked for; clients wait a little longer.
    private static let patience: Duration = .seconds(8)

    let loop: AgentLoop
    let lists: ListService
    let scrubber: Scrubber
    let latestSettings: LatestSettings
    /// What is counted where it happens.
    package let counts: AgentMetrics
    let space: SpaceMetrics
    private let damagedState: @Sendable () -> FilePath?
    private let leaseDoubt: @Sendable () -> LeaseDoubt?
    /// Where the agent's servers listen, for the status.
    package let listeners = Listeners()
    private let listening = Milestone()
    private let probe: LoopProbe

    /// - Parameters:
    ///   - loop: What decides.
    ///   - lists: What looks at the lists folder.
    ///   - scrubber: What reads images that are said to be damaged.
    ///   - settings: The settings in force.
    ///   - counts: What is counted where it happens.
    ///   - space: What tells of the file system of the cache. Nothing by default.
    ///   - damagedState: Where the damaged state database is that was set aside. By default there is none.
    ///   - leaseDoubt: Why leases of readers may be unseen. By default all are seen.
    package init(
        loop: AgentLoop, lists: ListService, scrubber: Scrubber, settings: LatestSettings,
        counts: AgentMetrics = AgentMetrics(), space: SpaceMetrics = SpaceMetrics(),
        damagedState: @escaping @Sendable () -> FilePath? = { nil },
        leaseDoubt: @escaping @Sendable () -> LeaseDoubt? = { nil }
    ) {
        latestSettings = settings
        self.counts = counts
        self.space = space
        self.damagedState = damagedState
        self.leaseDoubt = leaseDoubt
        self.loop = loop
        probe = LoopProbe(loop)
        self.lists = lists
        self.scrubber = scrubber
    }

    // MARK: How far it is

    /// Notes that clients can connect to the control socket.
    package func noteListening() { listening.reach() }

    /// Returns when the agent has looked at the whole lists folder for the first time and clients can connect, or when the
    /// task is cancelled.
    func waitUntilReady() async {
        await lists.firstLook.wait()
        await listening.wait()
    }

    /// Whether the agent has not looked at the whole lists folder yet.
    var isStarting: Bool { !lists.firstLook.isReached }

    /// Whether the agent's loop has ended; returns as soon as it has, or when the time is over.
    func hasEnded(within limit: Duration) async -> Bool {
        await wait(atMost: limit) { [loop] in for await _ in loop.changes {} }
        return loop.feed.newest == nil
    }

    // MARK: What is asked

    /// Whether the loop answers within a time: it does not if it hangs.
    package func isResponding(within limit: Duration) async -> Bool {
        await probe.isAnswered(within: limit)
    }

    /// An element at once and whenever something may have changed that the status tells; ends with the agent.
    ///
    /// Elements that are not taken become one.
    package var changes: ChangeFeed.Changes { loop.changes }

    package func status() async -> StatusReport? {
        guard var report = await loop.status() else { return nil }
        report.pid = Int(getpid())
        report.storage = StatusReport.Storage(
            error: loop.storageTrouble.withLock(\.self), damaged: damagedState()?.string,
            events: loop.journal?.failure)
        let watch = lists.watch
        (report.watch.mode, report.watch.reason, report.watch.overflows) = (watch.mode, watch.reason, watch.overflows)
        report.listeners = listeners.all
        report.eviction.leases = leaseDoubt()?.reason
        return report
    }

    /// The settings in force, and where each one came from.
    package var settings: SettingsReport {
        var report = latestSettings.current
        report.pid = Int(getpid())
        return report
    }

    /// Everything known of one URL; `.some(nil)` if it is unknown.
    package func report(on url: IconURL) async -> IconReport?? {
        await loop.ask { [now = loop.now] in $0.report(on: url, now: now) }
    }

    /// What is evicted and what stays: of one icon, or of all that no list names.
    package func evictionReport(on url: IconURL? = nil) async -> EvictionReport? {
        await loop.evictionReport(on: url)
    }

    /// How far the icons of some lists are; of all, if none is named.
    package func syncReport(of names: [ListName]) async -> SyncReport? {
        await loop.ask { $0.syncReport(of: names) }
    }

    /// Why a URL cannot be pinned, as a clause; `nil` if it can.
    package func flaw(inPin url: IconURL) async -> String? {
        await loop.ask { $0.flaw(inPin: url) } ?? nil
    }

    /// The icons that stay although no list names them.
    package func pinReport() async -> PinReport? { await loop.ask(\.pinReport) }
    /// Since when the icon is not fresh any more whose refresh fails for longest, and the present time by the same clock;
    /// `.some(nil)` if no refresh fails.
    func staleTime() async -> (since: Timestamp, now: Timestamp)?? {
        await loop.ask { [now = loop.now] in $0.oldestStaleTime(now: now).map { ($0, now) } }
    }

    /// Some events of the journal, without waiting for others; `nil` if it keeps none.
    package func events(from start: EventStart, limit: Int) async -> EventPage? {
        guard let journal = loop.journal else { return nil }
        return await EventPage.read(from: start, limit: limit, of: journal)
    }

    /// A reader of the journal, which can wait for events and costs nothing while it does; `nil` if it keeps none.
    package func eventFollower(from start: EventStart) -> EventFollower? { loop.journal?.follower(from: start) }

    /// Who names what; `.some(nil)` if that is what it was at this version.
    package func mentions(after version: Int?) async -> IconMentions?? {
        await loop.ask { $0.mentionsVersion == version ? nil : $0.mentions }
    }

    /// What there is to tell of some icons, without their names.
    package func summaries(of urls: [IconURL]) async -> [IconSummary]? {
        await loop.ask { [now = loop.now] in $0.summaries(of: urls, now: now) }
    }

    /// How many icons a list names, or all lists, and how many are in a state; `.some(nil)` if there is no such list.
    package func count(ofIconsIn list: ListName?, _ state: IconSummary.State?) async -> Int?? {
        await loop.ask { plan in
            if let list, !plan.knows(list: list) { return nil }
            return plan.count(ofIconsIn: list, state)
        }
    }

    // MARK: What it is to do

    /// How many icons are requested in one turn of the loop: it takes about 20 µs for each.
    private static let requestedAtOnce = 500

    /// Requests icons now that failed; for a refresh, also those that are fresh.
    ///
    /// Many are requested in parts, between which the loop does what others want of it.
    ///
    /// - Returns: How many they are, and what was selected that there is not.
    package func request(_ selection: IconSelection, isRefresh: Bool) async -> SelectionReport? {
        guard let selected = await loop.ask({ $0.selected(by: selection) }) else { return nil }
        let parts = selected.parts(of: Self.requestedAtOnce)
        var report = selected.report
        // Before the first one is requested, which also ends the wait of its origin for the others.
        for part in parts {
            report.icons += await loop.ask { $0.countDue(part, isRefresh: isRefresh) } ?? 0
        }
        for part in parts { await loop.hand(.request(part, isRefresh: isRefresh)) }
        return report
    }

    /// Forgets and removes everything but the lists, and downloads it anew.
    ///
    /// What readers hold a lease on goes when the last of these ends.
    ///
    /// - Returns: What came of it; that it is under way if that takes longer than the answer may wait.
    package func purge() async -> PurgeReport? {
        await loop.post(.purge, andWaitUntil: { !$0.isPurging }, atMost: Self.patience)
        return await loop.ask(\.purgeReport) ?? nil
    }

    /// Has the lists folder looked at.
    package func lookAgain() { lists.lookAgain() }

    /// Has the lists folder looked at, and returns when that is done or when the time is over.
    func lookAgain(atMost limit: Duration) async {
        await waitWithoutCancelling(atMost: limit) { [lists] in await lists.look() }
    }

    /// Looks at the lists folder, and has the icons of some lists go before all others.
    package func look(for names: [ListName]) async {
        await lists.look()
        await loop.hand(.awaited(await loop.ask { $0.urls(of: names) } ?? []))
    }

    /// Has downloads begun no more, or again; returns when that is stored, or the status says why it cannot be.
    package func setPaused(_ isPaused: Bool) async {
        await loop.hand(.paused(isPaused))
        await waitWithoutCancelling(atMost: Self.patience) { [loop] in await loop.store() }
    }

    /// Has what is retired removed without its grace; if it is confirmed, also what is held.
    package func evict(isConfirmed: Bool) async {
        await loop.post(
            .evict(isConfirmed: isConfirmed), andWaitUntil: { [loop] in $0.isEvictionSettled(at: loop.now) },
            atMost: Self.patience)
    }

    /// Has an icon kept although no list names it, or no more.
    ///
    /// - Returns: All that are kept so.
    package func pin(_ url: IconURL, _ isPinned: Bool) async -> PinReport? {
        await loop.post(
            .pin(url: url, isPinned: isPinned),
            andWaitUntil: { $0.arePinsPublished && !(isPinned && $0.isComing(url)) || $0.pinReport.error != nil },
            atMost: Self.patience)
        return await loop.ask(\.pinReport)
    }

    /// Has images fetched again that are damaged, if they are: whoever says so may be wrong.
    ///
    /// To read them all may take longer than the answer may wait.
    package func recheck(_ suspects: Set<Digest>) async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        Task { [loop, scrubber] in
            if await scrubber.read(suspects, report: { loop.post(.damaged($0)) }) { loop.post(.suspected) }
            // The status that follows tells of it.
            _ = await loop.ask { _ in }
            end.finish()
        }
        await wait(atMost: Self.patience) { for await _ in ended {} }
    }
}
