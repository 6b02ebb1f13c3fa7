// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The entries and problems of a list that have been read so far.
struct ListDraft {
    let limits: ListLimits
    private(set) var entries: [AppEntry] = []
    private var unusable: [UnusableEntry] = []
    /// The first problems; later ones are only counted.
    private var problems: [EntryProblem] = []
    /// The number of all problems.
    private(set) var problemCount = 0
    /// Whether a URL can be requested, as far as its text shows.
    private var hasUsableURL = false
    /// The first entry without such a URL, and its flaw.
    private var firstFlaw: EntryProblem?
    /// The size of all texts: a few bytes of a binary property list can refer to one long text many times.
    private var textBytes = 0

    init(_ limits: ListLimits) {
        self.limits = limits
    }

    /// Adds an entry; `keyPath` is that of its URL.
    mutating func add(_ entry: AppEntry, at keyPath: @autoclosure () -> String) {
        entries.append(entry)
        // One usable URL makes a list, so the other URLs are only checked when they are requested.
        guard !hasUsableURL else { return }
        guard let refusal = Self.refusal(of: entry.icon) else { return hasUsableURL = true }
        if firstFlaw == nil { firstFlaw = EntryProblem(keyPath: keyPath(), reason: "\(refusal)") }
    }

    /// Why a URL can never be requested, as far as its text shows; `nil` if it can be.
    static func refusal(of icon: IconURL) -> URLRefusal? {
        do throws(URLRefusal) {
            if case .inline(let url) = try IconSource(icon), try url.bytes().isEmpty {
                throw .malformedData("it is empty")
            }
            return nil
        } catch {
            return error
        }
    }

    /// Adds an entry without a usable icon URL, and its problem.
    mutating func addUnusable(name: String?, id: String?, at keyPath: String, _ reason: String) {
        addUnusable(name: name, ids: [id], at: keyPath, reason)
    }

    /// Adds an entry without a usable icon URL for each of an app's icons, given by their identities.
    mutating func addUnusable(name: String?, ids: [String?], at keyPath: String, _ reason: String) {
        if firstFlaw == nil { firstFlaw = EntryProblem(keyPath: keyPath, reason: reason) }
        addProblem(keyPath, reason)
        unusable += ids.map { UnusableEntry(index: entries.count, name: name, id: $0, keyPath: keyPath) }
    }

    mutating func addProblem(_ keyPath: @autoclosure () -> String, _ reason: String) {
        problemCount += 1
        guard problems.count < AppList.maxProblems else { return }
        problems.append(EntryProblem(keyPath: keyPath(), reason: reason))
    }

    /// Whether there are entries with a name or an identity, or almost empty ones, and none has a usable icon.
    var hasSpoiledEntries: Bool {
        guard entries.isEmpty, !unusable.isEmpty else { return false }
        return unusable.contains { $0.name != nil || $0.id != nil }
            || problems.allSatisfy { $0.reason == IconFlaw.empty.description }
    }

    /// The rejection of a list without a URL that can be requested; `nil` if there is one, or the list has no entries.
    ///
    /// Settings that forbid a request do not count: they may change.
    var noUsableEntry: ListRejection? {
        hasUsableURL ? nil : firstFlaw.map { .noUsableEntry("\($0)") }
    }

    mutating func count(_ text: String) { count(bytes: text.utf8.count) }

    mutating func count(bytes: Int) { textBytes += bytes }

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

    /// The list, unless none of its entries has a usable URL.
    var verdict: ListVerdict { noUsableEntry.map { .failure($0) } ?? .success(list) }
}
