// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// Reads the entries of one array, each on its own: a bad one is reported and passed over.
struct EntryReader {
    /// What an array turned out to be.
    enum Reading: Equatable {
        case list(AppList)
        /// An empty array, and so an empty list.
        case empty
        /// It has no URL and no dictionary with an icon key in it.
        case other
        /// It is beyond a limit.
        case rejected(ListRejection)
    }

    private static let nameKey = ListKey("name")
    private static let downloadKey = ListKey("download")

    private let maxEntries: Int
    private let iconKeys: [ListKey]
    /// The array's own key path, for the problems.
    private let path: String
    private var entries: [AppEntry] = []
    private var problems = ProblemLog()
    private var budget = TextBudget()

    init(limits: ListLimits, path: String) {
        maxEntries = limits.maxEntries
        iconKeys = (["icon"] + limits.iconKeys.filter { $0 != "icon" }).map(ListKey.init)
        self.path = path
    }

    /// Reads an array of dictionaries, of URLs, or of both, from its first element.
    mutating func read(_ array: any UnkeyedDecodingContainer) -> Reading {
        var array = array
        guard !array.isAtEnd else { return .empty }
        if let count = array.count, count > maxEntries { return .rejected(.tooManyEntries(limit: maxEntries)) }
        var isKnownShape = false
        while !array.isAtEnd {
            let index = array.currentIndex
            if let dictionary = try? array.nestedContainer(keyedBy: ListKey.self) {
                isKnownShape = add(dictionary, at: index) || isKnownShape
            } else if let url = try? array.decode(String.self) {
                isKnownShape = add(url, at: index) || isKnownShape
            } else {
                problems.add("\(path)[\(index)]", "not a dictionary or a string")
                guard (try? array.decode(Anything.self)) != nil else { return .other }
            }
            guard !budget.isSpent else { return .rejected(.tooMuchText(limit: TextBudget.limit)) }
        }
        return isKnownShape ? .list(AppList(entries: entries, problems: problems.reported)) : .other
    }

    /// Adds an entry that is a URL alone, and says whether it is one.
    private mutating func add(_ url: String, at index: Int) -> Bool {
        budget.spend(url)
        if let flaw = AppEntry.flaw(inIcon: url) {
            problems.add("\(path)[\(index)]", flaw)
            return false
        }
        entries.append(AppEntry(icon: url))
        return true
    }

    /// Adds an entry that is a dictionary if it has a usable icon URL, and says whether it has an icon key at all.
    private mutating func add(_ entry: KeyedDecodingContainer<ListKey>, at index: Int) -> Bool {
        var firstProblem: (key: ListKey, flaw: String)?
        for key in iconKeys where entry.contains(key) {
            let flaw: String
            if let url = try? entry.decode(String.self, forKey: key) {
                budget.spend(url)
                guard let found = AppEntry.flaw(inIcon: url) else {
                    let name = text(Self.nameKey, of: entry, at: index)
                    let download = text(Self.downloadKey, of: entry, at: index)
                    entries.append(AppEntry(name: name, icon: url, download: download))
                    return true
                }
                flaw = found
            } else {
                flaw = "not a string"
            }
            firstProblem = firstProblem ?? (key, flaw)
        }
        guard let firstProblem else {
            problems.add("\(path)[\(index)]", "no icon key (\(iconKeys.map(\.stringValue).joined(separator: ", ")))")
            return false
        }
        problems.add("\(path)[\(index)].\(firstProblem.key.stringValue)", firstProblem.flaw)
        return true
    }

    /// A text that an entry can do without.
    ///
    /// An integer is taken as its digits.
    private mutating func text(_ key: ListKey, of entry: KeyedDecodingContainer<ListKey>, at index: Int) -> String? {
        guard entry.contains(key) else { return nil }
        guard
            let text = (try? entry.decode(String.self, forKey: key))
                ?? (try? entry.decode(Int64.self, forKey: key)).map({ String($0) })
                ?? (try? entry.decode(UInt64.self, forKey: key)).map({ String($0) })
        else {
            problems.add("\(path)[\(index)].\(key.stringValue)", "not a string")
            return nil
        }
        budget.spend(text)
        guard text.utf8.count <= AppEntry.maxTextBytes else {
            problems.add("\(path)[\(index)].\(key.stringValue)", "longer than \(AppEntry.maxTextBytes) bytes")
            return nil
        }
        return text
    }

    /// A value of any type, which is stepped over.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
