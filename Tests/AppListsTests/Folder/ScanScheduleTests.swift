// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import TestSupport
import Testing

/// All times are milliseconds after `Sample.time`.
@Suite("When the lists folder is scanned")
struct ScanScheduleTests {
    private static let times: ScanSchedule.Times = (
        settle: .milliseconds(100), settleMax: .milliseconds(300), rescan: .seconds(30), rescanContent: .seconds(50)
    )

    private static func time(_ milliseconds: Int) -> Timestamp { Sample.time + .milliseconds(milliseconds) }

    private static func listed(shortage: String? = nil, hasUnread: Bool = false) -> ListScan {
        var folder = ListedFolder(path: "/lists", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))
        (folder.shortage, folder.hasUnread) = (shortage, hasUnread)
        return .listed(folder, present: [], changed: [:])
    }

    /// A schedule whose first scan ended at 0 and left nothing.
    private static var scheduled: ScanSchedule {
        var schedule = ScanSchedule(times, at: time(0))
        _ = scan(&schedule, at: 0)
        return schedule
    }

    /// Scans in no time a folder where every change is reported; returns whether the scan is thorough.
    private static func scan(
        _ schedule: inout ScanSchedule, at milliseconds: Int, _ scan: ListScan = listed(),
        unsettled: Set<ListName> = []
    ) -> Bool? {
        guard let isThorough = schedule.begin(at: time(milliseconds)) else { return nil }
        _ = schedule.record(unsettled: unsettled, at: time(milliseconds))
        _ = schedule.end(scan, cost: .zero, hasSlow: false, isWatched: true, at: time(milliseconds))
        return isThorough
    }

    @Test("the first scan is due at once, the next one after the rescan time, and none before")
    func periodic() {
        var schedule = ScanSchedule(Self.times, at: Self.time(0))
        #expect(schedule.due == Self.time(0))
        #expect(Self.scan(&schedule, at: 0) == false)
        #expect(schedule.due == Self.time(30_000))
        #expect(Self.scan(&schedule, at: 29_999) == nil)
        #expect(Self.scan(&schedule, at: 30_000) == false)
        // The time for contents comes first.
        #expect(schedule.due == Self.time(50_000))
        #expect(Self.scan(&schedule, at: 50_000) == true)
        #expect(schedule.due == Self.time(80_000))
    }

    @Test(
        "changes are scanned together when it has been quiet, even if a periodic scan is due before",
        arguments: [
            ([], 30_000), ([10], 110), ([10, 60], 160), ([0, 90, 180, 270], 300), ([29_950], 30_050),
            ([29_950, 30_049, 30_140], 30_240),
        ] as [([Int], Int)])
    func changes(changes: [Int], due: Int) {
        var schedule = Self.scheduled
        for change in changes { schedule.record(.changed, isChange: true, at: Self.time(change)) }
        schedule.record(.died("again"), isChange: false, at: Self.time(due - 1))
        #expect(schedule.due == Self.time(due))
        #expect(Self.scan(&schedule, at: due - 1) == nil)
        #expect(Self.scan(&schedule, at: due) == false)
        #expect(schedule.due == Self.time(min(due + 30_000, 50_000)))
    }

    @Test("a requested scan is due at once, and is thorough if that was requested", arguments: [false, true])
    func request(isThorough: Bool) {
        var schedule = Self.scheduled
        schedule.record(.changed, isChange: true, at: Self.time(10))
        if isThorough { schedule.request(isThorough: true, at: Self.time(20)) }
        schedule.request(isThorough: false, at: Self.time(20))
        #expect(schedule.due == Self.time(20))
        #expect(Self.scan(&schedule, at: 20) == isThorough)
        // The change was seen, too.
        #expect(schedule.due == Self.time(30_020))
        #expect(Self.scan(&schedule, at: 30_020) == false)
        // A thorough scan is the next one's beginning.
        #expect(schedule.due == Self.time(isThorough ? 50_020 : 50_000))
    }

    @Test(
        "a scan is thorough once the watch on the folder was lost, or is back after it failed, until one lists the folder",
        arguments: [
            ([.ready], false), ([.changed, .overflow], false), ([.lost(reason: "unmount")], true),
            ([.lost(reason: "unmount"), .ready], true), ([.refused(errno: "ENOSPC")], false),
            ([.refused(errno: "ENOSPC"), .ready], true), ([.died("crashed")], false),
            ([.died("crashed"), .changed, .ready, .ready], true),
        ] as [([WatchSignal], Bool)])
    func lost(signals: [WatchSignal], isThorough: Bool) {
        var schedule = Self.scheduled
        for signal in signals { schedule.record(signal, isChange: true, at: Self.time(10)) }
        #expect(Self.scan(&schedule, at: 110, .unavailable(reason: "unmounted")) == isThorough)
        #expect(Self.scan(&schedule, at: 2110, Self.listed(shortage: "no memory")) == isThorough)
        #expect(Self.scan(&schedule, at: 3110) == false)
    }

    @Test("a watch that is back after a scan without it makes the next scan thorough, and no later one")
    func back() {
        var schedule = Self.scheduled
        schedule.record(.died("crashed"), isChange: true, at: Self.time(10))
        #expect(Self.scan(&schedule, at: 110) == false)
        for (ready, isThorough) in [(200, true), (400, false)] {
            schedule.record(.ready, isChange: true, at: Self.time(ready))
            #expect(Self.scan(&schedule, at: ready + 100) == isThorough)
        }
    }

    /// What a scan found, whether it left nothing, when to scan next, and when if something changes 50 ms later.
    typealias End = (
        scan: ListScan, unsettled: Set<ListName>, hasSlow: Bool, isWatched: Bool, isComplete: Bool, due: Int,
        dueIfChanged: Int
    )

    @Test(
        "files that a scan left decide when the folder is scanned next",
        arguments: [
            (listed(), [], false, true, true, 30_000, 150), (listed(), [], false, false, true, 4000, 150),
            (.unavailable(reason: ""), [], false, true, true, 4000, 150),
            // New files are reported in rounds: their next scan is requested.
            (listed(hasUnread: true), [], false, true, false, 30_000, 150),
            (listed(hasUnread: true), ["a"], true, false, false, 4000, 150),
            (listed(shortage: ""), [], false, true, false, 1000, 150),
            (listed(shortage: ""), ["a"], true, true, false, 1000, 150),
            (listed(shortage: "", hasUnread: true), [], false, false, false, 1000, 150),
            // Changes do not delay the next look at a file that is being written.
            (listed(), ["a"], false, true, false, 100, 100), (listed(), ["a"], true, false, false, 100, 100),
            (listed(), [], true, true, false, 100, 150),
        ] as [End])
    func end(end: End) {
        var schedule = ScanSchedule(Self.times, at: Self.time(0))
        #expect(schedule.begin(at: Self.time(0)) == false)
        #expect(schedule.record(unsettled: end.unsettled, at: Self.time(0)).isEmpty)
        #expect(schedule.isWaiting == !end.unsettled.isEmpty)
        let isComplete = schedule.end(
            end.scan, cost: .milliseconds(20), hasSlow: end.hasSlow, isWatched: end.isWatched, at: Self.time(0))
        #expect(isComplete == end.isComplete && schedule.due == Self.time(end.due))
        schedule.record(.changed, isChange: true, at: Self.time(50))
        #expect(schedule.due == Self.time(end.dueIfChanged))
    }

    @Test(
        "polling takes less than a hundredth of the time, and is no rarer than the rescan",
        arguments: [(0, 2000), (5, 2000), (20, 4000), (100, 20_000), (1000, 30_000)])
    func pace(cost: Int, interval: Int) {
        for (rescan, interval) in [(30_000, interval), (1000, 1000)] {
            var times = Self.times
            times.rescan = .milliseconds(rescan)
            var schedule = ScanSchedule(times, at: Self.time(0))
            _ = schedule.begin(at: Self.time(0))
            let isComplete = schedule.end(
                Self.listed(), cost: .milliseconds(cost), hasSlow: false, isWatched: false, at: Self.time(0))
            #expect(isComplete && schedule.due == Self.time(interval))
        }
    }

    @Test("files that change for too long get a verdict, and begin anew after they settled")
    func patience() {
        var times = Self.times
        times.settleMax = .seconds(30)
        var schedule = ScanSchedule(times, at: Self.time(0))
        func overdue(_ names: Set<ListName>, after seconds: Int) -> [ListName] {
            schedule.record(unsettled: names, at: Self.time(seconds * 1000)).keys.sorted()
        }
        #expect(overdue(["a"], after: 0) == [] && schedule.isWaiting)
        #expect(overdue(["a", "b"], after: 29) == [])
        #expect(overdue(["a", "b"], after: 30) == ["a"] && schedule.isWaiting)
        #expect(overdue(["b"], after: 31) == [])
        #expect(overdue(["a", "b"], after: 60) == ["b"])
        let last = schedule.record(unsettled: ["b"], at: Self.time(61_000))
        #expect(last["b"]?.verdict == .failure(.stillBeingWritten) && !schedule.isWaiting)
    }

    @Test(
        "a file that changes for too long is not waited for, but read again before the rescan time",
        arguments: [(30_000, 610), (200, 510)])
    func growing(rescan: Int, due: Int) {
        var times = Self.times
        times.rescan = .milliseconds(rescan)
        var schedule = ScanSchedule(times, at: Self.time(0))
        for start in [0, 100, 200] { #expect(Self.scan(&schedule, at: start, unsettled: ["a"]) == false) }
        #expect(schedule.due == Self.time(300) && schedule.begin(at: Self.time(300)) == false)
        #expect(schedule.record(unsettled: ["a"], at: Self.time(300)).count == 1 && !schedule.isWaiting)
        let isComplete = schedule.end(
            Self.listed(), cost: .zero, hasSlow: false, isWatched: true, at: Self.time(310))
        #expect(isComplete && schedule.due == Self.time(due))
    }

    @Test("other settings apply at once with a thorough scan, and patience begins anew")
    func configured() {
        var schedule = ScanSchedule(Self.times, at: Self.time(0))
        _ = Self.scan(&schedule, at: 0, unsettled: ["a"])
        schedule.record(.died("crashed"), isChange: true, at: Self.time(10))
        schedule.configure(
            (settle: .seconds(1), settleMax: .seconds(2), rescan: .seconds(5), rescanContent: .seconds(7)),
            at: Self.time(50))
        #expect(schedule.due == Self.time(50))
        #expect(Self.scan(&schedule, at: 50, unsettled: ["a"]) == true)
        #expect(schedule.due == Self.time(1050))
        // What the watcher said before is still known.
        schedule.record(.ready, isChange: true, at: Self.time(500))
        #expect(Self.scan(&schedule, at: 1050, unsettled: ["a"]) == true)
        #expect(schedule.record(unsettled: ["a"], at: Self.time(2049)).isEmpty)
        #expect(Self.scan(&schedule, at: 2050, unsettled: ["a"]) == false)
        #expect(!schedule.isWaiting && schedule.due == Self.time(4050))
        #expect(Self.scan(&schedule, at: 4050) == false)
        #expect(schedule.due == Self.time(8050))
    }
}
