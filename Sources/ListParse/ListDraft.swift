// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The entries and problems of a list, as far as it is read.
struct ListDraft {
    let limits: ListLimits
    private(set) var entries: [AppEntry] = []
    private var unusable: [UnusableEntry] = []
    /// Only the first ones.
    private var problems: [EntryProblem] = []
    /// The number of all problems.
    private(set) var problemCount = 0
    /// The size of all texts: a few bytes of a binary property list can refer to one long text many times.
    private var textBytes = 0

    init(_ limits: ListLimits) {
        self.limits = limits
    }

    mutating func add(_ entry: AppEntry) {
        entries.append(entry)
    }

    /// Adds an entry without a usable icon URL, and its problem.
    mutating func addUnusable(name: String?, id: String?, at keyPath: String, _ reason: String) {
        addProblem(keyPath, reason)
        guard name != nil || id != nil else { return }
        unusable.append(UnusableEntry(index: entries.count, name: name, id: id, keyPath: keyPath))
    }

    mutating func addProblem(_ keyPath: @autoclosure () -> String, _ reason: String) {
        problemCount += 1
        guard problems.count < AppList.maxProblems else { return }
        problems.append(EntryProblem(keyPath: keyPath(), reason: reason))
    }

    mutating func count(_ text: String) {
        textBytes += text.utf8.count
    }

    /// The rejection, if the texts exceed their limit.
    var rejection: ListRejection? {
        textBytes > limits.maxText.bytes ? .tooMuchText(limit: limits.maxText) : nil
    }

    var list: AppList {
        let rest = problemCount - problems.count
        var list = AppList(entries: entries, problems: rest > 0 ? problems + [.more(rest)] : problems)
        list.unusable = unusable
        return list
    }

    /// The list, unless each of its entries was ignored.
    var verdict: ListVerdict {
        guard entries.isEmpty, let problem = problems.first else { return .success(list) }
        return .failure(.noUsableEntry("\(problem)"))
    }
}
