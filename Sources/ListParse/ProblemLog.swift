// SPDX-License-Identifier: Apache-2.0
import AppLists

/// What was passed over in a list, of which only the first problems are kept.
struct ProblemLog {
    private var kept: [EntryProblem] = []
    /// How many there were.
    private(set) var count = 0

    mutating func add(_ keyPath: @autoclosure () -> String, _ reason: String) {
        count += 1
        guard kept.count < AppList.maxProblems else { return }
        kept.append(EntryProblem(keyPath: keyPath(), reason: reason))
    }

    /// The problems kept, and one that counts the rest.
    var reported: [EntryProblem] {
        count > kept.count ? kept + [.more(count - kept.count)] : kept
    }
}
