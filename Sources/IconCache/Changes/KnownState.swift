// SPDX-License-Identifier: Apache-2.0

/// A subscriber's knowledge of a cache, with which the next generation is compared.
package struct KnownState: Sendable {
    private struct List {
        var sha256: Digest
        /// The list's ready icons in order, without duplicates.
        var ready: [IconURL]
    }

    private struct Icon {
        var image: AppListDocument.Image
        var lists: Int
    }

    private var lists: [ListName: List] = [:]
    private var icons: [IconURL: Icon] = [:]

    package init() {}

    /// The lists of a manifest whose documents are unknown, sorted by name.
    package func unknownLists(of manifest: Manifest) -> [ListName] {
        manifest.lists.filter { name, list in lists[name]?.sha256 != list.sha256 }.keys.sorted()
    }

    /// Advances to the next generation.
    ///
    /// - Parameters:
    ///   - manifest: The manifest of the generation.
    ///   - documents: The documents of its ``unknownLists(of:)``, in that order.
    /// - Returns: The changes: removed lists, then added and changed lists, each by name; then icons that have a new
    ///   image, in the order of their lists, then icons that have no image any more.
    /// - Complexity: O(*m* + *n*), where *m* is the number of lists and *n* the number of entries in old and new
    ///   versions of those that changed.
    package mutating func advance(to manifest: Manifest, documents: [AppListDocument]) -> [Change] {
        var changes: [Change] = []
        var left: [IconURL] = []
        for name in lists.keys.sorted() where manifest.lists[name] == nil {
            changes.append(.listRemoved(name))
            left += forget(name)
        }
        for document in documents {
            changes.append(lists[document.list] == nil ? .listAdded(document.list) : .listChanged(document.list))
            left += forget(document.list)
        }
        for document in documents {
            guard let sha256 = manifest.lists[document.list]?.sha256 else { continue }
            var list = List(sha256: sha256, ready: [])
            var seen: Set<IconURL> = []
            for case (let url, .ready(let image)) in document.apps.lazy.map({ ($0.icon, $0.state) })
            where seen.insert(url).inserted {
                list.ready.append(url)
                if let change = hold(url, image) { changes.append(change) }
            }
            lists[document.list] = list
        }
        for url in left where icons[url]?.lists == 0 {
            icons[url] = nil
            changes.append(.iconGone(url: url))
        }
        return changes
    }

    /// Adds an icon of a list.
    private mutating func hold(_ url: IconURL, _ image: AppListDocument.Image) -> Change? {
        guard let icon = icons[url] else {
            icons[url] = Icon(image: image, lists: 1)
            return .iconReady(url: url, image: image)
        }
        icons[url] = Icon(image: image, lists: icon.lists + 1)
        return icon.image == image ? nil : .iconReplaced(url: url, image: image)
    }

    /// Removes the known version of a list; returns the URLs of its icons.
    private mutating func forget(_ name: ListName) -> [IconURL] {
        let urls = lists.removeValue(forKey: name)?.ready ?? []
        for url in urls { icons[url]?.lists -= 1 }
        return urls
    }
}
