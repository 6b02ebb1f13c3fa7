// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// What a new version of an app list changes in what the list says of URLs.
package struct IconDiff: Equatable, Sendable {
    package var added: Set<String>
    package var removed: Set<String>
    /// The digests that are expected of images from now on; `nil` where none is any more.
    package var expected: [String: Digest?] = [:]

    package init(added: Set<String>, removed: Set<String>) {
        self.added = added
        self.removed = removed
    }

    package init(from old: [AppEntry], to new: [AppEntry]) {
        let oldURLs = Set(old.lazy.map(\.icon))
        let newURLs = Set(new.lazy.map(\.icon))
        added = newURLs.subtracting(oldURLs)
        removed = oldURLs.subtracting(newURLs)
        let before = Self.expectations(of: old)
        expected = before.mapValues { _ in nil }
        expected.merge(Self.expectations(of: new)) { $1 }
        expected = expected.filter { before[$0.key] != $0.value }
    }

    /// The digest expected of each URL's image: the first one that an entry gives.
    private static func expectations(of entries: [AppEntry]) -> [String: Digest] {
        entries.reduce(into: [:]) { expected, entry in
            guard let digest = entry.expected, expected[entry.icon] == nil else { return }
            expected[entry.icon] = digest
        }
    }
}
