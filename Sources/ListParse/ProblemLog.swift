// SPDX-License-Identifier: Apache-2.0
import AppLists

/// The problems of a list; only the first ones are kept.
struct ProblemLog {
    private var kept: [EntryProblem] = []
    /// The number of all problems.
    private(set) var count = 0

    mutating func add(_ keyPath: @autoclosure () -> String, _ reason: String) {
        count += 1
        guard kept.count < AppList.maxProblems else { return }
        kept.append(EntryProblem(keyPath: keyPath(), reason: reason))
    }

    /// The kept problems, and one that counts the rest.
    var reported: [EntryProblem] {
        count > kept.count ? kept + [.more(count - kept.count)] : kept
    }
}
