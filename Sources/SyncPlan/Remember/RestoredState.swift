// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules

/// The state that an earlier run left: in the cache folder, and in the database.
package struct RestoredState: Sendable {
    /// The valid generations on disk, oldest first; the last one is current.
    package var manifests: [Manifest] = []
    /// Whether the current generation names damaged files and must be replaced.
    package var isDamaged = false
    /// The documents of these generations; empty after ``buildCatalog()``.
    package var documents: [Digest: AppListDocument] = [:]
    /// Missing or damaged images of the current generation.
    package var missing: Set<Digest> = []
    /// Higher than every generation that is or was in the cache folder.
    package var nextGeneration = 1
    package var memory = Remembered()
    /// Partial images whose downloads can be resumed.
    package var partials: [PartialDownload] = []
    /// Whether the cache folder has names of renditions.
    package var hasRenditionNames = false

    /// The catalog, once ``buildCatalog()`` has built it.
    fileprivate var catalog: RestoredCatalog?

    package init() {}

    /// Builds the catalog from the generations; does not need ``memory``.
    package mutating func buildCatalog() {
        if catalog == nil { catalog = RestoredCatalog(manifests, documents: &documents, missing: missing) }
        documents = [:]
    }

    /// Moves everything out: with two owners the catalog would be copied when it changes.
    package mutating func moveOut() -> RestoredState {
        defer { self = RestoredState() }
        return self
    }

    /// Moves the catalog out, for the same reason.
    mutating func moveCatalog() -> RestoredCatalog {
        buildCatalog()
        defer { catalog = nil }
        return catalog ?? RestoredCatalog([], documents: &documents, missing: [])
    }

    /// The held change; its generation is limited to those that can be on disk, because a failed publication may have
    /// had a higher number.
    var knownHold: EvictionBrake.Hold? {
        guard var hold = memory.values.hold else { return nil }
        hold.generation = min(hold.generation, newestGeneration)
        return hold
    }

    /// The highest generation number ever given, even if the cache folder is an older copy, or new.
    var newestGeneration: Int { max(nextGeneration - 1, memory.values.newestGeneration) }
}

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
                for app in documents[list.sha256]?.apps ?? [] { restoreOlder(app, missing: missing) }
            }
        }
        catalog.images.record(missing, areWhole: false)
        // Usually no icons are retired.
        if !catalog.retired.isEmpty { findReplaced(manifests, documents) }
        catalog.images.forgetUnused()
    }

    /// Moves the catalog and the ledger out of `self`: with two owners they would be copied when they change.
    mutating func take() -> (Catalog, RetirementLedger) {
        defer { (catalog, ledger) = (Catalog(), RetirementLedger()) }
        return (catalog, ledger)
    }

    private mutating func restore(
        _ name: ListName, _ published: Manifest.List, _ document: AppListDocument, missing: Set<Digest>
    ) {
        let images = document.apps.map { app in
            app.ownImage.flatMap { missing.contains($0.sha256) ? nil : catalog.images.id(of: $0.sha256) }
        }
        let apps = Apps(AppEntries(of: document))
        catalog.restore(
            name, ListRecord(state: .ok, source: document.source, apps: apps, published: published), images: images)
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

    private mutating func restoreOlder(_ app: AppListDocument.App, missing: Set<Digest>) {
        let known = catalog.icons[app.icon]
        guard let image = app.ownImage else {
            guard case .ready(let image) = app.state, !missing.contains(image.sha256),
                let id = catalog.images.id(of: image.sha256)
            else { return }
            if let last = app.previous?.icon, catalog.orphan(of: last) == nil { catalog.recordOrphan(id, of: last) }
            // The name stays as long as the generation.
            if known == nil, catalog.names[app.icon] == nil {
                catalog.names.restore(app.icon, id, in: &catalog.images)
            }
            return
        }
        guard known?.hasImage != true, known?.wasMissing != true, !catalog.isReplaced(app.icon) else { return }
        if missing.contains(image.sha256) { return recordMissing(app.icon) }
        guard let id = catalog.images.id(of: image.sha256) else { return }
        catalog.apply(.found(id, freshUntil: .distantPast), to: app.icon)
        doubtfulImages.insert(image.sha256)
        outdatedLists.formUnion(known?.lists ?? [])
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

extension AppEntries {
    package init(of document: AppListDocument) { self.init(document.apps.map(AppEntry.init)) }
}

extension AppEntry {
    init(_ app: AppListDocument.App) {
        self.init(name: app.name, id: app.id, icon: app.icon, download: app.download, expected: app.expected)
    }
}

extension Reconciler {
    /// Restores the state that an earlier run stored outside the cache folder.
    mutating func restore(_ state: consuming RestoredState) {
        book.downloads.restore(state.memory.origins, in: &turn)
        for memo in state.memory.icons { book.restore(memo, at: turn.now) }
        book.setMissingFreshness(since: min(state.manifests.first?.published ?? turn.now, turn.now), in: &turn)
        for memo in state.memory.lists {
            guard memo.rules == folder.rules, book.catalog.lists[memo.list]?.source?.sha256 == memo.sha256 else {
                turn.memos.mark(list: memo.list, at: turn.now)
                continue
            }
            book.catalog.updateList(memo.list) { $0.isRead = true }
        }
        for memo in state.memory.rejections { rejections[memo.list] = memo }
        for id in book.catalog.icons.ids where !book.catalog.icons[id].icon.isReferenced { book.decide(id, in: &turn) }
        book.groupKeys()
        if state.isDamaged { book.publishing.window.markChanged(at: turn.now) }
        let known = Set(state.memory.superseded.keys).union(book.retention.ledger.supersessions.keys)
        turn.memos.recordStart(values: remembered, generations: known)
    }
}

extension IconBook {
    /// Sets the freshness of images without a memo, as if they had arrived with the oldest generation.
    fileprivate mutating func setMissingFreshness(since published: Timestamp, in turn: inout Turn) {
        for id in catalog.icons.ids where catalog.icons[id].icon.freshUntil == .distantPast {
            let freshUntil = published + settings.refresh.default.jittered(using: &turn.generator)
            guard catalog.icons[id].icon.hasImage else { continue }
            catalog.apply(.expires(freshUntil), to: id)
        }
    }

    fileprivate mutating func restore(_ memo: IconMemo, at now: Timestamp) {
        var known: (response: PackedResponse?, freshUntil: Timestamp)?
        let id = catalog.id(of: memo.url)
        // Validators stand for the bytes of an image: without it they must not be sent.
        if let image = catalog.images.digest(catalog.icons[id].icon.image), image == memo.image {
            // Times further ahead than the rules allow were set by a wrong clock.
            let latest = now + RefreshPolicy().maximum + RefreshPolicy().longestDelay
            let isAhead = memo.packedResponse.map { NextCheck.isAhead($0.responseTime, of: now) } ?? false
            known = (memo.packedResponse, isAhead || memo.freshUntil > latest ? now : memo.freshUntil)
        }
        var failure = memo.failure
        if let last = memo.failure {
            let latest = now + downloads.backoff.longest(after: last.code)
            // Failures that depend on settings are retried now, because the settings may have changed; also those of a
            // network's login, because it is not stored which icons wait for it.
            let isOpen =
                settings.credentials.mayDepend(last.code, of: memo.url) || last.attempts == 0
                || last.code == .fetch(.networkLogin)
            failure?.nextAttempt = isOpen ? now : last.nextAttempt.map { $0 > latest ? now : $0 }
        }
        let trail = catalog.share(memo.trail)
        catalog.apply(.remembered(known?.response, freshUntil: known?.freshUntil, failure, trail), to: id)
    }
}
