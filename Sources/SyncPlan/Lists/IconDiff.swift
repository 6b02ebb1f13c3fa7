// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The differences between two versions of an app list, by URL.
package struct IconDiff: Equatable, Sendable {
    package private(set) var added: Set<IconURL> = []
    package private(set) var removed: Set<IconURL> = []
    /// The changed expected digests; none where the list no longer gives any.
    package private(set) var expected: [IconURL: Set<Digest>] = [:]

    package init(added: Set<IconURL>, removed: Set<IconURL>) {
        self.added = added
        self.removed = removed
    }

    /// Skips the common beginning and end of both versions, so that a changed line in a long list costs little.
    package init(from old: [AppEntry], to new: [AppEntry]) {
        guard !old.isEmpty else {
            added.reserveCapacity(new.count)
            for entry in new {
                added.insert(entry.icon)
                if let digest = entry.expected { expected[entry.icon, default: []].insert(digest) }
            }
            return
        }
        let differing = DifferingParts(of: old, and: new, where: Self.saySame)
        let (oldPart, newPart) = (old[differing.old], new[differing.new])
        guard !oldPart.isEmpty || !newPart.isEmpty else { return }

        // The unchanged parts may name the same URLs.
        let touched = Set(oldPart.lazy.map(\.icon)).union(newPart.lazy.map(\.icon))
        let first = old[..<oldPart.startIndex].filter { touched.contains($0.icon) }
        let last = old[oldPart.endIndex...].filter { touched.contains($0.icon) }
        let before = Self.mentions(in: first + oldPart + last)
        let after = Self.mentions(in: first + newPart + last)
        for url in touched {
            if before[url] == nil { added.insert(url) }
            if after[url] == nil { removed.insert(url) }
            let digests = after[url] ?? []
            if before[url] ?? [] != digests { expected[url] = digests }
        }
    }

    private static func saySame(_ old: AppEntry, _ new: AppEntry) -> Bool {
        old.icon == new.icon && old.expected == new.expected
    }

    /// The named URLs, each with the digests that its entries give: two versions of an app can have two.
    private static func mentions(in entries: [AppEntry]) -> [IconURL: Set<Digest>] {
        var mentions: [IconURL: Set<Digest>] = [:]
        for entry in entries {
            mentions[entry.icon, default: []].formUnion(entry.expected.map { [$0] } ?? [])
        }
        return mentions
    }
}
