// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Entries of a list that have no image, for which entries that were in the list earlier are looked through.
///
/// They are the same app if identity and name are the same, or the identity alone, if one entry has it in each version; or
/// else, if one of them has no identity, if name and URL are. A URL alone does not tell which app it was of.
struct ReturningApps {
    private let entries: [AppEntry]
    /// The entries that are looked for, by identity and by URL.
    private var byIdentity: [IconURL: [Int]] = [:]
    private var byIcon: [IconURL: [Int]] = [:]
    /// What was found for an entry is not looked for any more.
    private(set) var missing: Set<Int>

    /// - Parameters:
    ///   - entries: All entries of the list.
    ///   - missing: The places of those that are looked for.
    init(_ entries: [AppEntry], missing: [Int]) {
        self.entries = entries
        self.missing = Set(missing)
        for place in missing {
            if let id = entries[place].id { byIdentity[IconURL(id), default: []].append(place) }
            byIcon[entries[place].icon, default: []].append(place)
        }
    }

    /// Finds apps among earlier entries.
    ///
    /// - Parameter earlier: The entries, of one version of the list.
    /// - Returns: The place of each earlier entry whose app is found, by the place that it has now.
    /// - Complexity: O(*n*) in the number of earlier entries.
    mutating func take(from earlier: [AppEntry]) -> [Int: Int] {
        var found: [Int: Int] = [:]
        var byIdentityAlone: [Int: [Int]] = [:]
        for (number, entry) in earlier.enumerated() {
            let sameIdentity = entry.id.flatMap { byIdentity[IconURL($0)] } ?? []
            let exact = (sameIdentity + (byIcon[entry.icon] ?? [])).first { place in
                let app = entries[place]
                return missing.contains(place) && AppMatch.isSame(app.name, entry.name)
                    && (app.id != nil && entry.id != nil ? AppMatch.isSame(app.id, entry.id) : app.icon == entry.icon)
            }
            if let exact {
                missing.remove(exact)
                found[exact] = number
            } else if sameIdentity.count == 1, let place = sameIdentity.first {
                byIdentityAlone[place, default: []].append(number)
            }
        }
        for (place, numbers) in byIdentityAlone where numbers.count == 1 && missing.contains(place) && isAlone(place) {
            missing.remove(place)
            found[place] = numbers[0]
        }
        return found
    }

    /// Whether no other entry of the list has the identity of this one.
    private func isAlone(_ place: Int) -> Bool {
        entries.count { AppMatch.isSame($0.id, entries[place].id) } == 1
    }
}
