// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
import Reports

extension AppList {
    /// The list with an entry for each unusable one whose app the last version of the list has: it keeps its last URL.
    ///
    /// A writer that loses or spoils a URL takes no image away, as if the new URL had not come yet. An app is kept only if
    /// no usable entry of this version matches it (``AppMatch``), and once: apps with the same identity come first (those
    /// with the same name before others), then apps with the same name. An entry with neither may be any missing app.
    ///
    /// - Parameters:
    ///   - old: The entries of the last version.
    ///   - strays: How many entries with neither name nor identity the last version had besides those
    ///     (``ListRecord/strays``): as many of this version are no apps either.
    /// - Returns: The list; the problems of kept entries say so, and ``unusable`` has only the other entries.
    /// - Complexity: O(*n*) in the number of entries, and O(1) if none is unusable.
    package func keepingIcons(of old: AppEntries, strays: Int = 0) -> AppList {
        guard !unusable.isEmpty, !old.isEmpty else { return self }
        let new = AppEntries(entries)
        let match = AppMatch(from: old, to: new)
        var free = match.unclaimed(of: old, by: new)
        var last: [Int: AppEntry] = [:]
        typealias Key = AppMatch.Key
        /// Gives each unusable entry that has none the first free old one with the same key.
        func claim(_ key: (UnusableEntry) -> Key?, from oldKey: (AppEntry) -> Key?) {
            var candidates: [Key: [Int]] = [:]
            for index in free.reversed() {
                if let key = oldKey(old[index]) { candidates[key, default: []].append(index) }
            }
            var claimed: Set<Int> = []
            for (number, entry) in unusable.enumerated() where last[number] == nil {
                guard let key = key(entry), let index = candidates[key]?.popLast() else { continue }
                last[number] = old[index]
                claimed.insert(index)
            }
            free.removeAll(where: claimed.contains)
        }
        claim(
            { entry in entry.id.map { Key(identity: $0, name: entry.name) } },
            from: { entry in entry.id.map { Key(identity: $0, name: entry.name) } })
        let identities = Set(unusable.lazy.compactMap { $0.id.map { Key(identity: $0) } })
        let names = entries.map { ($0.id, $0.name) } + unusable.map { ($0.id, $0.name) }
        let shared = AppMatch.shared(identities, in: old.lazy.map { ($0.id, $0.name) }, or: names)
        let hasName = { (entry: UnusableEntry) in !(entry.name ?? "").isEmpty }
        claim(
            { entry in entry.id.map { Key(identity: $0) }.flatMap { hasName(entry) && shared.contains($0) ? nil : $0 }
            },
            from: { entry in entry.id.map { Key(identity: $0) } })
        // Apps with different identities are never the same.
        let named = { (entry: UnusableEntry) in entry.id == nil && hasName(entry) ? Key(name: entry.name) : nil }
        claim(named, from: { $0.id == nil ? Key(name: $0.name) : nil })
        claim(named, from: { Key(name: $0.name) })
        claim({ hasName($0) ? Key(name: $0.name) : nil }, from: { $0.id == nil ? Key(name: $0.name) : nil })
        // Nothing tells which apps the other entries are: those that are missing stay.
        let missing = Set(match.gone)
        let nameless = unusable.indices.filter { last[$0] == nil && unusable[$0].isNameless }
        fill(nameless.dropLast(strays), with: free.filter(missing.contains)) { last[$0] = old[$1] }
        return merging(last)
    }

    /// Gives unusable entries the remaining old ones: first the one at the same place in the list, then in order.
    private func fill(_ numbers: some Sequence<Int>, with left: [Int], _ give: (_ number: Int, _ old: Int) -> Void) {
        var left = Set(left)
        var rest: [Int] = []
        for number in numbers {
            let place = unusable[number].index + number
            if left.remove(place) != nil { give(number, place) } else { rest.append(number) }
        }
        for (number, index) in zip(rest, left.sorted()) { give(number, index) }
    }

    /// The list without identities such as `null` that the last version does not have, or that several apps share.
    ///
    /// A writer that loses an identity can write that, or `0`, in its place: it tells no app from another.
    func withoutBlankIdentities(since old: AppEntries) -> AppList {
        func blank(_ id: String?) -> IconURL? {
            id.map { IconURL($0.asciiLowercased) }.flatMap { Self.blanks.contains($0) ? $0 : nil }
        }
        let ids = entries.map(\.id) + unusable.map(\.id)
        guard ids.contains(where: { blank($0) != nil }) else { return self }
        var names: [IconURL: Set<IconURL?>] = [:]
        for (id, name) in zip(ids, entries.map(\.name) + unusable.map(\.name)) {
            if let id = blank(id) { names[id, default: []].insert(name.map { IconURL($0) }) }
        }
        let known = Set(old.compactMap { blank($0.id) })
        // A new app can have the number 0.
        let lost = names.filter { $0.value.count > 1 || !old.isEmpty && $0.key != "0" && !known.contains($0.key) }
        var list = self
        for index in entries.indices where blank(entries[index].id).map({ lost[$0] != nil }) ?? false {
            list.entries[index].id = nil
        }
        for index in unusable.indices where blank(unusable[index].id).map({ lost[$0] != nil }) ?? false {
            list.unusable[index].id = nil
        }
        return list
    }

    /// Replaces unusable entries by old ones; `last` has them by their index in ``unusable``.
    private func merging(_ last: [Int: AppEntry]) -> AppList {
        var list = self
        list.entries = []
        list.unusable = []
        list.entries.reserveCapacity(entries.count + last.count)
        var kept: Set<IconURL> = []
        var next = 0
        for (number, entry) in unusable.enumerated() {
            list.entries += entries[next..<max(next, entry.index)]
            next = max(next, entry.index)
            guard var keeping = last[number] else {
                var left = entry
                left.index = list.entries.count
                list.unusable.append(left)
                continue
            }
            if let name = entry.name, !name.isEmpty { keeping.name = name }
            keeping.id = entry.id ?? keeping.id
            list.kept.append(list.entries.count)
            list.entries.append(keeping)
            kept.insert(IconURL(entry.keyPath))
        }
        list.entries += entries[next...]
        for index in list.problems.indices where kept.contains(IconURL(list.problems[index].keyPath)) {
            list.problems[index].reason += "; the app keeps its last icon"
        }
        return list
    }
}

extension StatusReport.List.Kept {
    /// The most bytes of a name that is shown whole.
    private static let longestName = 64

    /// The apps of a list that keep their last icon; `nil` if there are none.
    init?(of list: AppList) {
        guard !list.kept.isEmpty else { return nil }
        let examples = list.kept.prefix(Self.mostExamples).map { index -> String in
            let entry = list.entries[index]
            let name = entry.name.flatMap { $0.isEmpty ? nil : $0 } ?? "\(LogURL(entry.icon))"
            return name.utf8.count > Self.longestName ? name.prefix(bytes: Self.longestName) + "…" : name
        }
        self.init(apps: list.kept.count, examples: examples)
    }
}
