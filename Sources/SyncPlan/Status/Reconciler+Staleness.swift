// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension Reconciler {
    /// The icons of a list, or of any list (`nil`), whose last refresh failed; O(*n*) in the number of icons while one
    /// fails, else O(1).
    package func staleIcons(of list: ListName?) -> Set<IconURL> {
        guard book.catalog.tally.stale > 0 else { return [] }
        let icons = book.catalog.icons
        let stale = icons.ids.filter { id in
            icons[id].icon.isStale && list.map { icons[id].icon.lists.contains($0) } ?? true
        }
        return Set(stale.map { icons[$0].url })
    }
}
