import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("The space reserve")
struct SpaceReserveTests {
    @Test(
        "a space reserve is a percentage or a size, and is read back from its text",
        arguments: [
            ("5%", .percent(5)), ("5 %", .percent(5)), ("0%", .percent(0)), ("90%", .percent(90)),
            ("500MiB", .bytes(.mebibytes(500))), ("1000", .bytes(ByteCount(1000))),
        ] as [(String, SpaceReserve)])
    func read(text: String, reserve: SpaceReserve) {
        #expect(SpaceReserve(text) == reserve)
        #expect(SpaceReserve(reserve.description) == reserve)
    }

    @Test(
        "text that is no percentage or size is no space reserve",
        arguments: ["", "%", "91%", "-5%", "5.5%", "5%%", "5 percent", "half", "5MB"])
    func refuse(text: String) {
        #expect(SpaceReserve(text) == nil)
    }

    @Test(
        "a space reserve in percent holds for bytes and inodes, a size for bytes; both have a minimum",
        arguments: [
            (.percent(5), 1000 << 20, 50 << 20, 50 << 20), (.percent(0), 1 << 30, 64 << 10, 16),
            (.percent(5), 1 << 20, 64 << 10, 52_428), (.percent(90), .max, .max / 100 * 90 + 6, .max / 100 * 90 + 6),
            (.bytes(.mebibytes(3)), 1 << 20, 3 << 20, 16), (.bytes(ByteCount(1)), 1 << 20, 64 << 10, 16),
        ] as [(SpaceReserve, Int, Int, Int)])
    func amount(reserve: SpaceReserve, total: Int, bytes: Int, inodes: Int) {
        #expect(reserve.bytes(of: total) == bytes)
        #expect(reserve.inodes(of: total) == inodes)
    }
}
