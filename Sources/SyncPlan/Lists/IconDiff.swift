// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The differences between two versions of an app list, by URL.
struct IconDiff: Equatable, Sendable {
    private(set) var added: Set<IconURL> = []
    private(set) var removed: Set<IconURL> = []
    /// The changed expected digests; none where the list no longer gives any.
    private(set) var expected: [IconURL: Set<Digest>] = [:]
}

extension IconDiff {
    /// Skips the common beginning and end of both versions, so that a changed line in a long list costs little.
    init(from old: AppEntries, to new: AppEntries) {
        self.init()
        guard !old.isEmpty else {
            added.reserveCapacity(new.count)
            for (position, icon) in new.icons.enumerated() {
                added.insert(icon)
                if let digest = new.expected(at: position) { expected[icon, default: []].insert(digest) }
            }
            return
        }
        let differing = DifferingParts(of: old.count, and: new.count) { before, after in
            old.icons[before] == new.icons[after] && old.expected(at: before) == new.expected(at: after)
        }
        // The unchanged parts may name the same URLs.
        let touched = Set(old.icons[differing.old]).union(new.icons[differing.new])
        guard !touched.isEmpty else { return }
        let (before, after) = (Self.mentions(of: touched, in: old), Self.mentions(of: touched, in: new))
        for url in touched {
            if before[url] == nil { added.insert(url) }
            if after[url] == nil { removed.insert(url) }
            let digests = after[url] ?? []
            if before[url] ?? [] != digests { expected[url] = digests }
        }
    }

    /// The URLs that a list names, each with the digests that its entries give: two versions of an app can have two.
    private static func mentions(of touched: Set<IconURL>, in entries: AppEntries) -> [IconURL: Set<Digest>] {
        var mentions: [IconURL: Set<Digest>] = [:]
        for (position, icon) in entries.icons.enumerated() where touched.contains(icon) {
            mentions[icon, default: []].formUnion(entries.expected(at: position).map { [$0] } ?? [])
        }
        return mentions
    }
}
