// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("Records of the parser")
struct ParseRecordTests {
    private static let list: AppList = {
        var list = whole
        list.unusable = [
            UnusableEntry(index: 0, name: "Maps", id: nil, keyPath: "[0].icon"),
            UnusableEntry(index: 3, name: nil, id: "3", keyPath: "[3].icon"),
        ]
        return list
    }()
    private static let whole = AppList(
        entries: [
            AppEntry(name: "Mail", id: "com.example.mail", icon: "http://e.org/a", download: "1.2M"),
            AppEntry(icon: "http://e.org/ü", expected: .of("x")),
            AppEntry(name: "", icon: "u:1", download: "-\n12:\0"),
        ],
        problems: [EntryProblem(keyPath: "[3].icon", reason: "not a string"), .more(7)])
    /// The first line, which names the format.
    private static let header = Array(ParseRecord.encode(.success(AppList())).dropLast(2))

    @Test(
        "a verdict is the same after its way through records",
        arguments: [
            .success(list), .success(AppList()), .success(AppList(images: ["u:A.png", "u:b/%C3%9C%201.png"])),
            .failure(.emptyFile), .failure(.unreadable("Input/output error")),
            .failure(.tooLarge(limit: .mebibytes(8))), .failure(.notAPropertyList("x\n")),
            .failure(.tooDeep(limit: 32)), .failure(.tooManyValues(limit: 8 << 20)), .failure(.noKnownShape),
            .failure(.ambiguousShape(keys: ["a", "b"])), .failure(.repeatedKeys), .failure(.noIconBase),
            .failure(.repeatedKey("icon", line: 7)),
            .failure(.noUsableEntry("[0]: empty")),
            .failure(.tooManyEntries(limit: 50_000)), .failure(.tooMuchText(limit: .mebibytes(64))),
        ] as [ListVerdict])
    func roundTrip(verdict: ListVerdict) throws {
        #expect(try ParseRecord.decode(ParseRecord.encode(verdict), maxEntries: 5) == verdict)
    }

    @Test(
        "a rejection that only the agent gives is no verdict of a parser",
        arguments: [
            .outOfResources("x"), .cancelled, .stillBeingWritten, .notARegularFile, .nameNotUTF8,
            .parserDied(signal: "SIGILL"), .parserKilled(signal: "SIGKILL"), .parserFailed(status: 3),
            .parserTimeout(limit: "15s"), .parserNonsense, .parserUnavailable("x"),
        ] as [ListRejection])
    func codeOfAgent(rejection: ListRejection) {
        #expect(throws: ParseRecord.Malformed.self) {
            try ParseRecord.decode(ParseRecord.encode(.failure(rejection)), maxEntries: 3)
        }
    }

    @Test("output that was cut short anywhere is no verdict")
    func truncated() {
        let output = ParseRecord.encode(.success(Self.list))
        for count in 0..<output.count {
            #expect(throws: ParseRecord.Malformed.self) {
                try ParseRecord.decode(Array(output.prefix(count)), maxEntries: 3)
            }
        }
    }

    @Test(
        "output of another form is no verdict",
        arguments: [
            ".\n\n", ".\n.\n", ".", "E3:u:1----\n", "X\n.\n", "E3:u:1----.\n", "E----\n.\n", "E---\n.\n",
            "E3:u:1---\n.\n",
            "E4:u:1----\n.\n", "E03:u:1----.\n", "E:----\n.\n", "E3 :u:1----\n.\n", "E-3:u:1----\n.\n",
            "E9999999999999999999:u:1----\n.\n",
            "I-\n.\n", "I1:a\n.\n", "I3:u:a1:b\n.\n", "I3:u:a\nI3:u:b\nI3:u:c\nI3:u:d\n.\n",
            "I3:u:a\nR8:too-deep2:32\n.\n", "R8:too-deep2:32\nI3:u:a\n.\n",
            "E3:u 1----\n.\n", "E3:rel----\n.\n", "P1:a-\n.\n",
            "R8:too-deep2:32\nR8:too-deep2:32\n.\n", "R8:TOO-DEEP2:32\n.\n", "R0:\n.\n",
            "R12:no-such-code\n.\n", "R-\n.\n", "R8:too-deep\n.\n", "R8:too-deep-\n.\n", "R8:too-deep2:321:1\n.\n",
            "R8:too-deep1:b\n.\n", "R8:too-deep2:-1\n.\n", "R8:too-deep3:032\n.\n",
            "R8:too-deep20:99999999999999999999\n.\n",
            "R9:too-large4:8MiB\n.\n", "R10:empty-file1:x\n.\n", "R10:unreadable\n.\n",
            "R15:ambiguous-shape1:a1:b1:c1:d1:e1:f\n.\n",
            "E3:u:1--3:abc-\n.\n", "E3:u:1----\nR8:too-deep2:32\n.\n", "R8:too-deep2:32\nE3:u:1----\n.\n",
            "R8:too-deep2:32\nP1:a1:b\n.\n",
            "E3:u:\u{FF}----\n.\n",
        ])
    func malformed(records: String) {
        #expect(throws: ParseRecord.Malformed.self) {
            try ParseRecord.decode(Self.header + Array(records.utf8), maxEntries: 3)
        }
    }

    @Test(
        "output without the first line, or with that of another format, is no verdict",
        arguments: ["", ".\n", "syncagent-list 2\n.\n"])
    func header(output: String) throws {
        let error = try #require(throws: ParseRecord.Malformed.self) {
            try ParseRecord.decode(Array(output.utf8), maxEntries: 3)
        }
        #expect(error.offset == 0)
    }

    @Test("a text that is no UTF-8 is no verdict")
    func notUTF8() {
        let output = Self.header + Array("E4:u:".utf8) + [0xC3, 0x28] + Array("---\n.\n".utf8)
        #expect(throws: ParseRecord.Malformed.self) { try ParseRecord.decode(output, maxEntries: 3) }
    }

    @Test("more entries, problems or text than there can be is no verdict")
    func limits() {
        for records in [
            String(repeating: "E3:u:1----\n", count: 4), String(repeating: "P1:a1:b\n", count: 102),
            "E3:u:14097:\(String(repeating: "x", count: 4097))---\n",
            "E8193:u:\(String(repeating: "x", count: 8191))---\n",
        ] {
            #expect(throws: ParseRecord.Malformed.self) {
                try ParseRecord.decode(Self.header + Array((records + ".\n").utf8), maxEntries: 3)
            }
        }
    }

    @Test("a list that comes to more than is read becomes a rejection")
    func tooLong() throws {
        let entry = AppEntry(icon: IconURL("u:" + String(repeating: "x", count: 8190)))
        let output = ParseRecord.encode(.success(AppList(entries: Array(repeating: entry, count: 9000))))
        let verdict = try ParseRecord.decode(output, maxEntries: 9000)
        #expect(verdict == .failure(.tooMuchText(limit: ParseRecord.maxBytes)))
    }
}
