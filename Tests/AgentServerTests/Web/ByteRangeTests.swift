// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AgentServer

@Suite("Ranges and conditions of requests for images")
struct ByteRangeTests {
    @Test(
        "a single range is the part that it names, within the file",
        arguments: [
            ("bytes=0-", .part(0..<100)), ("bytes=0-0", .part(0..<1)), ("bytes=10-19", .part(10..<20)),
            ("bytes=90-200", .part(90..<100)), ("bytes=99-99", .part(99..<100)), ("bytes=-1", .part(99..<100)),
            ("bytes=-200", .part(0..<100)), ("Bytes=5-", .part(5..<100)),
            ("bytes=0-9223372036854775807", .part(0..<100)), ("bytes=100-", .unsatisfiable),
            ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable), (nil, .whole), ("", .whole),
            ("bytes", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=20-10", .whole),
            ("bytes=0-1,5-6", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("bytes= 1-2", .whole),
            ("bytes=0-99999999999999999999", .whole), ("lines=0-1", .whole), ("bytes=--1", .whole),
        ] as [(String?, ByteRange)])
    func ranges(field: String?, range: ByteRange) {
        #expect(ByteRange(field, if: nil, tag: "\"a\"", length: 100) == range)
    }

    @Test("an empty file has no part", arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
    func empty(field: String) {
        #expect(ByteRange(field, if: nil, tag: "\"a\"", length: 0) == .unsatisfiable)
    }

    @Test(
        "a range counts only as long as the file is the same",
        arguments: [("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), ("Sat, 21 Nov 2026 02:44:52 GMT", false)])
    func condition(tag: String, isRange: Bool) {
        #expect(
            ByteRange("bytes=0-1", if: tag, tag: "\"a\"", length: 9) == (isRange ? .part(0..<2) : .whole))
    }

    @Test(
        "a client has the file if one of its tags is that of the file",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("\"b\",W/\"a\"\t", true), ("*", true),
            ("\"b\"", false), ("a", false), ("", false), (nil, false), (",", false), ("\"a", false),
        ] as [(String?, Bool)])
    func revalidation(field: String?, isCurrent: Bool) {
        #expect(Revalidation.isCurrent(field, tag: "\"a\"") == isCurrent)
    }
}
