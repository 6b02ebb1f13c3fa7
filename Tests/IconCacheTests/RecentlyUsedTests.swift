// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import IconCache

@Suite("Recently used values")
struct RecentlyUsedTests {
    enum Operation: Sendable {
        case insert(String, cost: Int)
        case use(String)
        case remove(String)
        case removeAll
    }

    /// Operations within a limit of 10, and what is left after them, with its cost.
    private static let table: [([Operation], [String: Int])] = [
        ([], [:]),
        ([.insert("a", cost: 10)], ["a": 10]),
        ([.insert("a", cost: 11)], [:]),
        ([.insert("a", cost: 4), .insert("b", cost: 6)], ["a": 4, "b": 6]),
        ([.insert("a", cost: 4), .insert("b", cost: 7)], ["b": 7]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .insert("c", cost: 4)], ["b": 4, "c": 4]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .use("a"), .insert("c", cost: 4)], ["a": 4, "c": 4]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .use("b"), .insert("c", cost: 4)], ["b": 4, "c": 4]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .use("d"), .insert("c", cost: 4)], ["b": 4, "c": 4]),
        // One that is not kept takes no other one's place, but that of its own older value.
        ([.insert("a", cost: 4), .insert("b", cost: 4), .insert("c", cost: 11)], ["a": 4, "b": 4]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .insert("a", cost: 11)], ["b": 4]),
        // One that is replaced counts once, and is the newest.
        ([.insert("a", cost: 4), .insert("b", cost: 4), .insert("a", cost: 6)], ["a": 6, "b": 4]),
        ([.insert("a", cost: 4), .insert("b", cost: 4), .insert("a", cost: 7)], ["a": 7]),
        // As many go as must.
        (
            [.insert("a", cost: 3), .insert("b", cost: 3), .insert("c", cost: 3), .insert("d", cost: 5)],
            ["c": 3, "d": 5]
        ),
        ([.insert("a", cost: 3), .insert("b", cost: 3), .insert("c", cost: 3), .insert("d", cost: 10)], ["d": 10]),
        ([.insert("a", cost: 5), .insert("b", cost: 5), .insert("c", cost: 0)], ["a": 5, "b": 5, "c": 0]),
        // The order is whole after one was taken from the beginning, the middle or the end of it.
        (
            [
                .insert("a", cost: 3), .insert("b", cost: 3), .insert("c", cost: 3), .remove("b"),
                .insert("d", cost: 4),
                .insert("e", cost: 3),
            ], ["c": 3, "d": 4, "e": 3]
        ),
        (
            [.insert("a", cost: 3), .insert("b", cost: 3), .remove("a"), .insert("c", cost: 4), .insert("d", cost: 4)],
            ["c": 4, "d": 4]
        ),
        (
            [.insert("a", cost: 3), .insert("b", cost: 3), .remove("b"), .insert("c", cost: 4), .insert("d", cost: 4)],
            ["c": 4, "d": 4]
        ),
        ([.insert("a", cost: 4), .remove("a"), .remove("a")], [:]),
        ([.insert("a", cost: 4), .removeAll, .use("a"), .insert("b", cost: 10)], ["b": 10]),
    ]

    @Test("a recently used value stays while there is room", arguments: table)
    func room(operations: [Operation], left: [String: Int]) {
        var values = RecentlyUsed<String, Int>(limit: 10)
        for operation in operations { Self.perform(operation, on: &values) }
        #expect(values.cost == left.values.reduce(0, +))
        for key in ["a", "b", "c", "d", "e"] { #expect(values.use(key) == left[key]) }
    }

    @Test("recently used values are those that a plain list would keep", arguments: [UInt64(1), 2, 3, 4])
    func model(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var values = RecentlyUsed<String, Int>(limit: 50)
        /// The oldest first; the value of each key is its cost.
        var model: [(key: String, cost: Int)] = []
        for _ in 0..<1000 {
            let key = String(UInt8.random(in: 0..<20, using: &generator))
            let known = model.first { $0.key == key }
            switch UInt8.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let cost = Int.random(in: 0...60, using: &generator)
                values.insert(cost, cost: cost, for: key)
                model.removeAll { $0.key == key }
                if cost <= 50 { model.append((key, cost)) }
                while model.reduce(0, { $0 + $1.cost }) > 50 { model.removeFirst() }
            case 5..<9:
                #expect(values.use(key) == known?.cost)
                model.removeAll { $0.key == key }
                if let known { model.append(known) }
            default:
                values.remove(key)
                model.removeAll { $0.key == key }
            }
            #expect(values.cost == model.reduce(0) { $0 + $1.cost })
        }
    }

    private static func perform(_ operation: Operation, on values: inout RecentlyUsed<String, Int>) {
        switch operation {
        case .insert(let key, let cost): values.insert(cost, cost: cost, for: key)
        case .use(let key): _ = values.use(key)
        case .remove(let key): values.remove(key)
        case .removeAll: values.removeAll()
        }
    }
}
