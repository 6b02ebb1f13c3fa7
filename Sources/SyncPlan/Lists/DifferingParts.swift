// SPDX-License-Identifier: Apache-2.0
import AppLists

/// The parts in which two versions of a list differ: the entries before and after them are the same, in the same order.
struct DifferingParts {
    let old, new: Range<Int>

    /// - Complexity: O(*n*) in the number of entries.
    init(of old: [AppEntry], and new: [AppEntry], where areSame: (AppEntry, AppEntry) -> Bool) {
        let shorter = min(old.count, new.count)
        var (head, tail) = (0, 0)
        while head < shorter, areSame(old[head], new[head]) { head += 1 }
        while tail < shorter - head, areSame(old[old.count - 1 - tail], new[new.count - 1 - tail]) { tail += 1 }
        (self.old, self.new) = (head..<old.count - tail, head..<new.count - tail)
    }
}
