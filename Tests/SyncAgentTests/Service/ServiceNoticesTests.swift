// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgent

@Suite("Notices to a service manager")
struct ServiceNoticesTests {
    private static func afterStart() -> ServiceNotices {
        var notices = ServiceNotices(process: 811)
        _ = notices.ready("no icons", at: .zero)
        return notices
    }

    @Test("READY is sent once, with the process and the status")
    func ready() throws {
        var notices = ServiceNotices(process: 811)
        #expect(notices.phase == .starting)
        let first = notices.ready("5 icons ready", at: .seconds(10))
        #expect(first == "READY=1\nMAINPID=811\nSTATUS=5 icons ready")
        #expect(notices.phase == .ready)
        let second = notices.ready("5 icons ready", at: .seconds(20))
        #expect(second == nil)
    }

    @Test("STATUS is sent when it changes, and once a second at most")
    func status() {
        var notices = Self.afterStart()
        let steps: [(String, Duration, String?)] = [
            ("1 icon ready", .milliseconds(900), nil), ("1 icon ready", .seconds(1), "STATUS=1 icon ready"),
            ("1 icon ready", .seconds(5), nil), ("2 icons ready", .seconds(6), "STATUS=2 icons ready"),
            ("3 icons ready", .milliseconds(6_999), nil), ("3 icons ready", .seconds(7), "STATUS=3 icons ready"),
        ]
        for (text, time, expected) in steps {
            let notice = notices.status(text, at: time)
            #expect(notice == expected, "\(text) at \(time)")
        }
        #expect(notices.pause(at: .milliseconds(7_400)) == .milliseconds(600))
        #expect(notices.pause(at: .seconds(9)) == .zero)
    }

    @Test("a start that makes progress extends its timeout")
    func longStart() {
        var notices = ServiceNotices(process: 811)
        #expect(notices.stillStarting() == "EXTEND_TIMEOUT_USEC=30000000")
        let notice = notices.status("no icons ready", at: .zero)
        #expect(notice == "STATUS=no icons ready")
        // The status of the moment before is not told again.
        let ready = notices.ready("1 icon ready", at: .milliseconds(10))
        #expect(ready == "READY=1\nMAINPID=811")
        #expect(notices.stillStarting() == nil)
    }

    @Test("a reload begins with RELOADING and the time, and ends with READY")
    func reload() {
        var notices = Self.afterStart()
        let begin = notices.reloading(at: .milliseconds(1_234_567))
        #expect(begin == "RELOADING=1\nMONOTONIC_USEC=1234567000")
        let again = notices.reloading(at: .seconds(1))
        #expect(again == nil)
        let end = notices.reloaded()
        #expect(end == "READY=1")
        let more = notices.reloaded()
        #expect(more == nil && notices.phase == .ready)
    }

    @Test("no reload is announced during the start or the stop")
    func reloadElsewhere() {
        var starting = ServiceNotices(process: 811)
        let early = [starting.reloading(at: .zero), starting.reloaded()]
        #expect(early == [nil, nil] && starting.phase == .starting)
        var stopping = Self.afterStart()
        _ = stopping.stopping()
        let late = [stopping.reloading(at: .zero), stopping.reloaded()]
        #expect(late == [nil, nil] && stopping.phase == .stopping)
    }

    @Test("STOPPING is sent once, followed only by extensions of the timeout")
    func stop() {
        var notices = Self.afterStart()
        #expect(notices.stillStopping() == nil)
        #expect(notices.alive() == "WATCHDOG=1")
        let stop = notices.stopping()
        #expect(stop == "STOPPING=1")
        let others = [
            notices.stopping(), notices.ready("x", at: .seconds(9)), notices.status("x", at: .seconds(9)),
            notices.alive(),
        ]
        #expect(others == [nil, nil, nil, nil])
        #expect(notices.stillStopping() == "EXTEND_TIMEOUT_USEC=30000000")
    }

    @Test("a long STATUS is cut")
    func longStatus() {
        var notices = Self.afterStart()
        let notice = notices.status(String(repeating: "ü", count: 5_000), at: .seconds(2))
        #expect(notice?.utf8.count == "STATUS=".utf8.count + 400)
    }
}

@Suite("The interval of a watchdog")
struct WatchdogIntervalTests {
    @Test(
        "the watchdog is fed at half of its timeout, if WATCHDOG_PID is this process",
        arguments: [
            ("30000000", nil, .seconds(15)), ("30000000", "811", .seconds(15)), ("30000000", "812", nil),
            ("30000000", "", nil), ("30000000", "x", nil), (nil, nil, nil), (nil, "811", nil), ("0", nil, nil),
            ("-5", nil, nil), ("x", nil, nil), ("1", nil, .microseconds(1)),
            ("9223372036854775807", nil, .seconds(15_768_000)), ("99999999999999999999", nil, nil),
        ] as [(String?, String?, Duration?)])
    func interval(time: String?, recipient: String?, expected: Duration?) {
        #expect(WatchdogInterval.read(time: time, recipient: recipient, process: 811) == expected)
    }
}
