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
/// A report of the watcher is only a hint: the folder is scanned whatever was reported.
package final class ListService: Sendable {
    private enum Trigger: Sendable {
        case watch(WatchSignal)
        /// Somebody asked for a scan: of all contents, or only of changed files. The milestone, if any, is reached at
        /// its end.
        case asked(isThorough: Bool, Milestone?)
        /// The settings changed; `readsAll` if every list must be read again.
        case configured(readsAll: Bool)
        /// Reaches the milestone, which shows that scans are not stuck.
        case probe(Milestone)
        case alarm
    }

    private let folder: FilePath
    private let adopted: FilePath?
    private let watchProgram: FilePath
    private let parseProgram: FilePath
    /// The settings for reading lists, and a parser with their limits.
    private let rules: Mutex<(settings: Settings.Lists, parser: ParseHelper)>
    private let known: Handover<[ListName: KnownList]>
    /// The names of lists published by an earlier run.
    private let old: Set<ListName>
    private let clock: AgentClock
    private let metrics: AgentMetrics
    /// The scanner of the last ``scanOnce(_:)``, which knows the files that were read.
    private let lastScanner = Mutex<ListScanner?>(nil)
    private let folderWatch: FolderWatch
    /// Reached at the end of the first complete scan, even if the folder was unavailable.
    package let firstScan = Milestone()
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
    private var times: ScanSchedule.Times {
        rules.withLock { ($0.settings.settle, $0.settings.settleMax, $0.settings.rescan, $0.settings.rescanContent) }
    }

    /// Applies new settings, and triggers a scan with them.
    package func configure(_ settings: Settings.Lists) {
        let readsAll = rules.withLock { rules in
            let isOther = ListLimits(settings).rules != ListLimits(rules.settings).rules
            // A parser that was started ahead keeps the limits that it was started with, so it is replaced.
            if isOther {
                rules.parser = ParseHelper(executable: parseProgram, limits: ListLimits(settings), metrics: metrics)
            }
            rules.settings = settings
            return isOther
        }
        folderWatch.bell.ring()
        trigger.yield(.configured(readsAll: readsAll))
    }

    /// Triggers a scan: of all contents, or only of changed files.
    package func requestScan(isThorough: Bool) { trigger.yield(.asked(isThorough: isThorough, nil)) }

    /// Scans the folder.
    ///
    /// Returns when everything in it was read and reported; or when the task is cancelled, while the scan continues.
    ///
    /// A file still being written after `lists.settleMax` is reported as unfinished.
    package func scan() async {
        let done = Milestone()
        if case .terminated = trigger.yield(.asked(isThorough: true, done)) { return }
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
                // The watcher of a busy machine may need a moment to answer.
                try await WatchHelper(
                    executable: watchProgram, folder: folder, interval: { max(self.settings.rescan, .seconds(1)) },
                    bell: folderWatch.bell
                )
                .watch { [trigger] signal in trigger.yield(.watch(signal)) }
            }
            group.addTask { [self] in await handleTriggers(report) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Scans the folder until no file in it is being written.
    ///
    /// A file still being written after `lists.rescan` is reported as unfinished. Later calls do not read unchanged
    /// files again. `report` receives some new lists as they are read, all other results at the end, and nothing after
    /// the task is cancelled.
    package func scanOnce(_ report: (ListScan) -> Void) async {
        var scanner = lastScanner.withLock { $0.take() } ?? makeScanner()
        var readings: [ListName: ListReading] = [:]
        var times = times
        times.settleMax = times.rescan
        var schedule = ScanSchedule(times, at: clock.now)
        let end = clock.now + times.rescan
        while true {
            let start = clock.now
            let outcome = await scanner.scan(inRounds: true)
            guard !Task.isCancelled else { return }
            let overdue = schedule.record(unsettled: outcome.unsettled, at: clock.now)
            let scan = outcome.scan.listed(at: start, adding: overdue)
            guard case .listed(let folder, let present, let changed) = scan else { return report(scan) }
            readings.merge(changed) { $1 }
            folderWatch.record(shortage: outcome.shortage)
            let isUnread = outcome.shortage != nil && clock.now < end
            if outcome.rest.isEmpty, isUnread || schedule.isWaiting, (try? await Task.sleep(for: times.settle)) != nil {
                continue
            }
            report(.listed(folder, present: present, changed: readings.filter { present.contains($0.key) }))
            if outcome.rest.isEmpty { return lastScanner.withLock { [scanner] in $0 = scanner } }
            readings = [:]
        }
    }

    private func makeScanner() -> ListScanner {
        ListScanner(
            folder: folder, adopted: adopted, parser: parser, maxBytes: settings.maxBytes, known: known.take() ?? [:],
            old: old)
    }

    private func handleTriggers(_ report: @Sendable (ListScan) -> Void) async {
        var scanner = makeScanner()
        var parser = parser
        var schedule = ScanSchedule(times, at: clock.now)
        var alarm = Alarm(clock: clock) { [trigger] in trigger.yield(.alarm) }
        var waiting: [Milestone] = []
        alarm.set(schedule.due)
        for await trigger in triggers {
            switch trigger {
            case .watch(let signal):
                schedule.record(signal, isChange: folderWatch.record(signal), at: clock.now)
                // A parser starts within the quiet time that follows a change.
                if signal == .changed { await parser.prepare() }
            case .asked(let isThorough, let milestone):
                schedule.request(isThorough: isThorough, at: clock.now)
                if let milestone { waiting.append(milestone) }
            case .configured(let readsAll):
                schedule.configure(times, at: clock.now)
                if readsAll {
                    await parser.dismiss()
                    parser = self.parser
                    scanner.read(with: parser, maxBytes: settings.maxBytes)
                }
            case .probe(let milestone): milestone.reach()
            case .alarm: alarm.set(nil)
            }
            // The task was cancelled, so the stream of triggers ends next.
            guard !Task.isCancelled else { continue }
            let start = clock.now
            if let isThorough = schedule.begin(at: start) {
                let outcome = await scanner.scan(isHasty: true, inRounds: true, isThorough: isThorough)
                guard !Task.isCancelled else { continue }
                let overdue = schedule.record(unsettled: outcome.unsettled, at: clock.now)
                report(outcome.scan.listed(at: start, adding: overdue))
                await parser.dismiss()
                folderWatch.record(outcome)
                let isComplete = schedule.end(
                    outcome.scan, cost: outcome.cost, hasSlow: !outcome.slow.isEmpty, isWatched: watch.reason == nil,
                    at: clock.now)
                if !outcome.rest.isEmpty {
                    // The next scan is queued behind triggers that arrived meanwhile.
                    requestScan(isThorough: false)
                } else if isComplete || outcome.shortage != nil {
                    // After a shortage, callers of scan() continue to wait.
                    while isComplete, let milestone = waiting.popLast() { milestone.reach() }
                    firstScan.reach()
                }
            }
            alarm.set(schedule.due)
        }
        await parser.dismiss()
        for milestone in waiting { milestone.reach() }
    }
}
