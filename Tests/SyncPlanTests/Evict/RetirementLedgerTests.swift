// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The retirement ledger")
struct RetirementLedgerTests {
    private static let start = Sample.start
    private static let rule = RetentionRule(grace: .seconds(600), leaseMax: .seconds(86_400))

    /// Notes a generation with these documents.
    private static func publish(
        _ number: Int, _ documents: [AppListDocument], at seconds: Int, in ledger: inout RetirementLedger,
        _ catalog: inout Catalog
    ) {
        var manifest = Manifest(generation: number, published: start + .seconds(seconds), lists: [:])
        var new: [Digest: AppListDocument] = [:]
        for document in documents {
            let digest = Digest.of(document.json)
            new[digest] = document
            manifest.lists[document.list] = Manifest.List(
                sha256: digest, apps: document.apps.count, ready: document.apps.count, pending: 0, failed: 0)
        }
        ledger.publish(manifest, newDocuments: new, in: &catalog, at: start + .seconds(seconds))
    }

    private static func digests(_ words: String...) -> Set<Digest> { Set(words.map { Sample.image($0).sha256 }) }

    @Test("an image goes when the last generation that names it is gone")
    func images() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let first = Sample.document("1.plist", ["a": "x", "b": "y"])
        let second = Sample.document("1.plist", ["a": "x"])
        Self.publish(1, [first], at: 0, in: &ledger, &catalog)
        Self.publish(2, [second], at: 10, in: &ledger, &catalog)
        #expect(ledger.removable(in: catalog).isEmpty)
        #expect(catalog.images.holdings.images == 2)

        ledger.release(1, in: &catalog)
        let plan = ledger.removable(in: catalog)
        #expect(Set(plan.images.map(\.sha256)) == Self.digests("y"))
        #expect(plan.images.first?.path == Sample.image("y").path)
        #expect(plan.urls == ["b"])
        #expect(plan.documents == [.of(first.json)])
        #expect(catalog.images.isOnDisk(Sample.image("y").sha256))

        ledger.remove(plan, from: &catalog)
        #expect(!catalog.images.isOnDisk(Sample.image("y").sha256))
        #expect(ledger.removable(in: catalog).isEmpty)
        #expect(catalog.images.holdings.images == 1 && catalog.images.holdings.bytes == Sample.image("x").bytes)
    }

    @Test("an image that a referenced icon shows stays, although no generation names it")
    func needed() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [Sample.document("1.plist", ["a": "x"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [], at: 10, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        _ = catalog.setList("2.plist", Sample.list(["a"]))
        catalog.apply(.found("x"), to: "a")
        let plan = ledger.removable(in: catalog)
        #expect(plan.images.isEmpty && plan.urls.isEmpty && plan.documents.count == 1)
        ledger.remove(plan, from: &catalog)
        #expect(catalog.images.isOnDisk(Sample.image("x").sha256))
        // Named again, and retired again.
        Self.publish(3, [Sample.document("2.plist", ["a": "x"])], at: 20, in: &ledger, &catalog)
        #expect(ledger.removable(in: catalog).isEmpty)
        Self.publish(4, [], at: 30, in: &ledger, &catalog)
        ledger.release(3, in: &catalog)
        _ = catalog.removeList("2.plist")
        #expect(Set(ledger.removable(in: catalog).images.map(\.sha256)) == Self.digests("x"))
    }

    @Test("an image that two lists or two URLs share goes with the last of them")
    func shared() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let second = Sample.document("2.plist", ["a": "x"])
        Self.publish(1, [Sample.document("1.plist", ["a": "x", "b": "x"]), second], at: 0, in: &ledger, &catalog)
        Self.publish(2, [second], at: 1, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        let plan = ledger.removable(in: catalog)
        #expect(plan.images.isEmpty && plan.urls == ["b"] && plan.documents.count == 1)
        ledger.remove(plan, from: &catalog)
        Self.publish(3, [], at: 2, in: &ledger, &catalog)
        ledger.release(2, in: &catalog)
        #expect(ledger.removable(in: catalog).images.count == 1)
    }

    @Test("a document that comes back is not removed")
    func documentComesBack() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let document = Sample.document("1.plist", ["a": "x"])
        Self.publish(1, [document], at: 0, in: &ledger, &catalog)
        Self.publish(2, [], at: 1, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        Self.publish(3, [document], at: 2, in: &ledger, &catalog)
        #expect(ledger.removable(in: catalog).isEmpty)
        Self.publish(4, [document], at: 3, in: &ledger, &catalog)
        ledger.release(3, in: &catalog)
        #expect(ledger.removable(in: catalog).isEmpty)
    }

    @Test("a generation's grace begins when the next one is published, and the current one has none")
    func grace() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        func expired(_ seconds: Int, _ rule: RetentionRule = Self.rule) -> [Int] {
            ledger.expired(under: rule, now: Self.start + .seconds(seconds)).map(\.generation)
        }
        #expect(ledger.nextExpiry(under: Self.rule) == nil)
        Self.publish(1, [], at: 0, in: &ledger, &catalog)
        #expect(ledger.nextExpiry(under: Self.rule) == nil)
        #expect(expired(1 << 40).isEmpty)
        Self.publish(2, [], at: 100, in: &ledger, &catalog)
        Self.publish(3, [], at: 200, in: &ledger, &catalog)
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(700))
        #expect(expired(699).isEmpty)
        #expect(expired(700) == [1])
        #expect(expired(800) == [1, 2])
        var held = Self.rule
        held.held = 0...1
        #expect(expired(800, held) == [2])
        #expect(ledger.nextExpiry(under: held) == Self.start + .seconds(800))
        ledger.release(1, in: &catalog)
        #expect(expired(800) == [2])
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(800))
    }

    @Test("a lease keeps a generation for so long after it was superseded, and never for less than the grace")
    func leases() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [], at: 0, in: &ledger, &catalog)
        Self.publish(2, [], at: 100, in: &ledger, &catalog)
        let cases: [(leaseMax: Int, now: Int, ignored: Bool)] = [
            (1000, 700, false), (1000, 1099, false), (1000, 1100, true), (0, 700, true), (600, 700, true),
        ]
        for (leaseMax, now, ignored) in cases {
            let rule = RetentionRule(grace: Self.rule.grace, leaseMax: .seconds(leaseMax))
            #expect(
                ledger.expired(under: rule, now: Self.start + .seconds(now))
                    == [GenerationRelease(generation: 1, ignoresLeases: ignored, isPastGrace: true)],
                "\(leaseMax) s, \(now) s")
        }
    }

    @Test("ending a grace by hand ends none of a generation whose icons the current one names, whatever lists do")
    func stillNamed() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [Sample.document("1.plist", ["a": "x"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [Sample.document("1.plist", ["a": "x", "b": "y"])], at: 100, in: &ledger, &catalog)
        ledger.waiveGrace(in: catalog)
        #expect(!ledger.isWaiving(under: Self.rule))
    }

    @Test("a grace can be ended by hand for what is superseded by then, but for its last seconds")
    func waived() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [Sample.document("1.plist", ["a": "x"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [Sample.document("1.plist", ["a": "y"])], at: 100, in: &ledger, &catalog)
        ledger.waiveGrace(in: catalog)
        #expect(ledger.isWaiving(under: Self.rule))
        Self.publish(3, [], at: 101, in: &ledger, &catalog)
        #expect(ledger.expired(under: Self.rule, now: Self.start + .seconds(104)).isEmpty)
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(105))
        #expect(
            ledger.expired(under: Self.rule, now: Self.start + .seconds(106)) == [GenerationRelease(generation: 1)])
        var held = Self.rule
        held.held = 0...1
        #expect(!ledger.isWaiving(under: held) && ledger.expired(under: held, now: Self.start + .seconds(106)).isEmpty)
        #expect(ledger.nextExpiry(under: held) == Self.start + .seconds(701))
        // A grace that is shorter than these seconds is as long as it is.
        let short = RetentionRule(grace: .seconds(1), leaseMax: .seconds(86_400))
        #expect(ledger.nextExpiry(under: short) == Self.start + .seconds(101))
        ledger.release(1, in: &catalog)
        #expect(!ledger.isWaiving(under: Self.rule))
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(701))
    }

    @Test("a grace is not ended by hand where nothing is retired by it")
    func notWaived() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let (x, y) = (Sample.document("1.plist", ["a": "x"]), Sample.document("2.plist", ["b": "y"]))
        Self.publish(1, [x], at: 0, in: &ledger, &catalog)
        Self.publish(2, [x, y], at: 1, in: &ledger, &catalog)
        Self.publish(3, [y], at: 2, in: &ledger, &catalog)
        Self.publish(4, [], at: 3, in: &ledger, &catalog)
        _ = catalog.setList("2.plist", Sample.list(["b"]))
        catalog.apply(.found("y"), to: "b")
        ledger.waiveGrace(in: catalog)
        // A list has what the third one names, the first and the second name something else.
        #expect(
            ledger.expired(under: Self.rule, now: Self.start + .seconds(100)).map(\.generation) == [1, 2])
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(6))
    }

    @Test("time that the system slept is no part of a grace or of a lease")
    func sleep() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [], at: 0, in: &ledger, &catalog)
        Self.publish(2, [], at: 100, in: &ledger, &catalog)
        ledger.recordSleep(.seconds(8 * 3600))
        let awake = 8 * 3600 + 700
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(awake))
        #expect(ledger.expired(under: Self.rule, now: Self.start + .seconds(awake - 1)).isEmpty)
        let rule = RetentionRule(grace: .seconds(600), leaseMax: .seconds(1000))
        for (seconds, isIgnored) in [(awake, false), (awake + 399, false), (awake + 400, true)] {
            #expect(
                ledger.expired(under: rule, now: Self.start + .seconds(seconds))
                    == [GenerationRelease(generation: 1, ignoresLeases: isIgnored, isPastGrace: true)])
        }
        Self.publish(3, [], at: awake, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        #expect(ledger.nextExpiry(under: Self.rule) == Self.start + .seconds(awake + 600))
    }

    @Test("the count of images on disk follows those that come, are lost, come back and go")
    func holdings() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let bytes = (Sample.image("x").bytes, Sample.image("y").bytes)
        let document = Sample.document("1.plist", ["a": "x", "b": "y"])
        Self.publish(1, [document], at: 0, in: &ledger, &catalog)
        #expect(catalog.images.holdings == (2, bytes.0 + bytes.1))
        for _ in 0..<2 {
            catalog.images.record([Sample.image("x").sha256, .of("nobody knows it")], areWhole: false)
            #expect(catalog.images.holdings == (1, bytes.1) && !catalog.images.isOnDisk(Sample.image("x").sha256))
        }
        var manifest = Manifest(generation: 2, published: Self.start, lists: [:])
        manifest.lists["1.plist"] = Manifest.List(
            sha256: .of(document.json), apps: 2, ready: 2, pending: 0, failed: 0)
        ledger.publish(
            manifest, newDocuments: [:], moved: [Sample.image("x").sha256], in: &catalog, at: Self.start)
        #expect(catalog.images.holdings == (2, bytes.0 + bytes.1) && catalog.images.isOnDisk(Sample.image("x").sha256))
        catalog.images.record([Sample.image("x").sha256], areWhole: false)
        Self.publish(3, [], at: 1, in: &ledger, &catalog)
        for generation in 1...2 { ledger.release(generation, in: &catalog) }
        #expect(catalog.images.holdings == (1, bytes.1))
        ledger.remove(ledger.removable(in: catalog), from: &catalog)
        #expect(catalog.images.holdings == (0, 0))
    }

    @Test("files that could not be removed remain to be removed")
    func stuck() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [Sample.document("1.plist", ["a": "x", "b": "y"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [], at: 1, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        let plan = ledger.removable(in: catalog)
        var failed = plan
        failed.urls = ["a"]
        failed.images = failed.images.filter { $0.sha256 == Sample.image("x").sha256 }
        var gone = plan
        gone.subtract(failed)
        ledger.remove(gone, from: &catalog)
        #expect(catalog.images.isOnDisk(Sample.image("x").sha256) && catalog.images.holdings.images == 1)
        #expect(ledger.removable(in: catalog) == failed)
        ledger.remove(failed, from: &catalog)
        #expect(ledger.removable(in: catalog).isEmpty && catalog.images.holdings.images == 0)
    }

    @Test("the name of an icon that was wanted again for a moment goes, although its image stays")
    func wantedAgain() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        let kept = Sample.document("2.plist", ["b": "x"])
        Self.publish(1, [Sample.document("1.plist", ["a": "x"]), kept], at: 0, in: &ledger, &catalog)
        Self.publish(2, [kept], at: 1, in: &ledger, &catalog)
        ledger.release(1, in: &catalog)
        _ = catalog.setList("1.plist", Sample.list(["a"]))
        catalog.apply(.found("x"), to: "a")
        let first = ledger.removable(in: catalog)
        #expect(first.urls.isEmpty && first.images.isEmpty && !first.documents.isEmpty)
        ledger.remove(first, from: &catalog)
        _ = catalog.removeList("1.plist")
        let second = ledger.removable(in: catalog)
        #expect(second.urls == ["a"] && second.images.isEmpty)
        ledger.remove(second, from: &catalog)
        #expect(ledger.removable(in: catalog).isEmpty)
    }

    @Test("generations that are held retire what no list names of them, lost or not, as long as some of it is there")
    func retires() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(
            1, [Sample.document("1.plist", ["a": "x", "b": "y", "c": "z", "d": "z"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [Sample.document("2.plist", ["e": "v"])], at: 1, in: &ledger, &catalog)
        let cases: [(images: [IconURL: String], named: [IconURL], limits: [Bool])] = [
            (["a": "x", "b": "y", "c": "z", "d": "z", "e": "v"], [], [true, true, true, false]),
            (["a": "x", "b": "y", "c": "z", "d": "z"], ["c"], [true, true, false, false]),
            (["a": "x", "b": "y", "c": "z", "d": "z"], ["a", "b", "c"], [false, false, false, false]),
            // What was lost did not come back.
            (["a": "x"], [], [true, true, true, true]), (["a": "x"], ["c", "d"], [true, true, false, false]),
            // It did, without an image.
            (["a": "x"], ["b", "c", "d"], [true, false, false, false]), ([:], [], [false, false, false, false]),
            // The same image under another URL.
            (["a": "x", "b": "y", "e": "x"], ["c", "d", "e"], [true, false, false, false]),
        ]
        for (images, named, limits) in cases {
            var catalog = catalog
            _ = catalog.setList("1.plist", Sample.list(named))
            for (url, word) in images { catalog.apply(.found(word), to: url) }
            let result = limits.indices.map { ledger.retires(moreThan: $0, in: 0...1, in: catalog) }
            #expect(result == limits, "\(images), \(named)")
        }
    }

    @Test("a generation that is released late keeps what it names, although a newer one is gone")
    func outOfOrder() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        Self.publish(1, [Sample.document("1.plist", ["a": "x"])], at: 0, in: &ledger, &catalog)
        Self.publish(2, [Sample.document("1.plist", ["a": "y"])], at: 1, in: &ledger, &catalog)
        Self.publish(3, [], at: 2, in: &ledger, &catalog)
        ledger.release(2, in: &catalog)
        let plan = ledger.removable(in: catalog)
        #expect(Set(plan.images.map(\.sha256)) == Self.digests("y"))
        #expect(plan.urls.isEmpty)
        ledger.remove(plan, from: &catalog)
        ledger.release(1, in: &catalog)
        let last = ledger.removable(in: catalog)
        #expect(Set(last.images.map(\.sha256)) == Self.digests("x") && last.urls == ["a"])
    }

    @Test("pending and failed entries name nothing")
    func notReady() {
        var (ledger, catalog) = (RetirementLedger(), Sample.catalog)
        var document = Sample.document("1.plist", ["a": "x", "b": "y"])
        document.apps[0].state = .pending
        document.apps[1].state = .failed(error: "timeout")
        Self.publish(1, [document], at: 0, in: &ledger, &catalog)
        #expect(catalog.images.holdings == (0, 0))
    }
}
