// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The table of icons")
struct IconTableTests {
    @Test("the icon table equals a dictionary after the same changes")
    func model() {
        var generator = SeededGenerator(seed: 7)
        var table = IconTable()
        var model: [IconURL: Bool] = [:]
        for step in 0..<5000 {
            let url: IconURL = "https://h.example/\(Int.random(in: 0..<100, using: &generator))"
            if Bool.random(using: &generator) {
                let isMissing = step % 3 == 0
                let id = table.id(of: url, default: IconRecord())
                table.update(at: id) { $0.apply(isMissing ? .lost : .purged) }
                model[url] = isMissing
            } else {
                #expect(table[url]?.wasMissing == model.removeValue(forKey: url))
                if let id = table.id(of: url) { table.remove(id) }
            }
            #expect(table[url]?.wasMissing == model[url] && table.ids.count == model.count)
        }
        #expect(Dictionary(uniqueKeysWithValues: table.ids.map { (table[$0].url, table[$0].icon.wasMissing) }) == model)
        #expect(Set(table.urls) == Set(model.keys))
    }

    @Test("an icon keeps its number while it has a record, a document names it, or its name is to be removed")
    func numbers() {
        var table = IconTable()
        let (a, b) = (table.id(of: "a", default: IconRecord()), table.id(of: "b", default: IconRecord()))
        table.name(table.id(naming: "a"))
        table.remove(a)
        #expect(table["a"] == nil && table.id(of: "a") == nil && table.id(named: "a") == a && table.ids.count == 1)
        let c = table.id(of: "c", default: IconRecord())
        #expect(Set([a, b, c]).count == 3 && table.id(of: "b") == b)
        #expect(table.forgetNaming(of: a) && table.id(named: "a") == a)
        let again = table.id(of: "a", default: IconRecord(isInline: true))
        #expect(again == a && table["a"]?.isInline == true)
        table.remove(a)
        table.forgetName(of: a)
        #expect(table.id(named: "a") == nil && table.id(of: "d", default: IconRecord()) == a)
        #expect(table.id(naming: "c", likely: b) == c && table.id(naming: "c", likely: c) == c)
        table.forgetNames()
        #expect(table.id(named: "c") == nil && Set(table.urls) == ["b", "c", "d"])
    }
}
