// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("Byte counts")
struct ByteCountTests {
    @Test(
        "a number with or without a unit is read",
        arguments: [
            ("0", 0), ("1000", 1000), ("1B", 1), ("1 B", 1), ("64KiB", 65_536), ("64 KiB", 65_536),
            ("5MiB", 5 << 20), ("1 GiB", 1 << 30), ("007", 7), ("9223372036854775807", Int.max),
        ])
    func read(text: String, bytes: Int) {
        #expect(ByteCount(text) == ByteCount(bytes))
    }

    @Test(
        "text that is no number with a known unit is not a byte count",
        arguments: [
            "", " ", "B", "MiB", "5MB", "5mib", "5K", "-1", "+1", "1.5MiB", " 5", "5 ", "5MiB ", "5 Mi B", "0x10",
            "1e6",
            "9223372036854775808", "9007199254740992KiB", "8589934592GiB", "５", "1\u{301}", "5\nMiB",
        ])
    func refuse(text: String) {
        #expect(ByteCount(text) == nil)
    }

    @Test(
        "a byte count is shown in the largest unit that divides it, and read back",
        arguments: [
            (0, "0 B"), (1, "1 B"), (1000, "1000 B"), (1024, "1 KiB"), (1536, "1536 B"), (5 << 20, "5 MiB"),
            (3 << 29, "1536 MiB"), (1 << 40, "1024 GiB"), (Int.max, "9223372036854775807 B"),
        ])
    func show(bytes: Int, text: String) {
        #expect(ByteCount(bytes).description == text)
        #expect(ByteCount(text) == ByteCount(bytes))
    }

    @Test(
        "a byte count for people has two digits, or whole units",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1535, "1.4 KiB"), (1536, "1.5 KiB"), (10_239, "9.9 KiB"),
            (10_752, "10 KiB"), (91_234, "89 KiB"), (3_250_586, "3.1 MiB"), (5 << 30, "5 GiB"), (5 << 40, "5120 GiB"),
        ])
    func round(bytes: Int, text: String) {
        #expect(ByteCount(bytes).rounded == text)
    }

    @Test("units of byte counts are powers of 1024")
    func units() {
        #expect(ByteCount(1024 << 10) == .mebibytes(1))
        #expect(ByteCount(1023 << 10) < .mebibytes(1))
    }
}
