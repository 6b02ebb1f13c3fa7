// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

/// Random generations that come and go, beside a model that keeps for each what it names.
@Suite("The retirement ledger against a model")
struct RetirementModelTests {
    private struct Model {
        var generations: [Int: Set<String>] = [:]
        var current = 0
        /// What the current one names, and those too that nobody could read.
        var listed: Set<String> = []
        var superseded: [Int] { generations.keys.filter { $0 != current }.sorted() }
        var named: Set<String> { generations.values.reduce([]) { $0.union($1) } }
    }

    /// A version of a list has an icon of its own, and one that all versions of all lists have.
    private static func document(_ name: String) -> AppListDocument {
        Sample.document(ListName("\(name.prefix(1)).plist"), [IconURL(name): name, "shared": "shared"])
    }

    @Test(
        "the ledger removes exactly the files that no generation names, in any order of events",
        arguments: UInt64(0)..<150)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (ledger, catalog) = (RetirementLedger(), Catalog())
        var model = Model()
        var removed: Set<String> = []
        for number in 1...60 {
            // Each list is as it was, has one of three versions, or is gone.
            var names = model.listed
            for list in ["a", "b", "c", "d"] where Int.random(in: 0..<3, using: &generator) == 0 {
                let version = Int.random(in: 0..<4, using: &generator)
                names = names.filter { !$0.hasPrefix(list) }
                if version > 0 { names.insert("\(list)\(version)") }
            }
            // Now and then nobody could read a document, until it is written anew.
            let unread = names.subtracting(model.named).subtracting(removed)
                .filter { _ in Int.random(in: 0..<8, using: &generator) == 0 }
            let documents = names.map(Self.document)
            let lists = documents.map {
                ($0.list, Manifest.List(sha256: .of($0.json), apps: 2, ready: 2, pending: 0, failed: 0))
            }
            let known = names.subtracting(unread).map(Self.document)
            model.generations[number] = names.subtracting(unread)
            (model.current, model.listed) = (number, names)
            removed.subtract(names)
            ledger.publish(
                Manifest(generation: number, published: Sample.start, lists: Dictionary(uniqueKeysWithValues: lists)),
                newDocuments: Dictionary(uniqueKeysWithValues: known.map { (.of($0.json), $0) }), in: &catalog,
                at: Sample.start)

            while Bool.random(using: &generator), let gone = model.superseded.randomElement(using: &generator) {
                let before = model.named
                model.generations[gone] = nil
                removed.formUnion(before.subtracting(model.named))
                ledger.release(gone, in: &catalog)
            }
            let plan = ledger.removable(in: catalog)
            #expect(plan.documents == Set(removed.map { .of(Self.document($0).json) }))
            #expect(plan.urls.subtracting(["shared"]) == Set(removed.map { IconURL($0) }))
            #expect(plan.urls.contains("shared") == (!removed.isEmpty && model.named.isEmpty))
            #expect(Array(ledger.supersessions.keys).sorted() == model.superseded)
            for name in ["a1", "b1", "c2", "d3"] {
                let newest = model.superseded.last { model.generations[$0]?.contains(name) ?? false }
                #expect(ledger.namings(of: [IconURL(name)], in: catalog).newest()[IconURL(name)] == newest)
            }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                ledger.remove(plan, from: &catalog)
                removed = []
            }
        }
    }
}
