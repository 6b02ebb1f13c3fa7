// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The catalog and ledger as the generations on disk describe them.
struct RestoredCatalog: Sendable {
    private(set) var catalog = Catalog()
    private(set) var ledger = RetirementLedger()
    /// Lists with outdated documents: an image is missing, or only an older generation has it.
    private(set) var outdatedLists: Set<ListName> = []
    /// Images that an older generation has for a URL and the newest has not; they may have been found damaged.
    private(set) var doubtfulImages: Set<Digest> = []
    /// The renditions on disk that the newest generation names, by their originals.
    private(set) var renditions: [Digest: [AppListDocument.Rendition]] = [:]
    /// Lists whose documents lack renditions of images that another list's document names with them.
    private(set) var unevenLists: Set<ListName> = []
    /// The sizes of renditions that the newest document of each list names, for lists that name any.
    private(set) var sizes: [ListName: Set<RenditionSize>] = [:]
    /// The unreferenced icons whose apps have new icons.
    private(set) var replaced: Set<IconURL> = []
    /// The icons with images of older generations.
    private var older: [(generation: Int, icon: IconID)] = []
    private var orphans: [(generation: Int, image: ImageID, url: IconURL)] = []

    /// `manifests` are ordered oldest first; `missing` are the images not on disk.
    ///
    /// Takes the documents that are needed no more away, because the catalog grows meanwhile.
    init(_ manifests: [Manifest], documents: inout [Digest: AppListDocument], missing: Set<Digest>) {
        for manifest in manifests {
            ledger.publish(manifest, newDocuments: documents, in: &catalog, at: manifest.published)
        }
        let isPlain = !documents.values.contains(where: \.hasRest)
        let newest = manifests.last?.lists ?? [:]
        for (name, list) in newest {
            guard let document = documents[list.sha256] else { continue }
            restore(name, list, document, missing: missing)
            if isPlain, manifests.allSatisfy({ $0.lists[name].map { $0.sha256 == list.sha256 } ?? true }) {
                documents[list.sha256] = nil
            }
        }
        let rest = newest.values.compactMap { documents[$0.sha256] }
        for document in rest { restorePrevious(document, missing: missing) }
        if !renditions.isEmpty { for document in rest { findUneven(document) } }
        for icon in catalog.iconsReplaced {
            catalog.names.restore(icon, catalog.shownImage(for: icon), in: &catalog.images)
        }
        // What a newer generation says of a URL takes precedence.
        for (manifest, newer) in zip(manifests, manifests.dropFirst()).reversed() {
            for (name, list) in manifest.lists where newer.lists[name]?.sha256 != list.sha256 {
                for app in documents[list.sha256]?.apps ?? [] {
                    restoreOlder(app, of: manifest.generation, missing: missing)
                }
            }
        }
        catalog.images.record(missing, areWhole: false)
        // Usually no icons are retired.
        if !catalog.retired.isEmpty { findReplaced(manifests, documents) }
        catalog.images.forgetUnused()
    }

    /// Drops the images that only purged generations have, and records the lists that show those of other older ones.
    mutating func finish(purged: Int?) {
        for (generation, icon) in older {
            if generation > purged ?? 0 {
                outdatedLists.formUnion(catalog.icons[icon].icon.lists)
            } else {
                catalog.apply(.purged, to: icon)
            }
        }
        guard let purged else { return }
        ledger.purged = purged
        catalog.forgetOrphans()
        for (generation, image, url) in orphans where generation > purged && catalog.orphan(of: url) == nil {
            catalog.recordOrphan(image, of: url)
        }
    }

    /// Moves the catalog and the ledger out of `self`: with two owners they would be copied when they change.
    mutating func moveOut() -> (Catalog, RetirementLedger) {
        defer { (catalog, ledger) = (Catalog(), RetirementLedger()) }
        return (catalog, ledger)
    }

    private mutating func restore(
        _ name: ListName, _ published: Manifest.List, _ document: AppListDocument, missing: Set<Digest>
    ) {
        let images = document.apps.map { app in
            app.ownImage.flatMap { missing.contains($0.sha256) ? nil : catalog.images.id(of: $0.sha256) }
        }
        catalog.restore(
            name, ListRecord(state: .ok, source: document.source, published: published), AppEntries(of: document),
            images: images)
        restoreRenditions(document, missing: missing)
        guard !missing.isEmpty else { return }
        for app in document.apps {
            if let image = app.ownImage, missing.contains(image.sha256) { recordMissing(app.icon) }
        }
    }

    private mutating func restoreRenditions(_ document: AppListDocument, missing: Set<Digest>) {
        for app in document.apps where !app.renditions.isEmpty {
            sizes[document.list, default: []].formUnion(app.renditions.lazy.map(\.size))
            guard case .ready(let image) = app.state, !missing.contains(image.sha256) else { continue }
            let there = app.renditions.filter { !missing.contains($0.image.sha256) }
            if there.count < app.renditions.count { outdatedLists.insert(document.list) }
            let known = renditions[image.sha256] ?? []
            let new = there.filter { rendition in !known.contains { $0.size == rendition.size } }
            if !new.isEmpty { renditions[image.sha256] = known + new }
        }
    }

    /// Finds the lists with an image that another list has in other sizes, or by other rules.
    private mutating func findUneven(_ document: AppListDocument) {
        let isUneven = document.apps.contains { app in
            guard case .ready(let image) = app.state, let known = renditions[image.sha256] else { return false }
            return known.count != app.renditions.count || !app.renditions.allSatisfy(known.contains)
        }
        if isUneven { unevenLists.insert(document.list) }
    }

    /// Restores the last images that apps show, except where icons have their own.
    private mutating func restorePrevious(_ document: AppListDocument, missing: Set<Digest>) {
        for index in document.apps.indices where document.apps[index].hasPrevious {
            let app = document.apps[index]
            guard let previous = app.previous, case .ready(let image) = app.state else { continue }
            let isOwn = catalog.icons[app.icon]?.hasImage ?? false
            let id = catalog.images.id(of: image.sha256)
            guard !isOwn, !missing.contains(image.sha256), let id else {
                outdatedLists.insert(document.list)
                if missing.contains(image.sha256), let id { catalog.images.miss(id) }
                continue
            }
            catalog.changePast(of: AppIndex(list: document.list, position: index)) {
                $0.last = App.LastImage(url: previous.icon, image: id, since: previous.since)
            }
        }
    }

    /// Finds the unreferenced icons of older generations whose apps have new icons.
    private mutating func findReplaced(_ manifests: [Manifest], _ documents: [Digest: AppListDocument]) {
        for (manifest, newer) in zip(manifests, manifests.dropFirst()) {
            for (name, list) in manifest.lists {
                guard let next = newer.lists[name], next.sha256 != list.sha256, let old = documents[list.sha256],
                    let new = documents[next.sha256]
                else { continue }
                let entries = (old: AppEntries(of: old), new: AppEntries(of: new))
                let match = AppMatch(from: entries.old, to: entries.new)
                let succeeded = match.succeeded(from: entries.old, to: entries.new)
                let gone = match.gone.lazy.map { old.apps[$0] }
                replaced.subtract(gone.compactMap(\.previous?.icon))
                let last = Set(match.counterparts.values.lazy.map { entries.old.icons[$0] }).union(gone.map(\.icon))
                replaced.subtract(last.subtracting(succeeded))
                replaced.formUnion(succeeded.filter { catalog.icons[$0]?.isReferenced != true })
            }
        }
    }

    private mutating func restoreOlder(_ app: AppListDocument.App, of generation: Int, missing: Set<Digest>) {
        let known = catalog.icons[app.icon]
        guard let image = app.ownImage else {
            guard case .ready(let image) = app.state, !missing.contains(image.sha256),
                let id = catalog.images.id(of: image.sha256)
            else { return }
            if let last = app.previous?.icon, catalog.orphan(of: last) == nil {
                catalog.recordOrphan(id, of: last)
                orphans.append((generation, id, last))
            }
            // The name stays as long as the generation.
            if known == nil, catalog.names[app.icon] == nil {
                catalog.names.restore(app.icon, id, in: &catalog.images)
            }
            return
        }
        guard known?.hasImage != true, known?.wasMissing != true, !catalog.isReplaced(app.icon) else { return }
        if missing.contains(image.sha256) { return recordMissing(app.icon) }
        guard let id = catalog.images.id(of: image.sha256) else { return }
        let icon = catalog.id(of: app.icon)
        catalog.apply(.found(id, freshUntil: .distantPast), to: icon)
        doubtfulImages.insert(image.sha256)
        older.append((generation, icon))
    }

    private mutating func recordMissing(_ url: IconURL) {
        if catalog.icons[url]?.hasImage != true { catalog.apply(.lost, to: url) }
        outdatedLists.formUnion(catalog.icons[url]?.lists ?? [])
    }
}

extension AppListDocument {
    /// Whether an entry has more than its own image.
    fileprivate var hasRest: Bool {
        // By index: iterating over entries copies them.
        apps.indices.contains { if case .none = apps[$0].rest { false } else { true } }
    }
}
