// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Finds the apps of entries without an image in earlier versions of their list.
///
/// Two entries are the same app if they share identity and name, or an identity that only one entry of each version
/// has. If one has no identity, they must share name and URL; a URL alone does not show whose image it was.
struct ReturningApps {
    private typealias Key = AppMatch.Key

    /// The indices of the entries not found yet.
    private(set) var missing: Set<Int>
    /// The missing entries by identity and name.
    private var byIdentity: [Key: [Int]] = [:]
    /// All entries of the list by identity.
    private var byIdentityOnly: [Key: [Int]] = [:]
    /// The missing entries by name and URL.
    private var byURL: [Key: [Int]] = [:]
    /// The missing entries without an identity, by name and URL.
    private var byURLWithoutIdentity: [Key: [Int]] = [:]

    init(_ entries: AppEntries, missing: [Int]) {
        self.missing = Set(missing)
        // In reverse order, because popPlace takes the last index.
        for place in entries.indices.reversed() {
            let entry = entries[place]
            if let id = entry.id { byIdentityOnly[Key(identity: id), default: []].append(place) }
            guard self.missing.contains(place) else { continue }
            let url = Key(name: entry.name, icon: entry.icon.text)
            byURL[url, default: []].append(place)
            if let id = entry.id {
                byIdentity[Key(identity: id, name: entry.name), default: []].append(place)
            } else {
                byURLWithoutIdentity[url, default: []].append(place)
            }
        }
    }

    /// Matches missing entries with those of an earlier version.
    ///
    /// - Returns: The earlier entry's index by the missing entry's; matched entries are no longer missing.
    /// - Complexity: O(*n*) in the number of earlier entries.
    mutating func match(_ earlier: [AppEntry]) -> [Int: Int] {
        var found: [Int: Int] = [:]
        var others: [Key: [Int]] = [:]
        for (number, entry) in earlier.enumerated() {
            let url = Key(name: entry.name, icon: entry.icon.text)
            let place =
                if let id = entry.id {
                    Self.popPlace(Key(identity: id, name: entry.name), from: &byIdentity, missing)
                        ?? Self.popPlace(url, from: &byURLWithoutIdentity, missing)
                } else {
                    Self.popPlace(url, from: &byURL, missing)
                }
            if let place {
                missing.remove(place)
                found[place] = number
            } else if let id = entry.id {
                others[Key(identity: id), default: []].append(number)
            }
        }
        for (identity, numbers) in others where numbers.count == 1 {
            guard let places = byIdentityOnly[identity], places.count == 1, missing.contains(places[0]) else {
                continue
            }
            missing.remove(places[0])
            found[places[0]] = numbers[0]
        }
        return found
    }

    /// Removes and returns the first index with a key that is still missing.
    private static func popPlace(_ key: Key, from places: inout [Key: [Int]], _ missing: Set<Int>) -> Int? {
        while let place = places[key]?.popLast() { if missing.contains(place) { return place } }
        return nil
    }
}
