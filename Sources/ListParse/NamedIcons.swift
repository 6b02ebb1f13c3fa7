// SPDX-License-Identifier: Apache-2.0
import AppLists

/// A dictionary of name → URL as an app list, sorted by name.
struct NamedIcons {
    private var draft: ListDraft
    /// Whether a value is an absolute URL; any word can be a relative one.
    private var hasURL = false

    init(limits: ListLimits) {
        draft = ListDraft(limits)
    }

    var rejection: ListRejection? { draft.rejection }

    mutating func add(_ icon: String, for name: String) {
        draft.count(icon)
        draft.count(name)
        switch draft.limits.icon(icon) {
        case .failure(let flaw):
            draft.addProblem(ListPath.key(name), flaw.description)
        case .success(let url):
            hasURL = hasURL || AppEntry.flaw(inIcon: icon) == nil
            let isNamed = name.utf8.count <= AppEntry.maxTextBytes
            if !isNamed {
                draft.addProblem(ListPath.key(name), "its name is longer than \(AppEntry.maxTextBytes) bytes")
            }
            draft.add(AppEntry(name: isNamed ? name : nil, icon: url))
        }
    }

    /// Records a value that is not a string as a problem.
    mutating func addOther(for name: String) {
        draft.addProblem(ListPath.key(name), "not a string")
    }

    /// The list, if a value is an absolute URL.
    var verdict: ListVerdict {
        guard hasURL else { return .failure(.noKnownShape) }
        let limit = draft.limits.maxEntries
        let isTooLong = draft.entries.count + draft.problemCount > limit
        return isTooLong ? .failure(.tooManyEntries(limit: limit)) : .success(draft.list)
    }
}
