// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Reports
import Testing

@testable import SyncAgentCLI

@Suite("Lines of events")
struct EventLineTests {
    @Test(
        "an event that is more than a minute in the future has no time, because the clock was ahead",
        arguments: [
            ("2026-11-21T11:59:00Z", "2026-11-21T11:59:00Z"), ("2026-11-21T12:01:00Z", "2026-11-21T12:01:00Z"),
            ("2026-11-21T12:01:01Z", "(clock was ahead)   "), ("2027-12-26T00:00:00Z", "(clock was ahead)   "),
        ])
    func time(time: String, shown: String) throws {
        let json = #"{"id": 7, "time": "\#(time)", "kind": "paused", "message": "Downloads are paused."}"#
        let event = try JSONDecoder().decode(EventRecord.self, from: Data(json.utf8))
        let line = "\(shown)  7  paused" + String(repeating: " ", count: 18) + "Downloads are paused."
        #expect(EventsCommand.lines(of: event, now: ReportSample.now, fitting: nil).map(\.plain) == [line])
    }
}
