// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Entries of a list that have no image, and whose apps are looked for among entries that were in the list earlier.
///
/// An app has the same identity and name, or the same identity alone, if one entry only has that in each version; or, if one
/// of the entries has no identity, the same name and URL. A URL alone does not tell whose image it was.
struct ReturningApps {
    private typealias Key = AppMatch.Key

    /// The places of the entries that are left to look for.
    private(set) var missing: Set<Int>
    private var byIdentity: [Key: [Int]] = [:]
    /// By the identity alone, of all entries.
    private var byIdentityAlone: [Key: [Int]] = [:]
    private var byURL: [Key: [Int]] = [:]
    /// The same, of entries without an identity.
    private var byURLAlone: [Key: [Int]] = [:]

    /// - Parameters:
    ///   - entries: All entries of the list.
    ///   - missing: The places of those that are looked for.
    init(_ entries: [AppEntry], missing: [Int]) {
        self.missing = Set(missing)
        // From the back, since they are taken from there.
        for place in entries.indices.reversed() {
            let entry = entries[place]
            if let id = entry.id { byIdentityAlone[Key(identity: id), default: []].append(place) }
            guard self.missing.contains(place) else { continue }
            let url = Key(name: entry.name, icon: entry.icon.text)
            byURL[url, default: []].append(place)
            if let id = entry.id {
                byIdentity[Key(identity: id, name: entry.name), default: []].append(place)
            } else {
                byURLAlone[url, default: []].append(place)
            }
        }
    }

    /// Finds apps among the entries of an earlier version.
    ///
    /// - Returns: The number of each earlier entry whose app is found, by the place that the app has now.
    /// - Complexity: O(*n*) in the number of earlier entries.
    mutating func take(from earlier: [AppEntry]) -> [Int: Int] {
        var found: [Int: Int] = [:]
        var others: [Key: [Int]] = [:]
        for (number, entry) in earlier.enumerated() {
            let url = Key(name: entry.name, icon: entry.icon.text)
            let place =
                if let id = entry.id {
                    Self.take(Key(identity: id, name: entry.name), from: &byIdentity, missing)
                        ?? Self.take(url, from: &byURLAlone, missing)
                } else {
                    Self.take(url, from: &byURL, missing)
                }
            if let place {
                missing.remove(place)
                found[place] = number
            } else if let id = entry.id {
                others[Key(identity: id), default: []].append(number)
            }
        }
        for (identity, numbers) in others where numbers.count == 1 {
            guard let places = byIdentityAlone[identity], places.count == 1, missing.contains(places[0]) else {
                continue
            }
            missing.remove(places[0])
            found[places[0]] = numbers[0]
        }
        return found
    }

    /// The next place with a key that is left to look for.
    private static func take(_ key: Key, from places: inout [Key: [Int]], _ missing: Set<Int>) -> Int? {
        while let place = places[key]?.popLast() { if missing.contains(place) { return place } }
        return nil
    }
}
