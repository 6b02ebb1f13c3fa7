// SPDX-License-Identifier: Apache-2.0

/// The parts in which two versions of a list differ: the entries before and after them are the same, in the same order.
struct DifferingParts {
    let old, new: Range<Int>

    /// `old` and `new` are the numbers of entries.
    ///
    /// - Complexity: O(*n*) in the number of entries.
    init(of old: Int, and new: Int, where areSame: (_ old: Int, _ new: Int) -> Bool) {
        let shorter = min(old, new)
        var (head, tail) = (0, 0)
        while head < shorter, areSame(head, head) { head += 1 }
        while tail < shorter - head, areSame(old - 1 - tail, new - 1 - tail) { tail += 1 }
        (self.old, self.new) = (head..<old - tail, head..<new - tail)
    }
}
