// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension CacheExpectation {
    /// The sample sizes of a quick inspection.
    private static let sample = (documents: 64, images: 256)
    /// The divisor of the sample sizes when a publication waits for the inspection.
    private static let haste = 8

    /// Chooses the files that an inspection must find; with a publication waiting for it, a smaller sample.
    init(
        _ order: CacheChecks.Order, of publishing: PublicationPlan, _ catalog: Catalog, isHasty: Bool,
        using generator: inout SeededGenerator
    ) {
        let share = isHasty ? Self.haste : 1
        var documents: [ListName: Digest] = [:]
        let manifest = publishing.manifest
        let published = manifest?.lists ?? [:]
        if order.isComplete || published.count <= Self.sample.documents / share {
            documents = published.mapValues(\.sha256)
        } else {
            let start = published.index(
                published.startIndex, offsetBy: Int.random(in: 0..<published.count, using: &generator))
            for (name, list) in published[start...].prefix(Self.sample.documents / share) {
                documents[name] = list.sha256
            }
        }
        self.init(
            generation: manifest?.generation, documents: documents,
            images: order.isComplete ? Self.images(of: catalog) : nil,
            sample: order.hasSample ? Self.sample(of: catalog, Self.sample.images / share, using: &generator) : [],
            removesOthers: order.removesOthers, doubtful: order.doubtful)
    }

    /// A sample of the images that lists show, or all of them if they are few; O(*n*) in the number of lists and
    /// sampled images.
    private static func sample(of catalog: Catalog, _ limit: Int, using generator: inout SeededGenerator) -> [Naming] {
        let total = catalog.lists.values.reduce(0) { $0 + $1.icons.count }
        var chosen = Array(0..<min(total, limit))
        if total > limit {
            chosen = chosen.map { _ in Int.random(in: 0..<total, using: &generator) }.sorted()
        }
        var images: [Naming] = []
        // The index of the list's first entry in the concatenation of all lists.
        var start = 0
        var rest = chosen[...]
        for list in catalog.lists.values {
            while let next = rest.first, next < start + list.icons.count {
                rest.removeFirst()
                let (icon, url) = (list.icons[next - start], catalog.icons.url(of: list.icons[next - start]))
                let (named, unnamed) = Self.images(of: icon, url, catalog)
                if let named { images.append(Naming(image: catalog.images.image(named), url: url)) }
                if let unnamed { images.append(Naming(image: catalog.images.image(unnamed), url: nil)) }
            }
            start += list.icons.count
        }
        return images
    }

    /// All images on disk, with the URLs that show them; O(*n*) in the number of icons and of entries in all documents.
    private static func images(of catalog: Catalog) -> Namings {
        var images = Namings(of: catalog)
        let ids = catalog.icons.ids
        images.reserveCapacity(ids.count)
        let areAllOwn = catalog.names.names.isEmpty
        for id in ids {
            if areAllOwn {
                if let image = catalog.icons[id].icon.image { images.append(catalog.images[image], of: id) }
            } else {
                let (named, unnamed) = Self.images(of: id, catalog.icons.url(of: id), catalog)
                if let named { images.append(catalog.images[named], of: id) }
                if let unnamed { images.append(catalog.images[unnamed], of: nil) }
            }
        }
        // Include unreferenced icons while their names exist.
        for (url, name) in catalog.names.names where catalog.icons[url] == nil {
            if let image = name.image { images.append(Naming(image: catalog.images.image(image), url: url)) }
        }
        // Apps may show last images that no `by-url/` name links to. None should be damaged: if one is, no publication
        // succeeds until it is found.
        let named = catalog.hasLastImages ? Set(images.indices.lazy.map(images.digest(at:))) : nil
        for id in catalog.images.ids {
            let row = catalog.images[id]
            guard row.isKept || row.isShown && row.isDamaged, !(named?.contains(row.key) ?? row.isShown)
            else { continue }
            images.append(row, of: nil)
        }
        return images
    }

    /// The image to which an icon's `by-url/` name leads, and the icon's own one until the name leads to it.
    private static func images(
        of icon: IconID, _ url: IconURL, _ catalog: Catalog
    ) -> (named: ImageID?, unnamed: ImageID?) {
        let (own, name) = (catalog.icons[icon].icon.image, catalog.names[url])
        guard let own else { return (name?.image, nil) }
        guard let name, name.image != own else { return (own, nil) }
        // Documents still show it; it is not expected once it is known to be lost.
        let last = name.isDamaged ? nil : name.image
        return (last.flatMap { catalog.images[$0].isOnDisk ? $0 : nil }, own)
    }
}
