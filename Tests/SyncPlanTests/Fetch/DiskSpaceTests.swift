// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

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

    @Test("the reason says what there is, where, and which setting keeps how much")
    func reasons() {
        let space = DiskSpace(
            folder: "/cache", bytes: .init(free: 200 << 10, total: 1 << 20), inodes: .init(free: 100, total: 1000))
        #expect(
            space.shortage(for: 150_000, above: .percent(5))?.reason
                == "146 KiB do not fit: 200 KiB of 1 MiB are free in /cache, of which cache.minFree (5%) keeps 64 KiB")
        #expect(
            space.shortage(for: nil, above: .bytes(.mebibytes(500)))?.reason
                == "only 200 KiB of 1 MiB are free in /cache, of which cache.minFree (500 MiB) keeps 500 MiB")
        #expect(
            space.shortage(for: nil, above: .percent(20))?.reason
                == "only 100 of 1000 inodes are free in /cache, of which cache.minFree (20%) keeps 200")
    }
}
