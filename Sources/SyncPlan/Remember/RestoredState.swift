// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules

/// What an earlier run left.
package struct RestoredState: Sendable {
    /// The good generations on disk, the oldest first; the last one is the current one.
    package var manifests: [Manifest] = []
    /// Whether the current generation on disk names what is damaged, so that a whole one must take its place.
    package var isDamaged = false
    /// The documents that they name; none once they are taken apart.
    package var documents: [Digest: AppListDocument] = [:]
    /// Images of the current generation that are not on disk, or not as they should be.
    package var missing: Set<Digest> = []
    /// Larger than every generation that is in the cache folder, or was there.
    package var nextGeneration = 1
    /// What was remembered beside the cache folder.
    package var memory = Remembered()
    /// Beginnings of images whose download can go on.
    package var partials: [PartialDownload] = []

    /// What the generations say, once they are taken apart.
    fileprivate var catalog: RestoredCatalog?

    package init() {}

    /// Takes apart what the generations say: that needs nothing of what is remembered beside the cache folder.
    package mutating func takeApart() {
        if catalog == nil { catalog = RestoredCatalog(manifests, documents: documents, missing: missing) }
        documents = [:]
    }

    /// Gives away what the generations say: what has two owners is copied when it changes.
    mutating func takeCatalog() -> RestoredCatalog {
        takeApart()
        defer { catalog = nil }
        return catalog ?? RestoredCatalog([], documents: [:], missing: [])
    }

    /// The hold, with a generation that can be on disk: a publication that came to nothing may have had a later number.
    var knownHold: EvictionBrake.Hold? {
        guard var hold = memory.values.hold else { return nil }
        hold.generation = min(hold.generation, newestGeneration)
        return hold
    }

    /// The highest number that a generation ever had, also if the cache folder is an older copy, or a new one.
    var newestGeneration: Int { max(nextGeneration - 1, memory.values.newestGeneration) }
}

/// What the generations on disk say, as the plan keeps it.
struct RestoredCatalog: Sendable {
    private(set) var catalog = Catalog()
    private(set) var ledger = RetirementLedger()
    /// The lists whose documents are out of date: an image is missing, or an older generation has one.
    private(set) var outdatedLists: Set<ListName> = []
    /// The images that an older generation has for a URL and the newest has not: they may have been found damaged.
    private(set) var doubtfulImages: Set<Digest> = []
    /// The images that the names of icons lead to that have none of their own.
    private(set) var named: [IconURL: Boxed<AppListDocument.Image>] = [:]
    /// The icons that no list names because their apps have others now.
    private(set) var replaced: Set<IconURL> = []

    /// - Parameters:
    ///   - manifests: The generations, the oldest first.
    ///   - documents: The documents that they name.
    ///   - missing: The images that are not on disk.
    init(_ manifests: [Manifest], documents: [Digest: AppListDocument], missing: Set<Digest>) {
        for manifest in manifests { ledger.publish(manifest, newDocuments: documents, at: manifest.published) }
        for (name, list) in manifests.last?.lists ?? [:] {
            if let document = documents[list.sha256] { restore(name, list, document, missing: missing) }
        }
        for list in manifests.last?.lists.values ?? [:].values {
            if let document = documents[list.sha256] { restorePrevious(document, missing: missing) }
        }
        for icon in catalog.previous.icons { named[icon] = catalog.previous.shown(for: icon)?.image }
        // What a newer generation says of a URL counts.
        for (manifest, newer) in zip(manifests, manifests.dropFirst()).reversed() {
            for (name, list) in manifest.lists where newer.lists[name]?.sha256 != list.sha256 {
                for app in documents[list.sha256]?.apps ?? [] { restoreOlder(app, missing: missing) }
            }
        }
        ledger.noteMissing(missing)
        // Most of the time there are none.
        if !catalog.retired.isEmpty { noteReplaced(manifests, documents) }
    }

    /// Gives the catalog and the ledger away: what has two owners is copied when it changes.
    mutating func take() -> (Catalog, RetirementLedger) {
        defer { (catalog, ledger) = (Catalog(), RetirementLedger()) }
        return (catalog, ledger)
    }

    private mutating func restore(
        _ name: ListName, _ published: Manifest.List, _ document: AppListDocument, missing: Set<Digest>
    ) {
        let entries = document.apps.map(AppEntry.init)
        let images = document.apps.map { app in
            app.ownImage.flatMap { missing.contains($0.sha256) ? nil : ledger.boxed($0.sha256) }
        }
        catalog.restore(
            name, ListRecord(state: .ok, source: document.source, entries: entries, published: published),
            images: images)
        guard !missing.isEmpty else { return }
        for app in document.apps {
            if let image = app.ownImage, missing.contains(image.sha256) { noteMissing(app.icon) }
        }
    }

    /// Has apps keep the images that they showed in place of their icons, unless those have their own by now.
    private mutating func restorePrevious(_ document: AppListDocument, missing: Set<Digest>) {
        var kept: [Int: PreviousImage] = [:]
        for index in document.apps.indices where document.apps[index].hasPrevious {
            let app = document.apps[index]
            guard let previous = app.previous, case .ready(let image) = app.state else { continue }
            let isOwn = catalog.icons[app.icon]?.hasImage ?? false
            guard !isOwn, !missing.contains(image.sha256), let boxed = ledger.boxed(image.sha256) else {
                outdatedLists.insert(document.list)
                if missing.contains(image.sha256) { catalog.recordDamagedPrevious(image.sha256) }
                continue
            }
            kept[index] = PreviousImage(previous.icon, boxed, since: previous.since)
        }
        catalog.setPrevious(kept, in: document.list)
    }

    /// Notes the icons of older generations that no list names any more, as far as their apps have others.
    private mutating func noteReplaced(_ manifests: [Manifest], _ documents: [Digest: AppListDocument]) {
        for (manifest, newer) in zip(manifests, manifests.dropFirst()) {
            for (name, list) in manifest.lists {
                guard let next = newer.lists[name], next.sha256 != list.sha256, let old = documents[list.sha256],
                    let new = documents[next.sha256]
                else { continue }
                let entries = (old: old.apps.map(AppEntry.init), new: new.apps.map(AppEntry.init))
                let match = AppMatch(from: entries.old, to: entries.new)
                let succeeded = match.succeeded(from: entries.old, to: entries.new)
                let gone = match.gone.lazy.map { old.apps[$0] }
                replaced.subtract(gone.compactMap(\.previous?.icon))
                let last = Set(match.counterparts.values.lazy.map { entries.old[$0].icon }).union(gone.map(\.icon))
                replaced.subtract(last.subtracting(succeeded))
                replaced.formUnion(succeeded.filter { catalog.icons[$0]?.isReferenced != true })
            }
        }
    }

    private mutating func restoreOlder(_ app: AppListDocument.App, missing: Set<Digest>) {
        let known = catalog.icons[app.icon]
        guard let image = app.ownImage else {
            if let last = app.previous?.icon, catalog.orphan(of: last) == nil, case .ready(let image) = app.state,
                !missing.contains(image.sha256), let boxed = ledger.boxed(image.sha256)
            {
                catalog.recordOrphan(boxed, of: last)
            }
            // Its name is there as long as the generation is.
            if known == nil, named[app.icon] == nil, case .ready(let image) = app.state, !missing.contains(image.sha256)
            {
                named[app.icon] = ledger.boxed(image.sha256)
            }
            return
        }
        guard known?.hasImage != true, known?.wasMissing != true, !catalog.previous.has(app.icon) else { return }
        if missing.contains(image.sha256) { return noteMissing(app.icon) }
        guard let boxed = ledger.boxed(image.sha256) else { return }
        catalog.updateIcon(app.icon) { $0.boxedImage = boxed }
        doubtfulImages.insert(image.sha256)
        outdatedLists.formUnion(known?.lists ?? [])
    }

    private mutating func noteMissing(_ url: IconURL) {
        catalog.updateIcon(url) { $0.wasMissing = true }
        outdatedLists.formUnion(catalog.icons[url]?.lists ?? [])
    }
}

extension AppEntry {
    /// The entry of a list that an entry of its document tells of.
    init(_ app: AppListDocument.App) {
        self.init(name: app.name, id: app.id, icon: app.icon, download: app.download, expected: app.expected)
    }
}

extension Reconciler {
    /// Takes in what is remembered beside the generations.
    mutating func restore(_ state: consuming RestoredState, now: Timestamp) {
        downloads.restore(state.memory.origins, at: now, noting: &unstored)
        for memo in state.memory.icons { restore(memo, now: now) }
        noteFreshness(since: min(state.manifests.first?.published ?? now, now))
        for memo in state.memory.lists {
            guard memo.rules == folder.rules, catalog.lists[memo.list]?.source?.sha256 == memo.sha256 else {
                unstored.note(list: memo.list, at: now)
                continue
            }
            catalog.updateList(memo.list) { $0.isRead = true }
        }
        for memo in state.memory.rejections { rejections[memo.list] = memo }
        for url in catalog.icons.filter({ !$0.icon.isReferenced }).map(\.url) { forgetIfDone(url, now: now) }
        if state.isDamaged { publishing.noteChange(at: now) }
        let known = Set(state.memory.superseded.keys).union(retention.ledger.supersessions.keys)
        unstored.noteStart(values: remembered, generations: known)
    }

    /// An image of which nothing is remembered was fresh when it was published.
    private mutating func noteFreshness(since published: Timestamp) {
        for index in catalog.icons.indices where catalog.icons[index].icon.freshUntil == .distantPast {
            let freshUntil = published + settings.refresh.default.jittered(using: &generator)
            catalog.updateIcon(at: index) { if $0.hasImage { $0.freshUntil = freshUntil } }
        }
    }

    private mutating func restore(_ memo: IconMemo, now: Timestamp) {
        // What lies further ahead than the rules put anything was set by a clock that was wrong.
        let latestFresh = now + RefreshPolicy().maximum + RefreshPolicy().longestDelay
        let latest = memo.failure.map { now + downloads.backoff.longest(after: $0.code) }
        let trail = catalog.share(memo.trail)
        // The text of the URL that the list has, or the settings.
        let response = memo.response.map { sources.sharing($0.sharing(catalog.icons.spelling(of: memo.url).text)) }
        catalog.updateIcon(memo.url) {
            $0.trail = trail
            // Validators vouch for bytes: without the image they must not be sent.
            if let image = $0.image?.sha256, image == memo.image {
                $0.response = response
                let isAhead = memo.response.map { NextCheck.isAhead($0.responseTime, of: now) } ?? false
                $0.freshUntil = isAhead ? now : min(memo.freshUntil, latestFresh)
            }
            guard var failure = memo.failure, let latest else { return }
            // What depends on settings is judged again: they may be others now.
            failure.nextAttempt =
                failure.code.dependsOnSettings || failure.attempts == 0
                ? now : failure.nextAttempt.map { min($0, latest) }
            $0.failure = failure
        }
    }
}
