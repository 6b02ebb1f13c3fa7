// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import SyncPlan

@Suite("Retention of generations and images")
struct RetentionTests {
    private static let grace: Duration = .seconds(600)

    /// Generations of one list, each with these images, ten seconds apart; with the catalog of a list that is gone.
    private static func retention(_ generations: [[IconURL: String]]) -> (Retention, Catalog) {
        var (retention, catalog) = (Retention(Settings()), Sample.catalog)
        for (index, images) in generations.enumerated() {
            let document = Sample.document("1.plist", images)
            let digest = Digest.of(document.json)
            var manifest = Manifest(generation: index + 1, published: Sample.start, lists: [:])
            manifest.lists["1.plist"] = Manifest.List(sha256: digest, apps: 1, ready: 1, pending: 0, failed: 0)
            retention.ledger.publish(
                manifest, newDocuments: [digest: document], in: &catalog,
                at: Sample.start + .seconds(10 * index))
        }
        return (retention, catalog)
    }

    private static func releases(_ step: Reconciler.Job?) -> [Int]? {
        if case .release(let releases) = step { releases.map(\.generation) } else { nil }
    }

    private static func removal(_ step: Reconciler.Job?) -> RetirementPlan? {
        if case .remove(let plan) = step { plan } else { nil }
    }

    @Test("a generation goes after its grace, and then what it alone named")
    func grace() throws {
        var (retention, catalog) = Self.retention([["a": "x"], ["a": "y"]])
        let superseded = Sample.start + .seconds(10)
        #expect(retention.nextStep == superseded + Self.grace)
        #expect(retention.begin(in: catalog, now: superseded + Self.grace + .seconds(-1)) == nil)
        let now = superseded + Self.grace
        #expect(Self.releases(retention.begin(in: catalog, now: now)) == [1] && !retention.isIdle)
        retention.end(ReleaseResult(removed: [1]), in: &catalog, at: now)
        #expect(retention.isIdle)
        let plan = try #require(Self.removal(retention.begin(in: catalog, now: now)))
        #expect(plan.images.map(\.sha256) == [Sample.image("x").sha256])
        retention.end(failed: RetirementPlan(), in: &catalog, at: now)
        #expect(retention.isIdle && retention.isSettled(in: catalog, at: now))
        #expect(catalog.images.holdings.images == 1)
    }

    @Test("a generation that a reader holds is tried again later and later, one that cannot be removed after a minute")
    func retries() {
        var (retention, catalog) = Self.retention([["a": "x"], ["a": "y"]])
        var now = Sample.start + .seconds(10) + Self.grace
        for delay in [2, 4, 8, 16, 30, 30] {
            #expect(Self.releases(retention.begin(in: catalog, now: now)) == [1])
            retention.end(ReleaseResult(kept: [1]), in: &catalog, at: now)
            #expect(retention.nextStep == now + .seconds(delay))
            #expect(retention.begin(in: catalog, now: now) == nil && retention.isIdle)
            now = now + .seconds(delay)
        }
        #expect(Self.releases(retention.begin(in: catalog, now: now)) == [1])
        retention.end(ReleaseResult(failed: [1]), in: &catalog, at: now)
        #expect(retention.nextStep == now + .seconds(60))
    }

    @Test(
        "files that could not be removed are retried after a minute, or when somebody asks",
        arguments: [false, true])
    func stuck(isAsked: Bool) throws {
        var (retention, catalog) = Self.retention([["a": "x"], ["a": "y"]])
        let now = Sample.start + .seconds(10) + Self.grace
        _ = retention.begin(in: catalog, now: now)
        retention.end(ReleaseResult(removed: [1]), in: &catalog, at: now)
        let plan = try #require(Self.removal(retention.begin(in: catalog, now: now)))
        retention.end(failed: plan, in: &catalog, at: now)
        #expect(retention.begin(in: catalog, now: now) == nil && retention.nextStep == now + .seconds(60))
        if isAsked {
            retention.waiveGrace(isConfirmed: false, in: catalog)
        } else {
            retention.advance(to: now + .seconds(60))
        }
        #expect(Self.removal(retention.begin(in: catalog, now: now + .seconds(60)))?.images == plan.images)
    }

    @Test("damaged files go once nothing waits to be published, unless there is a new image in their place")
    func damage() {
        var (retention, catalog) = Self.retention([["a": "x"]])
        retention.recordDamage(of: Sample.image("x"))
        catalog.names.recordDamage(of: "a", in: &catalog.images)
        catalog.images.record([Sample.image("x").sha256], areWhole: false)
        #expect(retention.beginDamaged(in: catalog, isPublished: false) == nil)
        var replaced = retention
        let plan = retention.beginDamaged(in: catalog, isPublished: true)
        #expect(plan?.isOfDamage == true && plan?.urls == ["a"] && plan?.images.count == 1)

        let manifest = Manifest(generation: 2, published: Sample.start, lists: [:])
        replaced.ledger.publish(
            manifest, newDocuments: [:], moved: [Sample.image("x").sha256], in: &catalog, at: Sample.start)
        #expect(replaced.beginDamaged(in: catalog, isPublished: true)?.images.isEmpty == true)
    }

    @Test("the time that the system sleeps is not part of the grace")
    func sleep() {
        var (retention, _) = Self.retention([["a": "x"], ["a": "y"]])
        retention.recordSleep(.seconds(3600))
        #expect(retention.nextStep == Sample.start + .seconds(3610) + Self.grace)
    }
}
