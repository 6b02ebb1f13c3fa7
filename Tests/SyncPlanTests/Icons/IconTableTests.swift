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
                table.update(at: id) { _ = $0.apply(isMissing ? .lost : .purged) }
                model[url] = isMissing
            } else {
                #expect(table[url]?.wasMissing == model.removeValue(forKey: url))
                if let id = table.id(of: url) { table.remove(id) }
            }
            #expect(table[url]?.wasMissing == model[url] && table.count == model.count)
        }
        #expect(Dictionary(uniqueKeysWithValues: table.ids.map { (table[$0].url, table[$0].icon.wasMissing) }) == model)
        #expect(Set(table.urls) == Set(model.keys))
    }
}
