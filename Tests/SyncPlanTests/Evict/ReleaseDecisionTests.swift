// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncPlan

@Suite("Decisions to release a superseded generation")
struct ReleaseDecisionTests {
    private typealias Row = (test: LeaseTest, byHand: ReleaseDecision, afterGrace: ReleaseDecision)

    private static let afterLeaseMax: [(LeaseTest, ReleaseDecision)] = [
        (.free, .remove), (.held, .removeDespiteLease), (.untestable, .remove), (.failed, .removeDespiteLease),
    ]

    @Test("where all leases are visible, only a lease or an error that may be temporary keeps a generation")
    func seen() {
        let rows: [Row] = [
            (.free, .remove, .remove), (.held, .keep, .keep), (.untestable, .keep, .remove), (.failed, .fail, .fail),
        ]
        expect(rows, seesAllLeases: true)
    }

    @Test("where leases may be hidden, a generation has its whole grace, and visible leases keep it longer")
    func unseen() {
        let rows: [Row] = [
            (.free, .keep, .remove), (.held, .keep, .keep), (.untestable, .keep, .remove), (.failed, .fail, .fail),
        ]
        expect(rows, seesAllLeases: false)
    }

    @Test("no lease is valid for longer than cache.leaseMax", arguments: [false, true])
    func leaseMax(seesAllLeases: Bool) {
        let release = GenerationRelease(generation: 1, ignoresLeases: true, isPastGrace: true)
        for (test, decision) in Self.afterLeaseMax {
            #expect(release.decision(after: test, seesAllLeases: seesAllLeases) == decision, "\(test)")
        }
    }

    private func expect(_ rows: [Row], seesAllLeases: Bool) {
        for row in rows {
            for (isPastGrace, decision) in [(false, row.byHand), (true, row.afterGrace)] {
                let release = GenerationRelease(generation: 1, isPastGrace: isPastGrace)
                #expect(
                    release.decision(after: row.test, seesAllLeases: seesAllLeases) == decision,
                    "\(row.test), \(isPastGrace)")
            }
        }
    }

    @Test("leases are in doubt on file systems of several hosts, and not on those of one")
    func fileSystems() {
        // NFS, CIFS, SMB 2, FUSE, Ceph; ext4, xfs, btrfs, tmpfs, overlayfs.
        for magic: UInt32 in [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x00C3_6400] {
            #expect(LeaseDoubt.of(fileSystem: magic)?.reason.contains("cache.grace") == true)
        }
        for magic: UInt32 in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
            #expect(LeaseDoubt.of(fileSystem: magic) == nil)
        }
        #expect(
            LeaseDoubt.of(fileSystem: 0x6969)?.reason
                == "the cache is on NFS: set cache.grace to 1h or more if other hosts read it")
    }
}
