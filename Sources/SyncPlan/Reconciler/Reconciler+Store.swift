// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports

// Jobs in the cache folder, one at a time, and the results of inspections and evictions.
extension Reconciler {
    /// Starts the next job in the cache folder, if one is due.
    mutating func useStore() {
        let isDue = book.publishing.window.due(during: book.traffic).map { $0 <= turn.now } ?? false
        if cache.isNeeded(beforePublishing: isDue) {
            let order = cache.begin()
            var expectation = CacheExpectation(
                order, of: book.publishing, book.catalog, isHasty: !book.publishing.window.isEmpty,
                using: &turn.generator)
            expectation.renditionNames = book.renditionNames.sample(atMost: 8, using: &turn.generator)
            turn.start(.inspect(expectation))
        } else if isDue {
            guard
                var publication = book.publishing.begin(
                    &book.catalog, book.retention.ledger, book.renditions, during: book.traffic, at: turn.now)
            else { return }
            publication.isPrivate = !privateOrigins.isEmpty
            book.renditions.staged.beginPublication(of: publication.renditions)
            cache.recordPublication()
            turn.start(.publish(publication))
        } else if let damaged = book.retention.beginDamaged(
            in: book.catalog, isPublished: book.publishing.window.hasNoChangedList)
        {
            book.catalog.names.forget(damaged.urls, in: &book.catalog.images)
            turn.start(.remove(damaged))
        } else if book.renditionNames.mayBegin(at: turn.now),
            let naming = book.renditionNames.begin(
                book.catalog, book.renditions, forApps: book.settings.desktop.icons, at: turn.now)
        {
            turn.start(.nameRenditions(naming))
        } else if mayEvict {
            evict()
        }
    }

    // MARK: Inspections

    /// Publishes missing documents and manifests again, and requests missing images.
    mutating func applyInspection(_ found: CacheInspection) {
        let isConclusive = cache.end(found, at: turn.wallClock.time(of: turn.now))
        if let trouble = found.trouble { book.publishing.fail(because: trouble, at: turn.now) }
        if found.lacksRenditionNames { book.renditionNames.reviewAll() }
        guard isConclusive else { return }
        // Images that could not be read for a while may be readable now.
        book.renditions.isSweepDue = true
        // A complete inspection does not check the names of renditions.
        if found.latestGeneration > 0, book.renditions.isOn { book.renditionNames.reviewAll() }
        book.publishing.raiseNewest(to: found.latestGeneration)
        if let adopted = found.adopted {
            adopt(adopted, besides: found.lostImages)
            book.dropStaged(in: &turn)
            book.resetRenditions(in: &turn)
        }
        guard let summary = found.summary else { return }
        turn.emit(.cacheHealed(found.adopted == nil ? .missingFiles : .otherFolder, summary: summary))
        // The folder may be a new one.
        if found.lacksManifest { knownCaches.select([]) }
        for list in found.lostDocuments { book.renewDocument(of: list, at: turn.now) }
        if found.lacksManifest || !found.lostDocuments.isEmpty { book.publishing.window.markChanged(at: turn.now) }
        recordDamage(found.lostImages)
    }

    /// Adopts another cache folder that is now at the path, as at a start: its generations keep their files.
    ///
    /// Icons without an image get that of the folder's newest generation until they are downloaded.
    private mutating func adopt(_ found: AdoptedCache, besides lost: Set<Digest>) {
        turn.memos.mark(book.retention.ledger.supersessions.keys.map { .generation($0) }, at: turn.now)
        var ledger = RetirementLedger()
        book.catalog.images.forgetFiles()
        book.catalog.icons.forgetNames()
        for manifest in found.manifests {
            ledger.publish(manifest, newDocuments: found.documents, in: &book.catalog, at: turn.now)
        }
        book.catalog.images.record(found.missing, areWhole: false)
        book.retention.adopt(ledger)
        turn.memos.mark(ledger.supersessions.keys.map { .generation($0) }, at: turn.now)
        book.publishing.adopt(found.manifests.last, at: turn.now)
        book.catalog.names.reset(in: &book.catalog.images)
        for (name, list) in book.catalog.lists {
            let published = list.source == nil ? nil : book.publishing.manifest?.lists[name]
            book.catalog.updateList(name) { $0.published = published }
            if published != nil { book.publishing.prioritize(name) }
            book.renewDocument(of: name, at: turn.now)
        }
        let isKnown = knownCaches.select(found.manifests)
        // Otherwise, where its icons come from is not known.
        if found.manifests.hasPrivate, privateOrigins.isEmpty || !isKnown {
            privateOrigins = book.settings.privateOrigins(after: privateOrigins + [Credentials.unknownOrigin])
        }
        recordDamage(lost)
        for (url, image) in found.images where !lost.contains(image.sha256) {
            let icon = book.catalog.icons[url]
            guard icon?.hasImage != true, icon?.accepts(image.sha256) ?? true else { continue }
            book.catalog.names.forget([url], in: &book.catalog.images)
            // Revalidated at once.
            book.apply(.found(book.catalog.images.id(of: image), freshUntil: turn.now), to: url, in: &turn)
        }
        for name in book.catalog.lists.keys { book.showAgain(in: name, &turn) }
        cache.recordOtherFolder()
    }

    /// Requests damaged images again; no manifest names them until they are on disk.
    ///
    /// Returns whether an icon or app has one.
    @discardableResult
    mutating func recordDamage(_ damaged: Set<Digest>) -> Bool {
        guard !damaged.isEmpty else { return false }
        let renditions = book.recordDamagedRenditions(damaged, in: &turn)
        let images = Set(damaged.compactMap { book.catalog.images.id(of: $0) })
        var (found, lists) = (Set<ImageID>(), renditions.lists)
        for id in book.catalog.icons.ids {
            guard let image = book.catalog.icons[id].icon.image, images.contains(image) else { continue }
            book.retention.recordDamage(of: book.catalog.images.image(image))
            book.catalog.names.recordDamage(of: book.catalog.icons.url(of: id), in: &book.catalog.images)
            found.insert(image)
            lists.formUnion(book.catalog.icons[id].icon.lists)
            book.apply(.lost, to: id, in: &turn)
        }
        book.catalog.forgetOrphans(of: images)
        let dropped = book.dropLastImages(images, in: &turn)
        lists.formUnion(dropped.lists)
        lists.formUnion(book.showImagesBefore(besides: images, in: &turn))
        found.formUnion(dropped.images)
        let outdated = book.publishing.recordDamage(
            of: images, shownBy: lists, in: book.catalog, book.retention.ledger, at: turn.now)
        for list in outdated { book.retryDocument(of: list) }
        // Also those that only documents name: an app that returns must not show one again.
        book.catalog.images.record(damaged, areWhole: false)
        return !renditions.images.isEmpty || !found.isEmpty
    }

    // MARK: Evictions

    private mutating func evict() {
        guard let job = book.retention.begin(in: book.catalog, now: turn.now) else { return }
        if case .remove(let plan) = job { forget(plan) }
        turn.start(job)
    }

    /// Forgets images that are about to be removed; if a list names their icons again, these are downloaded.
    private mutating func forget(_ plan: RetirementPlan) {
        book.catalog.names.forget(plan.urls, in: &book.catalog.images)
        let digests = Set(plan.images.map(\.sha256))
        book.forgetRenditions(digests, in: &turn)
        let removed = Set(digests.compactMap { book.catalog.images.id(of: $0) })
        var orphans = book.catalog.forgetOrphans(of: removed)
        let retired = book.catalog.retired.filter { removed.contains($0.value) }.keys
        for url in plan.urls.union(retired) {
            guard let image = book.catalog.icons[url]?.image, removed.contains(image) || plan.urls.contains(url)
            else { continue }
            book.apply(.evicted, to: url, in: &turn)
            orphans.remove(url)
            if removed.contains(image) {
                turn.emit(.iconEvicted(url))
            } else if !book.catalog.images[image].isShown {
                // A remaining generation has the image for another icon, and this icon's name is gone.
                book.catalog.recordOrphan(image, of: url)
            }
        }
        for url in orphans.sorted() where book.catalog.icons[url]?.hasImage != true { turn.emit(.iconEvicted(url)) }
    }
}
