// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The icons whose URLs have one key (``CacheKeys``); empty without rules.
struct KeyGroups: Sendable {
    private var keys: [IconURL: IconURL] = [:]
    /// The icons of each key: first those that no list names, in the order in which they were retired, then those that
    /// lists name, in the order in which they did.
    private var groups: [IconURL: [IconURL]] = [:]

    var isEmpty: Bool { keys.isEmpty }

    /// Adds icons that a list names now, in its order, as the newest of their groups; O(*n*) in the number of these icons
    /// and of the members of their groups.
    mutating func add(_ named: [(url: IconURL, key: IconURL)]) {
        let known = named.filter { keys.updateValue($0.key, forKey: $0.url) != nil }
        let moved = Set(known.lazy.map(\.url))
        for key in Set(known.lazy.map(\.key)) { groups[key]?.removeAll(where: moved.contains) }
        // An icon that is named several times counts where it is named last.
        var seen: Set<IconURL> = []
        for (url, key) in named.reversed().filter({ seen.insert($0.url).inserted }).reversed() {
            groups[key, default: []].append(url)
        }
    }

    /// Moves icons that no list names any more before those of their groups that lists name.
    mutating func retire(_ urls: Set<IconURL>, isReferenced: (IconURL) -> Bool) {
        for key in Set(urls.lazy.compactMap { [keys] in keys[$0] }) {
            guard let group = groups[key], group.count > 1 else { continue }
            groups[key] = group.filter { !isReferenced($0) } + group.filter(isReferenced)
        }
    }

    mutating func remove(_ url: IconURL) {
        guard let key = keys.removeValue(forKey: url) else { return }
        groups[key]?.removeAll { $0 == url }
        if groups[key]?.isEmpty == true { groups[key] = nil }
    }

    /// All icons with a key, the oldest first.
    subscript(key: IconURL) -> [IconURL] { groups[key] ?? [] }

    /// The others with the same key, the oldest first.
    func others(of url: IconURL) -> [IconURL] {
        guard let key = keys[url], let group = groups[key], group.count > 1 else { return [] }
        return group.filter { $0 != url }
    }

    /// All icons of an icon's group, the oldest first; only the icon itself if it has no group.
    func group(of url: IconURL) -> [IconURL] { keys[url].flatMap { groups[$0] } ?? [url] }

    /// The groups of more than one icon, by their first icons.
    var shared: [[IconURL]] { groups.values.filter { $0.count > 1 }.sorted { $0[0] < $1[0] } }

    /// The members of the groups of these icons, without groups of one.
    func members(sharing urls: Set<IconURL>) -> Set<IconURL> {
        let found = Set(urls.lazy.compactMap { keys[$0] }).lazy.compactMap { groups[$0] }
        return Set(found.filter { $0.count > 1 }.joined())
    }
}
