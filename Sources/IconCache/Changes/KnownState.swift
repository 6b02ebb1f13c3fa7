// SPDX-License-Identifier: Apache-2.0

/// The knowledge of a subscriber to a whole cache, with which the next generation is compared.
package struct KnownState: Sendable {
    private struct List {
        var sha256: Digest
        /// The list's ready icons in order, without duplicates.
        var ready: [IconURL]
    }

    /// The image that a list has for an icon, with its rank among the images in other lists.
    private struct Holding {
        var list: ListName
        var rank: Int
        var image: AppListDocument.Image
    }

    private struct Icon {
        /// The digest of the image that was last reported.
        var reported: Digest?
        /// The image of one list; for most icons it is the only one.
        var first: Holding?
        var others: [Holding] = []

        mutating func add(_ holding: Holding) {
            if first == nil { first = holding } else { others.append(holding) }
        }

        mutating func remove(_ list: ListName) {
            if first?.list == list { first = others.popLast() } else { others.removeAll { $0.list == list } }
        }

        /// The image of the entry with the highest rank: see ``IconCache/entry(forIcon:)``.
        var image: AppListDocument.Image? {
            guard let first else { return nil }
            return others.reduce(first) { best, other in
                other.rank > best.rank || other.rank == best.rank && other.list < best.list ? other : best
            }.image
        }
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
    /// - Returns: The changes: removed lists, then added and changed lists, each by name; then icons that have another
    ///   image, in the order of the lists that changed, then others of those lists' old versions; then icons that have no
    ///   image any more.
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
        var touched: [IconURL] = []
        for document in documents {
            guard let sha256 = manifest.lists[document.list]?.sha256 else { continue }
            let ready = hold(document)
            lists[document.list] = List(sha256: sha256, ready: ready)
            touched += ready
        }
        var gone: [Change] = []
        for url in touched + left {
            guard let icon = icons[url] else { continue }
            guard let image = icon.image else {
                icons[url] = nil
                gone.append(.iconGone(url: url))
                continue
            }
            guard icon.reported != image.sha256 else { continue }
            changes.append(
                icon.reported == nil ? .iconReady(url: url, image: image) : .iconReplaced(url: url, image: image))
            icons[url]?.reported = image.sha256
        }
        return changes + gone
    }

    /// Takes over the images of a list; returns its ready icons in order.
    private mutating func hold(_ document: AppListDocument) -> [IconURL] {
        var ready: [IconURL] = []
        var places: [IconURL: Holding] = [:]
        for app in document.apps {
            guard case .ready(let image) = app.state else { continue }
            let holding = Holding(list: document.list, rank: app.rank, image: image)
            guard let other = places[app.icon] else {
                places[app.icon] = holding
                ready.append(app.icon)
                continue
            }
            if holding.rank > other.rank { places[app.icon] = holding }
        }
        for url in ready { if let holding = places[url] { icons[url, default: Icon()].add(holding) } }
        return ready
    }

    /// Removes the known version of a list; returns the URLs of its icons.
    private mutating func forget(_ name: ListName) -> [IconURL] {
        let urls = lists.removeValue(forKey: name)?.ready ?? []
        for url in urls { icons[url]?.remove(name) }
        return urls
    }
}
