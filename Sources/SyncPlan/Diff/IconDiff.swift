// SPDX-License-Identifier: Apache-2.0

/// What a new version of an app list changes in the set of URLs that the list names.
package struct IconDiff: Equatable, Sendable {
    package var added: Set<String>
    package var removed: Set<String>

    package init(added: Set<String>, removed: Set<String>) {
        self.added = added
        self.removed = removed
    }

    package init(from old: [AppEntry], to new: [AppEntry]) {
        let oldURLs = Set(old.lazy.map(\.icon))
        let newURLs = Set(new.lazy.map(\.icon))
        added = newURLs.subtracting(oldURLs)
        removed = oldURLs.subtracting(newURLs)
    }
}
