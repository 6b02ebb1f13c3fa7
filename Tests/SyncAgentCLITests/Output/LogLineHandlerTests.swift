// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Logging
import Testing

@testable import SyncAgentCLI

@Suite("Log lines")
struct LogLineHandlerTests {
    private static func line(
        _ message: Logger.Message = "list read", _ metadata: Logger.Metadata? = nil, level: Logger.Level = .info,
        by handler: LogLineHandler = LogLineHandler()
    ) -> String {
        let event = LogEvent(
            level: level, message: message, metadata: metadata, source: nil, file: "", function: "", line: 0)
        return handler.line(for: event, at: Timestamp(sinceEpoch: .seconds(1_795_229_092)))
    }

    @Test("a line has the time, the level, the message and the metadata, sorted by key")
    func order() {
        let line = Self.line("list read", ["list": "apps.plist", "apps": "16", "problems": "0"])
        #expect(line == "2026-11-21T02:44:52Z info list read apps=16 list=apps.plist problems=0")
    }

    @Test("every level has its name", arguments: Logger.Level.allCases)
    func levels(level: Logger.Level) {
        #expect(Self.line(level: level) == "2026-11-21T02:44:52Z \(level.rawValue) list read")
    }

    @Test(
        "a value that is not one plain word is a JSON string, and does nothing to a terminal",
        arguments: [
            ("plain", "plain"), ("http://a/b?c=d", "http://a/b?c=d"), ("", "\"\""), ("two words", "\"two words\""),
            ("a\"b", "\"a\\\"b\""), ("a\nb", "\"a\\nb\""), ("a\tb", "\"a\\tb\""), ("back\\slash", "back\\slash"),
            ("über", "über"), ("\u{1B}[31m", "\"\\u001b[31m\""), ("\u{202E}gnp.exe", "\"\\u202egnp.exe\""),
            ("a\u{2028}b", "\"a\\u2028b\""), ("\u{9B}0m", "\"\\u009b0m\""), ("\u{7F}", "\"\\u007f\""),
        ])
    func quoting(value: String, expected: String) {
        #expect(Self.line("icon stored", ["v": "\(value)"]) == "2026-11-21T02:44:52Z info icon stored v=\(expected)")
    }

    @Test("a message with control characters stays one line")
    func message() {
        #expect(Self.line("a\nb\u{1B}") == "2026-11-21T02:44:52Z info a\\u000ab\\u001b")
    }

    @Test(
        "a layout for programs has time, level and message as members, and the priority in the journal alone",
        arguments: [
            (
                .logfmt, .plain,
                #"time=2026-11-21T02:44:52Z level=warning msg="list read" apps=16 list="a b" reason="\u202e\u001b""#
            ),
            (
                .logfmt, .journal,
                #"<4>time=2026-11-21T02:44:52Z level=warning msg="list read" apps=16 list="a b" reason="\u202e\u001b""#
            ),
            (
                .json, .plain,
                #"{ "time": "2026-11-21T02:44:52Z", "level": "warning", "msg": "list read", "#
                    + #""apps": "16", "list": "a b", "reason": "\u202e\u001b" }"#
            ),
            (
                .json, .journal,
                #"<4>{ "time": "2026-11-21T02:44:52Z", "level": "warning", "msg": "list read", "#
                    + #""apps": "16", "list": "a b", "reason": "\u202e\u001b" }"#
            ),
        ] as [(LogLayout, LogFormat, String)])
    func layouts(layout: LogLayout, format: LogFormat, expected: String) {
        var handler = LogLineHandler()
        (handler.layout, handler.format) = (layout, format)
        let facts: Logger.Metadata = ["list": "a b", "apps": "16", "reason": "\u{202E}\u{1B}"]
        #expect(Self.line("list read", facts, level: .warning, by: handler) == expected)
    }

    @Test("an event's own metadata replaces the logger's")
    func merging() {
        var handler = LogLineHandler()
        handler[metadataKey: "list"] = "old"
        handler[metadataKey: "run"] = "7"
        #expect(handler[metadataKey: "run"] == "7")
        #expect(Self.line("list read", ["list": "new"], by: handler).hasSuffix("list read list=new run=7"))
        #expect(Self.line("list read", by: handler).hasSuffix("list read list=old run=7"))
    }
}
