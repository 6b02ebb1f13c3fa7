// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Decides when to scan the lists folder, whether a scan is thorough, and which files have changed for too long.
///
/// A thorough scan reads unchanged files, too. The schedule has no clock: each call has the time.
package struct ScanSchedule: Sendable {
    /// The settings with these names; `settleMax` is also the time for which a file may change at every scan.
    package typealias Times = (settle: Duration, settleMax: Duration, rescan: Duration, rescanContent: Duration)

    private var times: Times
    /// The first and the last change since the last scan.
    private var changes: [Timestamp] = []
    /// When to scan after a request, or while files are being written, whatever changes are reported meanwhile.
    private var nextScan: Timestamp?
    private var nextPeriodic: Timestamp
    private var nextThorough: Timestamp
    /// The files being written, each with the time since when.
    private var unsettled: [ListName: Timestamp] = [:]
    /// Whether some of these files may still settle in time.
    package private(set) var isWaiting = false
    private var hasLostWatch = false
    /// Another file system may be mounted, whose files have the times and numbers of the old ones.
    private var mustBeThorough = false

    package init(_ times: Times, at now: Timestamp) {
        (self.times, nextPeriodic, nextThorough) = (times, now, now + times.rescanContent)
    }

    /// When to scan; periodic scans wait for the quiet time of a noticed change.
    package var due: Timestamp {
        nextScan ?? QuietWindow(quiet: times.settle, ceiling: times.settleMax).end(of: changes)
            ?? min(nextPeriodic, nextThorough)
    }

    /// Applies other times, and requests a thorough scan.
    package mutating func configure(_ times: Times, at now: Timestamp) {
        (self.times, unsettled) = (times, [:])
        request(isThorough: true, at: now)
    }

    package mutating func request(isThorough: Bool, at now: Timestamp) {
        nextScan = now
        if isThorough { nextThorough = now }
    }

    /// Records a signal of the watcher, and whether it is a reason to scan.
    package mutating func record(_ signal: WatchSignal, isChange: Bool, at now: Timestamp) {
        if isChange { changes = [changes.first ?? now, now] }
        if case .lost = signal { mustBeThorough = true }
        if signal == .ready, hasLostWatch { mustBeThorough = true }
        if signal == .ready || signal.isLast { hasLostWatch = signal.isLast }
    }

    /// Begins a scan if it is due; returns whether it is thorough, `nil` if it is not due.
    package mutating func begin(at now: Timestamp) -> Bool? {
        guard due <= now else { return nil }
        (changes, nextScan) = ([], nil)
        let isThorough = mustBeThorough || nextThorough <= now
        if isThorough { nextThorough = now + times.rescanContent }
        return isThorough
    }

    /// Records the files being written during a scan; returns rejections of those that changed for too long.
    package mutating func record(unsettled names: Set<ListName>, at now: Timestamp) -> [ListName: ListReading] {
        unsettled = Dictionary(uniqueKeysWithValues: names.map { ($0, unsettled[$0] ?? now) })
        let overdue = unsettled.filter { $0.value + times.settleMax <= now }
        isWaiting = overdue.count < names.count
        return overdue.mapValues { _ in ListReading(source: nil, verdict: .failure(.stillBeingWritten)) }
    }

    /// Ends a scan; returns whether no file is left for later ones.
    ///
    /// `cost` is how long listing the folder took, `hasSlow` whether some files parse slowly and are read later, and
    /// `isWatched` whether all changes are reported.
    package mutating func end(
        _ scan: ListScan, cost: Duration, hasSlow: Bool, isWatched: Bool, at now: Timestamp
    ) -> Bool {
        // A polled folder is listed every 2 s, or less often so that listing takes at most 0.5 % of the time.
        nextPeriodic = now + min(max(.seconds(2), cost * 200), times.rescan)
        if case .listed(let folder, _, _) = scan {
            mustBeThorough = false
            if isWatched { nextPeriodic = now + times.rescan }
            // Memory or file descriptors may be free again soon.
            if folder.shortage != nil { nextPeriodic = now + .seconds(1) }
            if folder.hasUnread || folder.shortage != nil { return false }
        }
        if isWaiting {
            nextScan = now + times.settle
        } else if hasSlow {
            changes = [now]
        } else if !unsettled.isEmpty {
            nextPeriodic = min(nextPeriodic, now + times.settleMax)
        }
        return !isWaiting && !hasSlow
    }
}
