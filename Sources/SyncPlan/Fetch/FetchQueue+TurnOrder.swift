// SPDX-License-Identifier: Apache-2.0
import HeapModule

extension FetchQueue {
    /// The turn of a list at an origin, or of an origin.
    struct Turn: Comparable {
        /// 1 if its origin has the fair share of the slots already: all others go first.
        var excess = 0
        var time: Int
        var priority: Priority
        var number: Int
        var owner: Int

        static func < (a: Turn, b: Turn) -> Bool {
            (a.excess, a.time, a.priority.rawValue, a.number) < (b.excess, b.time, b.priority.rawValue, b.number)
        }
    }

    /// The turns of several owners in order, one for each.
    struct Turns {
        private var current: [Int: Turn] = [:]
        /// Contains outdated turns too, until one of them comes first or they are the majority.
        private var heap: Heap<Turn> = []

        var first: Turn? { heap.min }

        subscript(owner: Int) -> Turn? {
            get { current[owner] }
            set {
                guard newValue != current[owner] else { return }
                current[owner] = newValue
                if let newValue { heap.insert(newValue) }
                while let first = heap.min, current[first.owner] != first { heap.removeMin() }
                if heap.count > 2 * current.count + 32 { heap = Heap(current.values) }
            }
        }
    }
}
