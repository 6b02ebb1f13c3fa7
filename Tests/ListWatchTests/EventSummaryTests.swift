// SPDX-License-Identifier: GPL-2.0-only
import Glibc
import ListWatch
import Testing

@Suite("Summary of events")
struct EventSummaryTests {
    private static let cases: [(events: [(watch: Int32, mask: Int32)], records: [WatchRecord])] = [
        ([], []),
        ([(1, IN_CREATE), (1, IN_MODIFY), (1, IN_CLOSE_WRITE), (1, IN_CREATE | IN_ISDIR)], [.changed]),
        ([(1, IN_CREATE), (-1, IN_Q_OVERFLOW), (1, IN_DELETE)], [.overflow]),
        ([(-1, IN_Q_OVERFLOW)], [.overflow]),
        // Nothing else of an event without a watch descriptor has a meaning.
        ([(-1, IN_DELETE_SELF)], [.overflow]),
        ([(1, IN_DELETE), (1, IN_DELETE_SELF), (1, IN_IGNORED)], [.changed, .lost(.deleteSelf)]),
        ([(1, IN_MOVE_SELF)], [.lost(.moveSelf)]),
        ([(1, IN_UNMOUNT), (1, IN_IGNORED)], [.lost(.unmount)]),
        ([(1, IN_IGNORED)], [.lost(.ignored)]),
        ([(-1, IN_Q_OVERFLOW), (1, IN_MOVE_SELF), (1, IN_DELETE_SELF)], [.overflow, .lost(.moveSelf)]),
    ]

    @Test(
        "a summary has each record once at most, an overflow instead of changes, and a loss last",
        arguments: cases.indices)
    func records(index: Int) {
        let (events, records) = Self.cases[index]
        var summary = EventSummary()
        for event in events { summary.add(watch: event.watch, mask: UInt32(event.mask)) }
        #expect(summary.records == records)
    }

    @Test(
        "a record of the watch is written as a line",
        arguments: [
            (.ready, "ready\n"), (.changed, "changed\n"), (.overflow, "overflow\n"),
            (.lost(.deleteSelf), "lost delete-self\n"), (.lost(.moveSelf), "lost move-self\n"),
            (.lost(.unmount), "lost unmount\n"), (.lost(.ignored), "lost ignored\n"),
            (.refused(errno: "ENOSPC"), "refused ENOSPC\n"),
        ] as [(WatchRecord, String)])
    func line(record: WatchRecord, line: String) {
        #expect(record.line == line)
    }
}
