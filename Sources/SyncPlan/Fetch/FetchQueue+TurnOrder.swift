// SPDX-License-Identifier: Apache-2.0
import HeapModule

extension FetchQueue {
    /// The right to start the next download: of a list at an origin, or of an origin.
    struct Turn: Comparable {
        /// 1 if the origin has its fair share of the slots already; then the turns of all others come first.
        var excess = 0
        var time: Int
        var priority: Priority
        var number: Int
        var owner: Int

        static func < (a: Turn, b: Turn) -> Bool {
            (a.excess, a.time, a.priority.rawValue, a.number) < (b.excess, b.time, b.priority.rawValue, b.number)
        }
    }

    /// The turns of several owners, at most one for each, in order.
    struct Turns {
        private var current: [Int: Turn] = [:]
        /// The turns in order.
        ///
        /// Outdated ones are removed when they come first, or when they are the majority.
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
