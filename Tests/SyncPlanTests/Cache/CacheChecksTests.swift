// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Looks at the cache folder")
struct CacheChecksTests {
    private static let doubtful: Set = [Digest.of("x")]

    private static var suspicious: CacheInspection {
        var found = CacheInspection()
        found.isSuspicious = true
        return found
    }

    private static var troubled: CacheInspection {
        var found = CacheInspection()
        found.trouble = "no"
        return found
    }

    /// Checks after a first look that found everything in its place.
    private static func searched() -> CacheChecks {
        var checks = CacheChecks()
        _ = checks.begin()
        _ = checks.end(CacheInspection(), at: Sample.start)
        return checks
    }

    @Test("the first look is complete, and only the first look takes unnamed files for leftovers of a crash")
    func first() {
        var checks = CacheChecks(doubtful: Self.doubtful)
        #expect(checks.isNeeded(beforePublishing: false) && checks.isInDoubt && !checks.isKnown)
        let order = CacheChecks.Order(
            isComplete: true, hasSample: false, removesOthers: true, doubtful: Self.doubtful)
        #expect(checks.begin() == order)
        #expect(checks.isUnderWay && !checks.isNeeded(beforePublishing: true))
        #expect(
            checks.end(CacheInspection(), at: Sample.start) && checks.isSearched && !checks.isInDoubt && checks.isKnown)
        checks.suspect(isComplete: true)
        let next = checks.begin()
        #expect(next.isComplete && !next.removesOthers && next.doubtful.isEmpty)
    }

    @Test(
        "an event makes a quick or a complete look due",
        arguments: [
            // What happens, whether a look is needed, whether one is before a publication, and is complete.
            ([], false, false, nil), (["publication"], false, true, false), (["quick"], true, true, false),
            (["complete"], true, true, true), (["quick", "complete"], true, true, true),
            (["complete", "quick"], true, true, true), (["complete", "publication"], false, true, false),
        ] as [([String], Bool, Bool, Bool?)])
    func due(events: [String], isNeeded: Bool, isNeededToPublish: Bool, isComplete: Bool?) {
        var checks = Self.searched()
        for event in events {
            switch event {
            case "publication": checks.recordPublication()
            case "quick": checks.suspect(isComplete: false)
            default: checks.suspect(isComplete: true)
            }
        }
        #expect(checks.isNeeded(beforePublishing: false) == isNeeded)
        #expect(checks.isNeeded(beforePublishing: true) == isNeededToPublish)
        if let isComplete { #expect(checks.begin().isComplete == isComplete) }
    }

    @Test("a quick look that finds something amiss is followed by a complete one")
    func suspicion() {
        var checks = Self.searched()
        checks.suspect(isComplete: false)
        #expect(checks.begin().hasSample)
        #expect(!checks.end(Self.suspicious, at: Sample.start) && checks.isInDoubt)
        #expect(checks.begin().isComplete)
        var found = CacheInspection()
        found.restoredNames = 2
        #expect(checks.end(found, at: Sample.start) && !checks.isInDoubt)
        #expect(checks.lastRepair == "\(Sample.start): 2 names")
    }

    @Test("a suspicion during a quick look makes a complete look follow, whatever the quick look finds")
    func during() {
        var checks = Self.searched()
        checks.suspect(isComplete: false)
        _ = checks.begin()
        checks.suspect(isComplete: true)
        let isConclusive = checks.end(CacheInspection(), at: Sample.start)
        #expect(!isConclusive)
        #expect(checks.begin().isComplete)
        checks.suspect(isComplete: true)
        #expect(checks.end(CacheInspection(), at: Sample.start) && !checks.isNeeded(beforePublishing: false))
    }

    @Test("a complete look that could not be taken is taken before the next publication")
    func trouble() {
        var checks = CacheChecks()
        _ = checks.begin()
        #expect(!checks.end(Self.troubled, at: Sample.start) && !checks.isSearched && !checks.isKnown)
        #expect(!checks.isNeeded(beforePublishing: false) && checks.isNeeded(beforePublishing: true))
        #expect(checks.begin().isComplete)
    }

    @Test("another cache folder is searched as after a start")
    func otherFolder() {
        var checks = Self.searched()
        checks.recordOtherFolder()
        #expect(!checks.isSearched && checks.begin().removesOthers)
    }
}
