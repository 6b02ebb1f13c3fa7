// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import Reports

// The effects of renditions on documents, files and memos.
extension IconBook {
    /// Marks the documents that lack new renditions as changed, so that they are written again.
    mutating func markLaggingLists(at now: Timestamp) {
        for list in renditions.drainLagging(at: now) where catalog.lists[list]?.source != nil {
            publishing.window.markChanged(list, at: now)
        }
    }

    /// Begins the next order, if one is due; `mayRender` is false while the contents of the disk are unknown.
    mutating func startRendering(mayRender: Bool, in turn: inout Turn) {
        guard mayRender, space.isOpen else { return }
        renditions.retryInterrupted(at: turn.now)
        renditions.sweep(catalog)
        let isSquare = settings.render.fit == .contain
        let mayTake = downloads.mayStart && !sources.isEmpty
        let order = renditions.begin(at: turn.now) { [sources] original, pixels in
            guard mayTake else { return nil }
            return sources.rendition(of: original, pixels: pixels) { found in
                max(found.width, found.height) <= pixels && (!isSquare || min(found.width, found.height) == pixels)
            }
        }
        if let order { turn.start(.render(order)) }
    }

    /// The images that an icon shows and that could not be rendered.
    func originalsToRetry(of url: IconURL) -> [Digest] {
        guard renditions.isOn, let icon = catalog.icons[url], icon.isReferenced else { return [] }
        let shown = icon.image.map { [$0] } ?? catalog.lastImages(for: url).map(\.image)
        return shown.map { catalog.images[$0].key }.filter { renditions.records.failure(of: $0) != nil }
    }

    /// Retries rendering for icons whose last rendering failed.
    mutating func retryRendering(of urls: [IconURL], in turn: inout Turn) {
        let originals = Set(urls.flatMap(originalsToRetry))
        guard !originals.isEmpty else { return }
        renditions.retry(originals)
        markChangedFailures(in: &turn)
    }

    /// Applies the end of an order; returns the originals that are missing or damaged.
    mutating func applyRendering(
        _ report: RenderReport, mayWriteAhead: Bool, in turn: inout Turn
    ) -> Set<Digest> {
        let images = catalog.images
        func row(of image: Digest) -> ImageTable.Row? { images.id(of: image).map { images[$0] } }
        let outcome = renditions.apply(report, isOnDisk: { row(of: $0)?.isKept ?? false }, at: turn.now)
        for (url, failure) in outcome.failures { turn.emit(.iconNotRendered(url, failure)) }
        for staged in outcome.staged where mayWriteAhead && row(of: staged.image.sha256)?.isKnown != true {
            turn.actions.append(.writeAhead(staged, naming: nil))
        }
        turn.discard(outcome.unused)
        if !outcome.failures.isEmpty { renditionNames.review() }
        markChangedFailures(in: &turn)
        return outcome.damaged
    }

    /// Records that the cache folder has no place for renditions of a publication; returns whether it has any of them.
    mutating func refuseRenditions(
        of publication: Publication, by refusal: PublicationResult.Refusal, in turn: inout Turn
    ) -> Bool {
        let failure = RenderFailure(.interrupted, refusal.reason)
        var (originals, staged) = renditions.refusePublication(of: refusal.unplaced, with: failure, at: turn.now)
        turn.discard(staged)
        for app in publication.documents.lazy.flatMap(\.apps) {
            guard case .ready(let image) = app.state, originals.remove(image.sha256) != nil else { continue }
            turn.emit(.iconNotRendered(app.icon, failure))
        }
        markChangedFailures(in: &turn)
        return !staged.isEmpty
    }

    /// Queues the images of published documents for rendering, and requests names for their renditions.
    mutating func finishRenditions(of publication: Publication) {
        renditions.staged.endPublication()
        guard renditions.isOn else { return }
        for document in publication.documents where catalog.lists[document.list]?.source != nil {
            for app in document.apps {
                guard case .ready(let image) = app.state else { continue }
                renditions.want(image, for: app.icon, in: document.list)
                // They were rendered while it was being published, perhaps for other lists only.
                if renditions.renditions(of: image.sha256) != app.renditions {
                    renditions.lagging.insert(document.list)
                }
            }
        }
        renditionNames.review()
    }

    mutating func configureRenditions(since old: Settings, in turn: inout Turn) {
        let pixels = renditions.pixels
        renditions.configure(settings)
        if renditionNames.trouble != nil { renditionNames.reviewAll() }
        guard settings.render != old.render || settings.desktop != old.desktop else { return }
        turn.discard(renditions.dropStaged())
        for (name, list) in catalog.lists where list.source != nil { publishing.window.markChanged(name, at: turn.now) }
        renditionNames.reviewAll()
        // Documents from an earlier run name only the renditions in the sizes of that run.
        if renditions.pixels != pixels { sources.readAgain(at: turn.now, using: &turn.generator) }
    }

    /// Forgets damaged images and those about to be removed; returns the originals that lost a rendition.
    @discardableResult
    mutating func forgetRenditions(_ images: Set<Digest>, in turn: inout Turn) -> Set<Digest> {
        let forgotten = renditions.forget(images)
        turn.discard(forgotten.staged)
        markChangedFailures(in: &turn)
        return forgotten.originals
    }

    /// Records the renditions among these missing or damaged images; returns them, and the lists that show them.
    mutating func recordDamagedRenditions(
        _ images: Set<Digest>, in turn: inout Turn
    ) -> (images: Set<Digest>, lists: Set<ListName>) {
        let found = renditions.made(among: images)
        guard !found.isEmpty else { return ([], []) }
        let originals = forgetRenditions(Set(found.map(\.sha256)), in: &turn)
        for image in found { retention.recordDamage(of: image) }
        return (Set(found.map(\.sha256)), markLists(whoseRenditionsAreGone: originals, in: &turn))
    }

    /// Removes the names of the renditions of these originals, and marks the lists that show them as changed, which it
    /// returns.
    ///
    /// O(*n*) in the number of icons.
    mutating func markLists(
        whoseRenditionsAreGone originals: Set<Digest>, in turn: inout Turn
    ) -> Set<ListName> {
        renditionNames.recordDamage(of: originals)
        var lists: Set<ListName> = []
        for id in catalog.icons.ids {
            guard let image = catalog.images.digest(catalog.icons[id].icon.image), originals.contains(image)
            else { continue }
            lists.formUnion(catalog.icons[id].icon.lists)
        }
        for (name, list) in catalog.lists {
            let showsOne = list.apps.lastImages.contains { originals.contains(catalog.images[$0.image].key) }
            if showsOne { lists.insert(name) }
        }
        for list in lists { publishing.window.markChanged(list, at: turn.now) }
        return lists
    }

    /// Forgets all renditions: all is purged, or another cache folder is at the path.
    mutating func resetRenditions(in turn: inout Turn) {
        turn.discard(renditions.reset())
        markChangedFailures(in: &turn)
        if renditions.isOn || renditionNames.mayBeThere { renditionNames.reviewAll() }
    }

    mutating func markChangedFailures(in turn: inout Turn) {
        let changed = renditions.records.drainChangedFailures()
        if !changed.isEmpty { turn.memos.mark(changed.map { .rendition($0) }, at: turn.now) }
    }
}
