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

    /// Adds an icon that a list names now, as the newest of its group.
    mutating func add(_ url: IconURL, _ key: IconURL) {
        if keys.updateValue(key, forKey: url) != nil { groups[key]?.removeAll { $0 == url } }
        groups[key, default: []].append(url)
    }

    /// Moves icons that no list names any more before those of their groups that lists name.
    mutating func retire(_ urls: Set<IconURL>, isReferenced: (IconURL) -> Bool) {
        for url in urls {
            guard let key = keys[url], let group = groups[key], group.count > 1 else { continue }
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

    /// The icons that share their key with others.
    var shared: [IconURL] { groups.values.filter { $0.count > 1 }.flatMap(\.self) }
}
