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
                let place = table.place(of: url, default: IconRecord())
                table.update(at: place) { _ = $0.apply(isMissing ? .lost : .purged) }
                model[url] = isMissing
            } else {
                #expect(table.remove(url)?.wasMissing == model.removeValue(forKey: url))
            }
            #expect(table[url]?.wasMissing == model[url] && table.count == model.count)
        }
        #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.url, $0.icon.wasMissing) }) == model)
        #expect(Set(table.keys) == Set(model.keys))
    }
}
