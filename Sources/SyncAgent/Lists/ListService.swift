// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import AppLists
package import CacheFormat
package import Logging
package import SyncPlan
import Synchronization
package import SystemPackage

/// Scans the lists folder when the watcher reports a change, periodically, and on request.
///
/// Events are hints, the listing is the truth: whatever was reported, the folder is listed again.
package final class ListService: Sendable {
    private enum Trigger: Sendable {
        case watch(WatchSignal)
        /// A scan was requested; its end reaches the milestone, if any.
        case asked(Milestone?)
        /// The settings changed; whether every list must be read again.
        case configured(readsAll: Bool)
        /// The folder must be listed again, for example to see whether missing lists are back.
        case due
        /// Reaches the milestone to show that scans are not stuck.
        case probe(Milestone)
        case alarm
    }

    private let folder: FilePath
    private let adopted: FilePath?
    private let watchProgram: FilePath
    private let parseProgram: FilePath
    /// The settings for reading lists, and a parser that follows them.
    private let rules: Mutex<(settings: Settings.Lists, parser: ParseHelper)>
    private let known: Handover<[ListName: KnownList]>
    /// The lists published by an earlier run.
    private let old: Set<ListName>
    private let clock: AgentClock
    private let metrics: AgentMetrics
    /// The scanner of the last ``lookOnce(_:)``, which knows the files that it read.
    private let lastScanner = Mutex<ListScanner?>(nil)
    private let folderWatch: FolderWatch
    /// The end of the first complete scan; an unavailable folder counts.
    package let firstLook = Milestone()
    private let triggers: AsyncStream<Trigger>
    private let trigger: AsyncStream<Trigger>.Continuation

    package init(
        folder: FilePath, adopted: FilePath? = nil, watchProgram: FilePath, parseProgram: FilePath,
        settings: Settings.Lists,
        known: [ListName: KnownList] = [:], old: Set<ListName> = [], clock: AgentClock, logger: Logger,
        metrics: AgentMetrics = AgentMetrics()
    ) {
        self.folder = folder
        self.adopted = adopted
        self.old = old
        self.known = Handover(known)
        self.watchProgram = watchProgram
        self.parseProgram = parseProgram
        self.metrics = metrics
        rules = Mutex((settings, ParseHelper(executable: parseProgram, limits: ListLimits(settings), metrics: metrics)))
        self.clock = clock
        folderWatch = FolderWatch(logger: logger, metrics: metrics)
        (triggers, trigger) = AsyncStream.makeStream()
    }

    package var watch: FolderWatch.State { folderWatch.state }

    private var settings: Settings.Lists { rules.withLock(\.settings) }
    private var parser: ParseHelper { rules.withLock(\.parser) }

    /// Applies new settings, and scans the folder with them.
    package func configure(_ settings: Settings.Lists) {
        let readsAll = rules.withLock { rules in
            let isOther = ListLimits(settings).rules != ListLimits(rules.settings).rules
            // A parser that was started ahead has the limits that it was started with.
            if isOther {
                rules.parser = ParseHelper(executable: parseProgram, limits: ListLimits(settings), metrics: metrics)
            }
            rules.settings = settings
            return isOther
        }
        folderWatch.bell.ring()
        trigger.yield(.configured(readsAll: readsAll))
    }

    /// Requests a full scan.
    package func lookAgain() { trigger.yield(.asked(nil)) }

    /// Requests a listing; only changed files are read.
    package func listAgain() { trigger.yield(.due) }

    /// Scans the folder, and returns when everything in it was read and reported, or when the task is cancelled; the
    /// scan then goes on.
    ///
    /// A file still being written after `lists.settleMax` is reported as such.
    package func look() async {
        let done = Milestone()
        if case .terminated = trigger.yield(.asked(done)) { return }
        await done.wait()
    }

    /// Reaches the milestone once no scan is running.
    func probe(_ answer: Milestone) {
        if case .terminated = trigger.yield(.probe(answer)) { answer.reach() }
    }

    /// Scans the folder whenever necessary, until the task is cancelled.
    package func run(_ report: @escaping @Sendable (ListScan) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // A busy machine may need a moment to answer.
                try await WatchHelper(
                    executable: watchProgram, folder: folder, askingEvery: max(self.settings.rescan, .seconds(1)),
                    bell: folderWatch.bell
                )
                .watch { [trigger] signal in trigger.yield(.watch(signal)) }
            }
            group.addTask { [self] in await look(report) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Scans the folder until no file in it is being written.
    ///
    /// A file still being written after `lists.rescan` is reported as such. Later calls do not read unchanged files
    /// again. `report` receives some new lists as they are read, everything else at the end, and nothing after the task
    /// is cancelled.
    package func lookOnce(_ report: (ListScan) -> Void) async {
        var scanner = lastScanner.withLock { $0.take() } ?? makeScanner()
        var readings: [ListName: ListReading] = [:]
        var unsettled = UnsettledLists(patience: settings.rescan)
        let end = clock.now + settings.rescan
        while true {
            let start = clock.now
            let look = await scanner.look(inRounds: true)
            guard !Task.isCancelled else { return }
            guard case .listed(let folder, let present, let changed) = look.scan else { return report(look.scan) }
            let overdue = unsettled.record(look.unsettled, at: clock.now)
            readings.merge(changed) { $1 }
            readings.merge(overdue) { $1 }
            folderWatch.record(shortage: look.shortage)
            let isUnread = look.shortage != nil && clock.now < end
            if look.rest.isEmpty, isUnread || overdue.count < look.unsettled.count,
                (try? await Task.sleep(for: settings.settle)) != nil
            {
                continue
            }
            report(
                ListScan.listed(folder, present: present, changed: readings.filter { present.contains($0.key) })
                    .listed(at: start))
            if look.rest.isEmpty { return lastScanner.withLock { [scanner] in $0 = scanner } }
            readings = [:]
        }
    }

    private func makeScanner() -> ListScanner {
        ListScanner(
            folder: folder, adopted: adopted, parser: parser, maxBytes: settings.maxBytes, known: known.take() ?? [:],
            old: old)
    }

    private func look(_ report: @Sendable (ListScan) -> Void) async {
        var scanner = makeScanner()
        var parser = parser
        var window = SettleWindow(quiet: settings.settle, ceiling: settings.settleMax)
        var alarm = Alarm(clock: clock) { [trigger] in trigger.yield(.alarm) }
        var unsettled = UnsettledLists(patience: settings.settleMax)
        var nextScan = clock.now
        // When to look again at files that were being written, however many changes are reported meanwhile.
        var nextLook: Timestamp?
        var nextReading = clock.now + settings.rescanContent
        // Another file system may be mounted, whose files have the times and numbers of the old ones.
        var (hasLostWatch, mustRead) = (false, false)
        var waiting: [Milestone] = []
        var isAsked = false
        alarm.set(nextScan)
        for await trigger in triggers {
            switch trigger {
            case .watch(let signal):
                if folderWatch.record(signal) { window.recordChange(at: clock.now) }
                if case .lost = signal { mustRead = true }
                if signal == .ready, hasLostWatch { mustRead = true }
                if signal == .ready || signal.isLast { hasLostWatch = signal.isLast }
                // The quiet time suffices to start a parser.
                if signal == .changed { await parser.prepare() }
            case .asked(let milestone):
                (isAsked, nextReading) = (true, clock.now)
                if let milestone { waiting.append(milestone) }
            case .configured(let readsAll):
                let settings = settings
                window = SettleWindow(quiet: settings.settle, ceiling: settings.settleMax)
                unsettled = UnsettledLists(patience: settings.settleMax)
                if readsAll {
                    await parser.dismiss()
                    parser = self.parser
                    scanner.read(with: parser, maxBytes: settings.maxBytes)
                }
                (isAsked, nextReading) = (true, clock.now)
            case .due: isAsked = true
            case .probe(let milestone): milestone.reach()
            case .alarm: alarm.rang()
            }
            // The stream ends next.
            guard !Task.isCancelled else { continue }
            // Periodic scans wait for the quiet time of a noticed change.
            if isAsked || (nextLook ?? window.due ?? min(nextScan, nextReading)) <= clock.now {
                window.reset()
                nextLook = nil
                isAsked = false
                let start = clock.now
                let isThorough = mustRead || nextReading <= clock.now
                if isThorough { nextReading = clock.now + settings.rescanContent }
                let look = await scanner.look(isHasty: true, inRounds: true, isThorough: isThorough)
                guard !Task.isCancelled else { continue }
                if case .listed = look.scan { mustRead = false }
                let overdue = unsettled.record(look.unsettled, at: clock.now)
                let scan = look.scan.adding(overdue).listed(at: start)
                report(scan)
                await parser.dismiss()
                folderWatch.record(look)
                nextScan = clock.now + (look.shortage == nil ? interval(after: look) : Self.pause)
                if !look.rest.isEmpty {
                    // Triggers that arrived meanwhile come first.
                    listAgain()
                } else if look.shortage != nil {
                    // Callers of look() go on waiting.
                    window.reset()
                    firstLook.reach()
                } else if overdue.count == look.unsettled.count, look.slow.isEmpty {
                    // Nobody waits for a file that keeps growing.
                    for milestone in waiting { milestone.reach() }
                    waiting = []
                    firstLook.reach()
                    if !overdue.isEmpty { nextScan = min(nextScan, clock.now + settings.settleMax) }
                } else {
                    window.recordChange(at: clock.now)
                    if overdue.count < look.unsettled.count { nextLook = clock.now + settings.settle }
                }
            }
            alarm.set(nextLook ?? window.due ?? min(nextScan, nextReading))
        }
        await parser.dismiss()
        for milestone in waiting { milestone.reach() }
    }

    /// The delay before the next scan while the agent lacks the resources to read all lists.
    private static let pause: Duration = .seconds(1)

    /// The delay before the next scan if nothing is reported.
    private func interval(after look: ListScanner.Look) -> Duration {
        if case .listed = look.scan, watch.reason == nil { return settings.rescan }
        return PollingPace.interval(cost: look.cost, rescan: settings.rescan)
    }
}
