import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("How much is left free")
struct SpaceReserveTests {
    @Test(
        "a percentage or a size is read, and shown so that it is read back",
        arguments: [
            ("5%", .percent(5)), ("5 %", .percent(5)), ("0%", .percent(0)), ("90%", .percent(90)),
            ("500MiB", .bytes(.mebibytes(500))), ("1000", .bytes(ByteCount(1000))),
        ] as [(String, SpaceReserve)])
    func read(text: String, reserve: SpaceReserve) {
        #expect(SpaceReserve(text) == reserve)
        #expect(SpaceReserve(reserve.description) == reserve)
    }

    @Test("anything else is not", arguments: ["", "%", "91%", "-5%", "5.5%", "5%%", "5 percent", "half", "5MB"])
    func refuse(text: String) {
        #expect(SpaceReserve(text) == nil)
    }

    @Test(
        "a share is of bytes and inodes alike, and a size of bytes; a little is left in any case",
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
