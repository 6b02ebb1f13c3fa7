// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncPlan

@Suite("Bytes of rows")
struct RowBytesTests {
    @Test("the bytes of rows equal those in a dictionary after the same changes, and at most half of them are unused")
    func model() {
        var generator = SeededGenerator(seed: 7)
        var rows = RowBytes()
        var model: [Int: [UInt8]] = [:]
        let places = 0..<100
        for step in 0..<20_000 {
            let place = Int.random(in: places, using: &generator)
            // At times most rows have bytes, at times few.
            if Int.random(in: 0..<4, using: &generator) < (step / 2000 % 2 == 0 ? 3 : 1) {
                let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8(step & 0xFF) }
                rows.write(at: place) { $0 += bytes }
                model[place] = bytes
            } else {
                rows.remove(at: place)
                model[place] = nil
            }
            #expect(Array(rows[place]) == model[place] ?? [])
            let used = model.values.reduce(0) { $0 + $1.count }
            #expect(rows.used == used && rows.count <= max(2 * used, used + places.count))
            if step % 100 == 0 { #expect(places.allSatisfy { Array(rows[$0]) == model[$0] ?? [] }) }
        }
        #expect(places.allSatisfy { Array(rows[$0]) == model[$0] ?? [] } && rows[1000].isEmpty)
    }

    @Test("a row has the text that was written, and no other spelling of it")
    func texts() {
        var rows = RowBytes()
        let texts = [
            "https://h.example/caf\u{E9}", "https://h.example/cafe\u{301}", "", "\u{10FFFF}", "https://h", "https://i",
            "ittps://h",
        ]
        for (place, text) in texts.enumerated() { rows.write(text, at: place) }
        for (place, text) in texts.enumerated() {
            #expect(rows.text(at: place).utf8.elementsEqual(text.utf8))
            for (other, text) in texts.enumerated() { #expect(rows.has(text, at: place) == (place == other)) }
        }
        rows.remove(at: 0)
        #expect(rows.has("", at: 0) && rows.text(at: 0).isEmpty && rows.has(texts[1], at: 1) && rows.has("", at: 9))
    }

    @Test("a copy keeps its bytes when the original changes")
    func copies() {
        var rows = RowBytes()
        rows.write(at: 1) { $0 += [1, 2] }
        let copy = rows
        rows.write(at: 1) { $0 += [3] }
        #expect(Array(copy[1]) == [1, 2] && Array(rows[1]) == [3] && rows[0].isEmpty)
    }
}
