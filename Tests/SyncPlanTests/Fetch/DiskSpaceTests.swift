// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Room on a file system")
struct DiskSpaceTests {
    /// What becomes of a file: it fits, it alone does not, or nothing does.
    enum Verdict { case fits, isTooLarge, isFull }

    @Test(
        "a file fits if the reserve stays free beside it, in bytes and in inodes",
        arguments: [
            // Of 100 MiB, 5 are kept.
            (6 << 20, nil, nil, .fits), (6 << 20, nil, 1 << 20, .fits), (6 << 20, nil, 1 << 20 | 1, .isTooLarge),
            (5 << 20 | 64 << 10, nil, nil, .fits), (5 << 20 | 65_535, nil, nil, .isFull),
            (5 << 20 | 65_535, nil, 65_535, .fits), (5 << 20 | 65_535, nil, 65_536, .isFull),
            (5 << 20, nil, 0, .fits), (5 << 20, nil, 1, .isFull), (0, nil, 0, .isFull), (0, nil, nil, .isFull),
            // Of 1,000 inodes, 50 are kept.
            (100 << 20, 51, 1, .fits), (100 << 20, 50, 1, .isFull), (100 << 20, 0, nil, .isFull),
            (100 << 20, 51, 99 << 20, .isTooLarge),
        ] as [(Int, Int?, Int?, Verdict)])
    func verdict(free: Int, inodes: Int?, bytes: Int?, expected: Verdict) {
        let space = DiskSpace(
            folder: "/cache", bytes: .init(free: free, total: 100 << 20),
            inodes: inodes.map { .init(free: $0, total: 1000) })
        let shortage = space.shortage(for: bytes, above: .percent(5))
        let verdict: Verdict = shortage.map { $0.isGeneral ? .isFull : .isTooLarge } ?? .fits
        #expect(verdict == expected)
        #expect(shortage == nil || shortage?.bytes == bytes ?? DiskSpace.usual)
    }

    @Test(
        "documents leave the reserve free, short ones half of it, and the shortest are always tried",
        arguments: [
            // Of 100 MiB, 5 are kept.
            (50 << 20, 45 << 20), (5 << 20, 64 << 10), (3 << 20, 64 << 10), ((5 << 20) / 2 + 9000, 9000),
            ((5 << 20) / 2, 4096), (0, 4096),
        ])
    func documents(free: Int, room: Int) {
        let space = DiskSpace(folder: "/cache", bytes: .init(free: free, total: 100 << 20))
        #expect(space.roomForDocuments(above: .percent(5)) == room)
        #expect(space.shortage(forDocuments: room, above: .percent(5)) == nil)
        let shortage = space.shortage(forDocuments: room + 1, above: .percent(5))
        #expect(shortage?.bytes == room + 1 && shortage?.isGeneral == false)
    }

    @Test("the reason of a shortage says the free space, the folder and the setting of the reserve")
    func reasons() {
        let space = DiskSpace(
            folder: "/cache", bytes: .init(free: 200 << 10, total: 1 << 20), inodes: .init(free: 100, total: 1000))
        #expect(
            space.shortage(for: 150_000, above: .percent(5))?.reason
                == "146 KiB do not fit: 200 KiB of 1 MiB are free in /cache, and cache.minFree (5%) reserves 64 KiB")
        #expect(
            space.shortage(for: nil, above: .bytes(.mebibytes(500)))?.reason
                == "only 200 KiB of 1 MiB are free in /cache, and cache.minFree (500 MiB) reserves 500 MiB")
        #expect(
            space.shortage(for: nil, above: .percent(20))?.reason
                == "only 100 of 1000 inodes are free in /cache, and cache.minFree (20%) reserves 200")
    }
}
