// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncPlan

@Suite("A sorted set")
struct SortedSetTests {
    @Test(
        "a sorted set has each member once, in order",
        arguments: [[], [1], [2, 1], [1, 1], [3, 1, 2, 3, 1], Array(0..<100).reversed()] as [[Int]])
    func members(members: [Int]) {
        let set = SortedSet(members)
        #expect(Array(set) == Set(members).sorted())
        for number in -1...100 { #expect(set.contains(number) == members.contains(number)) }
        for others in [[], [0], [1], [-5, 50, 200], Set(90..<300)] as [Set<Int>] {
            #expect(set.isDisjoint(with: others) == Set(members).isDisjoint(with: others))
        }
    }
}
