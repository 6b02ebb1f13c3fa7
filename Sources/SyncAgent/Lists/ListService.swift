// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
package import Logging
package import SyncPlan
import Synchronization
package import SystemPackage

/// Looks at the lists folder whenever there may be something new in it: when the watcher says so, from time to time, and
/// when it is asked to.
///
/// Events are hints, the listing is the truth: whatever was reported, the folder is listed anew.
package final class ListService: Sendable {
    private enum Trigger: Sendable {
        case watch(WatchSignal)
        /// Somebody wants the folder to be looked at, and may wait for that.
        case asked(CheckedContinuation<Void, Never>?)
        /// Other settings are in force; whether every list is to be read anew.
        case configured(readsAll: Bool)
        /// The folder is to be listed again, to see whether what it lacked is still missing.
        case due
        /// Somebody wants to know whether looks are still made.
        case probe(CheckedContinuation<Void, Never>)
        case alarm
    }

    private let folder: FilePath
    private let watchProgram: FilePath
    private let parseProgram: FilePath
    private let rules: Mutex<ListRules>
    /// What an earlier run read.
    private let known: Handover<[ListName: KnownList]>
    /// The lists that it published.
    private let old: Set<ListName>
    private let clock: AgentClock
    private let metrics: AgentMetrics
    /// What knows the files that a single look has read.
    private let lastScanner = Mutex<ListScanner?>(nil)
    private let folderWatch: FolderWatch
    /// The end of the first look at everything in the folder, or at a folder that cannot be looked at.
    package let firstLook = Milestone()
    private let triggers: AsyncStream<Trigger>
    private let trigger: AsyncStream<Trigger>.Continuation

    package init(
        folder: FilePath, watchProgram: FilePath, parseProgram: FilePath, settings: Settings.Lists,
        known: [ListName: KnownList] = [:], old: Set<ListName> = [], clock: AgentClock, logger: Logger,
        metrics: AgentMetrics = AgentMetrics()
    ) {
        self.folder = folder
        self.old = old
        self.known = Handover(known)
        self.watchProgram = watchProgram
        self.parseProgram = parseProgram
        self.metrics = metrics
        rules = Mutex(ListRules(settings, parseProgram: parseProgram, metrics: metrics))
        self.clock = clock
        folderWatch = FolderWatch(logger: logger, metrics: metrics)
        (triggers, trigger) = AsyncStream.makeStream()
    }

    /// How the folder is being watched.
    package var watch: FolderWatch.State { folderWatch.state }

    private var settings: Settings.Lists { rules.withLock(\.settings) }
    private var parser: ParseHelper { rules.withLock(\.parser) }

    /// Goes on with other settings, by which the folder is looked at next.
    package func configure(_ settings: Settings.Lists) {
        let readsAll = rules.withLock { rules in
            let isOther = ListLimits(settings).rules != ListLimits(rules.settings).rules
            // One that was started ahead goes by the limits that it was started with.
            if isOther {
                rules = ListRules(settings, parseProgram: parseProgram, metrics: metrics)
            } else {
                rules.settings = settings
            }
            return isOther
        }
        folderWatch.bell.ring()
        trigger.yield(.configured(readsAll: readsAll))
    }

    /// Has the folder looked at now.
    package func lookAgain() {
        trigger.yield(.asked(nil))
    }

    /// Has the folder listed now, and what changed in it read.
    package func listAgain() {
        trigger.yield(.due)
    }

    /// Has the folder looked at now, and returns when everything in it was read and reported.
    ///
    /// A file that is still being written after `lists.settleMax` has a verdict that says so.
    package func look() async {
        await withCheckedContinuation { continuation in
            if case .terminated = trigger.yield(.asked(continuation)) { continuation.resume() }
        }
    }

    /// Returns as soon as no look is under way.
    package func respond() async {
        await withCheckedContinuation { continuation in
            if case .terminated = trigger.yield(.probe(continuation)) { continuation.resume() }
        }
    }

    /// Looks at the folder, and goes on doing so until the task is cancelled.
    package func run(_ report: @escaping @Sendable (ListScan) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // A busy machine may need a moment for an answer.
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

    /// Looks at the folder until no file in it is being written any more.
    ///
    /// A file that is still being written after `lists.rescan` has a verdict that says so.
    ///
    /// It may be called again when it has ended: what is as it was is not read again.
    ///
    /// - Parameter report: Gets what was found: some new lists as they are read, and at the end all else. What a look found
    ///   during which the task was cancelled it does not get.
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
            let overdue = unsettled.note(look.unsettled, at: clock.now)
            readings.merge(changed) { $1 }
            readings.merge(overdue) { $1 }
            folderWatch.note(shortage: look.shortage)
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
        ListScanner(folder: folder, parser: parser, maxBytes: settings.maxBytes, known: known.take() ?? [:], old: old)
    }

    private func look(_ report: @Sendable (ListScan) -> Void) async {
        var scanner = makeScanner()
        var parser = parser
        var window = SettleWindow(quiet: settings.settle, ceiling: settings.settleMax)
        var alarm = Alarm(clock: clock) { [trigger] in trigger.yield(.alarm) }
        var unsettled = UnsettledLists(patience: settings.settleMax)
        var nextScan = clock.now
        var nextReading = clock.now + settings.rescanContent
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isAsked = false
        alarm.set(nextScan)
        for await trigger in triggers {
            switch trigger {
            case .watch(let signal):
                if folderWatch.note(signal) { window.noteChange(at: clock.now) }
                // The quiet time is long enough for a parser to start.
                if signal == .changed { await parser.prepare() }
            case .asked(let continuation):
                (isAsked, nextReading) = (true, clock.now)
                if let continuation { waiting.append(continuation) }
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
            case .probe(let continuation): continuation.resume()
            case .alarm: alarm.rang()
            }
            // The stream ends next.
            guard !Task.isCancelled else { continue }
            // What comes by itself waits for the quiet time of a change that was noticed.
            if isAsked || (window.due ?? min(nextScan, nextReading)) <= clock.now {
                window.reset()
                isAsked = false
                let start = clock.now
                let isThorough = nextReading <= clock.now
                if isThorough { nextReading = clock.now + settings.rescanContent }
                let look = await scanner.look(isHasty: true, inRounds: true, isThorough: isThorough)
                guard !Task.isCancelled else { continue }
                let overdue = unsettled.note(look.unsettled, at: clock.now)
                let scan = look.scan.adding(overdue).listed(at: start)
                report(scan)
                await parser.dismiss()
                folderWatch.note(look)
                nextScan = clock.now + (look.shortage == nil ? interval(after: look) : Self.pause)
                if !look.rest.isEmpty {
                    // What somebody changed meanwhile comes first.
                    listAgain()
                } else if look.shortage != nil {
                    // Who waits for the lists goes on waiting.
                    window.reset()
                    firstLook.reach()
                } else if overdue.count == look.unsettled.count, look.slow.isEmpty {
                    // Nobody waits for a file that goes on growing.
                    for continuation in waiting { continuation.resume() }
                    waiting = []
                    firstLook.reach()
                    if !overdue.isEmpty { nextScan = min(nextScan, clock.now + settings.settleMax) }
                } else {
                    window.noteChange(at: clock.now)
                }
            }
            alarm.set(window.due ?? min(nextScan, nextReading))
        }
        await parser.dismiss()
        for continuation in waiting { continuation.resume() }
    }

    /// How long to wait for the next look where the agent had not the means to read all lists.
    private static let pause: Duration = .seconds(1)

    /// How long to wait for the next look, if nothing is reported.
    private func interval(after look: ListScanner.Look) -> Duration {
        if case .listed = look.scan, watch.reason == nil { return settings.rescan }
        return PollingPace.interval(cost: look.cost, rescan: settings.rescan)
    }
}
