// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Finds the apps of entries without an image among earlier versions of their list.
///
/// An app has the same identity and name, or the same identity alone, if one entry only has that in each version; or, if one
/// of the entries has no identity, the same name and URL. A URL alone does not tell whose image it was.
struct ReturningApps {
    private typealias Key = AppMatch.Key

    /// The places of the entries that are still to be found.
    private(set) var missing: Set<Int>
    /// By identity and name.
    private var byIdentity: [Key: [Int]] = [:]
    /// By identity, of all entries of the list.
    private var byIdentityOnly: [Key: [Int]] = [:]
    /// By name and URL.
    private var byURL: [Key: [Int]] = [:]
    /// By name and URL, of entries without an identity.
    private var byURLWithoutIdentity: [Key: [Int]] = [:]

    /// - Parameters:
    ///   - entries: All entries of the list.
    ///   - missing: The places of the entries to find.
    init(_ entries: [AppEntry], missing: [Int]) {
        self.missing = Set(missing)
        // In reverse: popPlace takes the last one.
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

    /// Matches the entries of an earlier version with those that are missing.
    ///
    /// - Returns: The index of the earlier entry, by the place of the one that it matches, which is not missing any more.
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

    /// The first place with a key that is still missing.
    private static func popPlace(_ key: Key, from places: inout [Key: [Int]], _ missing: Set<Int>) -> Int? {
        while let place = places[key]?.popLast() { if missing.contains(place) { return place } }
        return nil
    }
}
