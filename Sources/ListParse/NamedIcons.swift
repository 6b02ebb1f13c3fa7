// SPDX-License-Identifier: Apache-2.0
import AppLists

/// A dictionary of name → URL as an app list, sorted by name.
struct NamedIcons {
    private let limits: ListLimits
    private var entries: [AppEntry] = []
    private var problems = ProblemLog()
    private var budget: TextBudget
    /// Whether a value is an absolute URL; any word can be a relative one.
    private var hasURL = false

    init(limits: ListLimits) {
        self.limits = limits
        budget = TextBudget(limits)
    }

    var rejection: ListRejection? { budget.rejection }

    mutating func add(_ icon: String, for name: String) {
        budget.spend(icon)
        budget.spend(name)
        switch limits.icon(icon) {
        case .failure(let flaw):
            problems.add(ListPath.key(name), flaw.description)
        case .success(let url):
            hasURL = hasURL || AppEntry.flaw(inIcon: icon) == nil
            let isNamed = name.utf8.count <= AppEntry.maxTextBytes
            if !isNamed {
                problems.add(ListPath.key(name), "its name is longer than \(AppEntry.maxTextBytes) bytes")
            }
            entries.append(AppEntry(name: isNamed ? name : nil, icon: url))
        }
    }

    /// Records a value that is not a string as a problem.
    mutating func addOther(for name: String) {
        problems.add(ListPath.key(name), "not a string")
    }

    /// The list, if a value is an absolute URL.
    var verdict: ListVerdict {
        guard hasURL else { return .failure(.noKnownShape) }
        guard entries.count + problems.count <= limits.maxEntries else {
            return .failure(.tooManyEntries(limit: limits.maxEntries))
        }
        return .success(AppList(entries: entries, problems: problems.reported))
    }
}
