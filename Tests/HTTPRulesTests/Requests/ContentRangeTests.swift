import HTTPRules
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Content-Range")
struct ContentRangeTests {
    @Test(
        "a Content-Range of bytes is read",
        arguments: [
            ("bytes 5-9/10", 5, 9, 10), ("bytes 0-0/1", 0, 0, 1), ("BYTES 5-9/11", 5, 9, 11),
            ("bytes 05-009/0010", 5, 9, 10), ("bytes 5-9/*", 5, 9, nil),
            ("bytes 0-9223372036854775806/9223372036854775807", 0, .max - 1, .max),
        ] as [(String, Int, Int, Int?)])
    func good(value: String, first: Int, last: Int, length: Int?) throws {
        let range = try #require(ContentRange(value))
        #expect(range.first == first && range.last == last && range.length == length)
    }

    @Test(
        "text that is no Content-Range of bytes is refused",
        arguments: [
            "", "bytes", "bytes ", "bytes 5-9", "bytes 5-9/", "bytes /10", "bytes 5/10", "bytes -9/10", "bytes 5-/10",
            "bytes 9-5/10", "bytes 5-10/10", "bytes 10-10/10", "bytes 0-0/0", "bytes 9-5/*", "bytes 5-9/**",
            "bytes 5-9/* ", "bytes 0-9223372036854775807/*", "bytes */*", "bytes */10", "bytes *",
            "bytes=5-9/10", "bytes: 5-9/10", "bytes5-9/10", "bytes  5-9/10", " bytes 5-9/10", "bytes 5-9/10 ",
            "bytes\t5-9/10", "bytes 5 - 9/10", "bytes 5-9 /10", "bytes 5-9/ 10", "bytes 5-9/10/10", "bytes 5-9-9/10",
            "bytes 5-9/10, bytes 5-9/10", "bytes 5-9,5-9/10", "bytes +5-9/10", "bytes 5-+9/10", "bytes 0x5-9/10",
            "bytes ٥-٩/١٠", "bytes 5.0-9/10", "lines 5-9/10", "5-9/10", "bytes 5-9/9223372036854775808",
            "bytes 18446744073709551617-18446744073709551618/18446744073709551619",
        ])
    func bad(value: String) {
        #expect(ContentRange(value) == nil)
    }
}
