// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Matches the apps in two versions of a list.
///
/// An app is recognised by its identity in the list; else by its name, or by its name and its URL without the query, if
/// only one entry of each version has that. Apps with different identities and URLs are never the same. An identity that
/// entries with different names share in one of the versions counts together with the name or the URL without the query.
struct AppMatch: Sendable {
    /// The entries before and after them are the same apps with the same URLs.
    private let differing: DifferingParts
    /// The old entry of each new entry that has one, in the parts that differ.
    private(set) var counterparts: [Int: Int] = [:]
    /// The old entries whose apps are gone.
    private(set) var gone: [Int] = []

    /// O(*n*) in the number of entries; where nothing is removed or changed, they are only compared.
    init(from old: AppEntries, to new: AppEntries) {
        differing = DifferingParts(of: old.count, and: new.count) { Self.areSame(old, $0, new, $1) }
        var rest = Rest(old: Array(differing.old), new: Array(differing.new))
        // First, entries that only moved.
        match(&rest, old, new) { Key(identity: $0.id, name: $0.name, icon: $0.icon.text) }
        match(&rest, old, new) { entry in
            entry.id.map { Key(identity: $0, name: entry.name, icon: String(entry.icon.withoutQuery)) }
        }
        match(&rest, old, new) { entry in entry.id.map { Key(identity: $0, name: entry.name) } }
        let added = Set(rest.new.lazy.compactMap { new[$0].id.map { Key(identity: $0) } })
        let shared = Self.shared(added, in: old.lazy.map { ($0.id, $0.name) }, or: new.lazy.map { ($0.id, $0.name) })
        let identity = { (entry: AppEntry) in
            entry.id.map { Key(identity: $0, name: shared.contains(Key(identity: $0)) ? Self.name(of: entry) : nil) }
        }
        match(&rest, old, new) { entry in
            entry.id.map { Key(identity: $0, icon: String(entry.icon.withoutQuery)) }
        }
        match(&rest, old, new, by: identity)
        // Entries that lost their names have nothing else.
        match(&rest, old, new, of: { $0.id.map { Key(identity: $0) } }) { entry in
            Self.name(of: entry) == nil ? entry.id.map { Key(identity: $0) } : nil
        }
        matchUnique(&rest, old, new) { entry in entry.name.map { Key(name: $0) } }
        matchUnique(&rest, old, new) { Key(name: $0.name, icon: String($0.icon.withoutQuery)) }
        // All apps with the same URL show the same image.
        match(&rest, old, new) { Key(icon: $0.icon.text) }
        matchAdded(rest.new, old, new, by: identity)
        gone = rest.old
    }

    /// The old entries that no new one replaces by its identity or name: also those that another app shares the URL with.
    func unclaimed(of old: AppEntries, by new: AppEntries) -> [Int] {
        var (named, shared): (Set<Int>, Set<Int>) = ([], [])
        for (index, counterpart) in counterparts {
            let (entry, last) = (new[index], old[counterpart])
            let isSameID = entry.id != nil && Self.isSame(entry.id, last.id)
            let isSameName = (entry.id == nil || last.id == nil) && Self.isSame(entry.name, last.name)
            if isSameID || isSameName { named.insert(counterpart) } else { shared.insert(counterpart) }
        }
        // At first, every old entry that is gone is free.
        return gone.sorted() + shared.subtracting(named).sorted()
    }

    /// The new index of an old entry outside the parts that differ; `nil` inside.
    func unchanged(_ old: Int) -> Int? {
        if old < differing.old.lowerBound { return old }
        return old >= differing.old.upperBound ? old + differing.new.upperBound - differing.old.upperBound : nil
    }

    /// The old URLs whose apps all have new ones.
    ///
    /// A new URL succeeds one old URL at most: of apps that now share a URL, only the first one's old URL has a
    /// successor.
    func succeeded(from old: AppEntries, to new: AppEntries) -> Set<IconURL> {
        var (succeeded, successors): (Set<IconURL>, Set<IconURL>) = ([], [])
        for (index, counterpart) in counterparts.sorted(by: { $0.key < $1.key }) {
            let (icon, last) = (new.icons[index], old.icons[counterpart])
            guard icon != last, !succeeded.contains(last), successors.insert(icon).inserted else { continue }
            succeeded.insert(last)
        }
        return succeeded.subtracting(gone.lazy.map { old.icons[$0] })
    }

    // MARK: Matching

    private struct Rest {
        var old: [Int]
        var new: [Int]
    }

    /// The key by which entries match; texts are compared by bytes.
    struct Key: Hashable {
        private let identity, name, icon: IconURL?

        init(identity: String? = nil, name: String? = nil, icon: String? = nil) {
            self.identity = identity.map(IconURL.init)
            self.name = name.map(IconURL.init)
            self.icon = icon.map(IconURL.init)
        }
    }

    /// The name of an entry; `nil` if it has none, or an empty one.
    private static func name(of entry: AppEntry) -> String? { entry.name.flatMap { $0.isEmpty ? nil : $0 } }

    /// The identities that entries with different names share in one of two versions.
    ///
    /// - Complexity: O(*n*) in the number of entries if there are candidates.
    static func shared(
        _ candidates: Set<Key>, in old: some Sequence<(id: String?, name: String?)>,
        or new: some Sequence<(id: String?, name: String?)>
    ) -> Set<Key> {
        candidates.isEmpty ? [] : shared(candidates, in: old).union(shared(candidates, in: new))
    }

    private static func shared(
        _ candidates: Set<Key>, in entries: some Sequence<(id: String?, name: String?)>
    ) -> Set<Key> {
        var names: [Key: IconURL] = [:]
        var shared: Set<Key> = []
        for entry in entries {
            guard let key = entry.id.map({ Key(identity: $0) }), candidates.contains(key) else { continue }
            guard let name = entry.name.flatMap({ $0.isEmpty ? nil : IconURL($0) }) else { continue }
            if names.updateValue(name, forKey: key).map({ $0 != name }) ?? false { shared.insert(key) }
        }
        return shared
    }

    private static func areSame(_ old: AppEntries, _ before: Int, _ new: AppEntries, _ after: Int) -> Bool {
        guard old.icons[before] == new.icons[after] else { return false }
        if old.hasSameTexts(at: before, as: new, at: after) { return true }
        let (old, new) = (old[before], new[after])
        return isSame(old.id, new.id) && isSame(old.name, new.name)
    }

    private static func isSame(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return IconURL(a) == IconURL(b)
    }

    /// Matches entries with the same key in order; surplus new entries match the last old one.
    private mutating func match(
        _ rest: inout Rest, _ old: AppEntries, _ new: AppEntries, by key: (AppEntry) -> Key?
    ) {
        match(&rest, old, new, of: key, by: key)
    }

    private mutating func match(
        _ rest: inout Rest, _ old: AppEntries, _ new: AppEntries, of oldKey: (AppEntry) -> Key?,
        by key: (AppEntry) -> Key?
    ) {
        guard !rest.old.isEmpty, !rest.new.isEmpty else { return }
        var candidates: [Key: [Int]] = [:]
        for index in rest.old {
            if let key = oldKey(old[index]) { candidates[key, default: []].append(index) }
        }
        guard !candidates.isEmpty else { return }
        var used: [Key: Int] = [:]
        var matched: Set<Int> = []
        rest.new.removeAll { index in
            guard let key = key(new[index]), let all = candidates[key] else { return false }
            let place = used[key, default: 0]
            used[key] = place + 1
            let counterpart = all[min(place, all.count - 1)]
            counterparts[index] = counterpart
            matched.insert(counterpart)
            return true
        }
        rest.old.removeAll(where: matched.contains)
    }

    /// Matches a new entry with the last old one of the same identity.
    private mutating func matchAdded(
        _ added: [Int], _ old: AppEntries, _ new: AppEntries, by identity: (AppEntry) -> Key?
    ) {
        let wanted = Set(added.compactMap { identity(new[$0]) })
        guard !wanted.isEmpty else { return }
        var last: [Key: Int] = [:]
        for (index, entry) in old.enumerated() {
            guard let key = identity(entry), wanted.contains(key) else { continue }
            last[key] = index
        }
        for index in added { counterparts[index] = identity(new[index]).flatMap { last[$0] } }
    }

    /// Matches entries whose key is unique in both versions, unless both have identities.
    private mutating func matchUnique(
        _ rest: inout Rest, _ old: AppEntries, _ new: AppEntries, by key: (AppEntry) -> Key?
    ) {
        guard !rest.old.isEmpty, !rest.new.isEmpty else { return }
        var candidates: [Key: Int] = [:]
        for index in rest.old { if let key = key(old[index]) { candidates[key] = index } }
        var pairs: [Key: (old: Int, new: Int)] = [:]
        for index in rest.new {
            guard let key = key(new[index]), let counterpart = candidates[key] else { continue }
            pairs[key] = (counterpart, index)
        }
        pairs = pairs.filter { old[$0.value.old].id == nil || new[$0.value.new].id == nil }
        guard !pairs.isEmpty else { return }
        for entries in [old, new] {
            var seen: Set<Key> = []
            for index in entries.indices {
                guard let key = key(entries[index]), pairs[key] != nil, !seen.insert(key).inserted else { continue }
                pairs[key] = nil
            }
        }
        var matched = (old: Set<Int>(), new: Set<Int>())
        for pair in pairs.values {
            counterparts[pair.new] = pair.old
            matched.old.insert(pair.old)
            matched.new.insert(pair.new)
        }
        rest.old.removeAll(where: matched.old.contains)
        rest.new.removeAll(where: matched.new.contains)
    }
}
