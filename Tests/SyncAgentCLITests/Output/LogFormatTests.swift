// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Logging
import Testing

@testable import SyncAgentCLI

@Suite("The form of lines on stderr")
struct LogFormatTests {
    /// The value that systemd would set for a descriptor.
    private static func stream(of descriptor: Int32) -> String {
        var status = stat()
        fstat(descriptor, &status)
        return "\(status.st_dev):\(status.st_ino)"
    }

    @Test("stderr is the journal if it is the file that JOURNAL_STREAM names")
    func detection() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(LogFormat(of: ends[1], journal: Self.stream(of: ends[1])) == .journal)
        #expect(LogFormat(of: ends[1], journal: nil) == .plain)
        for other in ["", "1:2", "x", Self.stream(of: ends[1]) + " ", Self.stream(of: STDIN_FILENO) + "0"] {
            #expect(LogFormat(of: ends[1], journal: other) == .plain)
        }
        #expect(LogFormat(of: -1, journal: "0:0") == .plain)
    }

    @Test(
        "each level has its priority, and no line has the time",
        arguments: zip(
            Logger.Level.allCases,
            ["<7>trace", "<7>debug", "<6>info", "<5>notice", "<4>warning", "<3>error", "<2>critical"]))
    func levels(level: Logger.Level, expected: String) {
        var handler = LogLineHandler()
        handler.format = .journal
        let event = LogEvent(
            level: level, message: "list\nread", metadata: ["list": "a\nb"], source: nil, file: "", function: "",
            line: 0)
        let line = handler.line(for: event, at: Timestamp(sinceEpoch: .seconds(1_795_229_092)))
        #expect(line == "\(expected) list\\u000aread list=\"a\\nb\"")
    }

    @Test("text over several lines has the priority on each")
    func severalLines() {
        #expect(LogFormat.journal.marked("a\n\nb", .error) == "<3>a\n<3>\n<3>b")
        #expect(LogFormat.plain.marked("a\n\nb", .error) == "a\n\nb")
    }
}
