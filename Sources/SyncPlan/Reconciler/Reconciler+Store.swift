// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports

// What is done in the cache folder, one thing at a time, and what came of it.
extension Reconciler {
    /// Does what is due in the cache folder, in which nothing else is being done.
    mutating func useStore(now: Timestamp, to actions: inout [Action]) {
        let isDue = publishing.window.due(during: traffic).map { $0 <= now } ?? false
        publishing.noteNames(of: catalog.takeReshown())
        if cache.isNeeded(beforePublishing: isDue) {
            let order = cache.begin()
            actions.append(
                .start(
                    .inspect(
                        CacheExpectation(
                            order, of: publishing, catalog, retention.ledger,
                            isHasty: !publishing.window.isEmpty, using: &generator))))
        } else if isDue {
            guard let publication = publishing.begin(catalog, retention.ledger, during: traffic, at: now) else {
                return
            }
            cache.notePublication()
            actions.append(.start(.publish(publication)))
        } else if let damaged = retention.beginDamaged(in: catalog, isPublished: publishing.window.hasNoChangedList) {
            publishing.forgetNames(of: damaged.urls)
            actions.append(.start(.remove(damaged)))
        } else if mayEvict {
            evict(now: now, to: &actions)
        }
    }

    // MARK: Publications

    mutating func applyPublication(_ result: PublicationResult, now: Timestamp, to actions: inout [Action]) {
        let done = publishing.takeInFlight()
        switch result {
        case .published(let manifest, let written, let doubt):
            finish(done, manifest, written, doubt: doubt, now: now, to: &actions)
        case .noRoom(let shortage, let room, let documents):
            takeBack(done, now: now, to: &actions)
            waitForSpace(documents, shortage, room: room, now: now)
        case .failed(let reason, let isOutOfSpace):
            publishing.fail(done, because: reason, in: catalog, at: now)
            if isOutOfSpace {
                space.noteLost(
                    Shortage(bytes: done.publication.bytes, isGeneral: true, reason: reason),
                    hadImages: !done.publication.moves.isEmpty, at: now)
            } else {
                // Perhaps because somebody removed an image that it was to give another name.
                cache.suspect(isComplete: true)
            }
            for (url, staged) in done.staged {
                drop(staged, of: url, because: reason, isOutOfSpace: isOutOfSpace, now: now)
            }
            invalidateDownloads(because: reason, isOutOfSpace: isOutOfSpace, now: now, to: &actions)
        }
    }

    private mutating func finish(
        _ done: PublicationPlan.InFlight, _ manifest: Manifest, _ written: WrittenBytes, doubt: String?,
        now: Timestamp, to actions: inout [Action]
    ) {
        unstored.note(generations: [publishing.manifest?.generation].compactMap(\.self), at: now)
        events.append(
            .generationPublished(
                manifest.generation, lists: done.lists.count, images: done.staged.count,
                endsFailure: publishing.failure != nil))
        publishing.finish(done, manifest, written: written, doubt: doubt, at: now)
        if !done.staged.isEmpty { space.notePublished() }
        if let doubt { invalidateDownloads(because: doubt, now: now, to: &actions) }
        let documents = done.publication.documents.compactMap { document in
            manifest.lists[document.list].map { ($0.sha256, document) }
        }
        retention.publish(
            manifest, newDocuments: Dictionary(documents) { a, _ in a },
            moved: written.replaced.union(done.publication.moves.map(\.image.sha256)), at: now)
        for (name, list) in manifest.lists where catalog.lists[name]?.published != list {
            if catalog.lists[name]?.source == nil {
                // The list was removed in the meantime.
                publishing.noteChange(at: now)
            } else {
                catalog.updateList(name) { $0.published = list }
            }
        }
        // What was taken for an image on disk may have turned out to be damaged meanwhile.
        let shown = catalog.shownImages
        var orphaned: [PreviousImage] = []
        let lost = Set(done.staged.values.map(\.image.sha256).filter { !retention.ledger.isOnDisk($0) })
        for (url, staged) in done.staged {
            guard let place = catalog.icons.index(of: url), let answer = catalog.icons[place].icon.stagedAnswer else {
                continue
            }
            if !lost.contains(staged.image.sha256) {
                notePublished(staged.image, of: url, catalog.icons[place].icon, generation: manifest.generation)
            }
            let image = retention.ledger.boxed(staged.image)
            let previous = catalog.previous.all(for: url)
            noteFresh(url, answer, now: now) {
                $0.boxedImage = image
                $0.staged = nil
                $0.stagedAnswer = nil
            }
            catalog.cancelNaming(url)
            noteRetired(previous)
            orphaned += withoutSuccessor(previous)
            consider(url, now: now)
        }
        if !orphaned.isEmpty {
            retention.noteChange(
                losing: [], orphaned, replacing: [], shown: shown, newest: manifest.generation, in: catalog, at: now)
        }
        showRecovered(
            catalog.removeDamagedPrevious(
                done.staged.values.lazy.map(\.image.sha256).filter(retention.ledger.isOnDisk)), now: now)
        keepPublished(by: done.heirs, among: Set(done.staged.keys), now: now)
        if !lost.isEmpty { noteDamage(lost, now: now) }
        // Other URLs may have names of the files that were there before.
        if !written.replaced.isEmpty { cache.suspect(isComplete: true) }
    }

    /// Has all that a publication was to bring wait for the next one: nothing was done of it.
    private mutating func takeBack(_ done: PublicationPlan.InFlight, now: Timestamp, to actions: inout [Action]) {
        publishing.takeBack(done, in: catalog, at: now)
        for (url, staged) in done.staged {
            if catalog.icons[url]?.isReferenced == true {
                publishing.stage(url)
            } else {
                dropStaged(of: url)
                actions.append(.background(.discard([staged.name])))
                forgetIfDone(url, now: now)
            }
        }
    }

    // MARK: What was staged, and is lost

    /// Has everything downloaded anew that is not published yet.
    ///
    /// A flush that fails has tried to write all of it, and tells of each error once: the next flush says nothing of what
    /// this one has lost.
    private mutating func invalidateDownloads(
        because reason: String, isOutOfSpace: Bool = false, now: Timestamp, to actions: inout [Action]
    ) {
        downloads.invalidateActive()
        for url in publishing.staged {
            guard let staged = catalog.icons[url]?.staged else { continue }
            actions.append(.background(.discard([staged.name])))
            drop(staged, of: url, because: reason, isOutOfSpace: isOutOfSpace, now: now)
        }
        publishing.unstageAll()
        if let lost = partials.forget(where: { [downloads] in !downloads.isInvalid($0) }) {
            actions.append(.background(.discardPartials(lost)))
        }
    }

    /// Has all that waits to be published asked for again: it was staged in another folder than the cache is in now.
    mutating func dropStaged(now: Timestamp, to actions: inout [Action]) {
        for url in publishing.staged {
            guard let staged = catalog.icons[url]?.staged else { continue }
            actions.append(.background(.discard([staged.name])))
            dropStaged(of: url)
            consider(url, now: now)
            forgetIfDone(url, now: now)
        }
        publishing.unstageAll()
    }

    private mutating func dropStaged(of url: IconURL) {
        catalog.updateIcon(url) {
            $0.staged = nil
            $0.stagedAnswer = nil
        }
    }

    /// Gives up an image that was to be published.
    private mutating func drop(
        _ staged: StagedImage, of url: IconURL, because reason: String, isOutOfSpace: Bool, now: Timestamp
    ) {
        dropStaged(of: url)
        if isOutOfSpace {
            waitForSpace(url, Shortage(bytes: staged.image.bytes, isGeneral: true, reason: reason), now: now)
        } else {
            noteFailure(FetchFailure(.disk, reason), of: url, now: now)
        }
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }

    // MARK: Looks at the cache folder

    /// Has what is missing in the cache folder published again from memory, or fetched again.
    mutating func applyInspection(_ found: CacheInspection, now: Timestamp, to actions: inout [Action]) {
        let isConclusive = cache.end(found, at: now)
        if let trouble = found.trouble { publishing.fail(because: trouble, at: now) }
        guard isConclusive else { return }
        publishing.noteNewest(found.latestGeneration)
        if let adopted = found.adopted {
            adopt(adopted, besides: found.lostImages, now: now)
            dropStaged(now: now, to: &actions)
        }
        guard let summary = found.summary else { return }
        events.append(.cacheHealed(found.adopted == nil ? .missingFiles : .otherFolder, summary: summary))
        for list in found.lostDocuments { renew(list, now: now) }
        if found.lacksManifest || !found.lostDocuments.isEmpty { publishing.noteChange(at: now) }
        noteDamage(found.lostImages, now: now)
        retention.noteMissing(found.lostImages)
    }

    /// Has a list's document written next whatever it costs: what the manifest in the folder says of it is wrong.
    private mutating func renew(_ list: ListName, now: Timestamp) {
        guard catalog.lists[list]?.source != nil else { return }
        retryDocument(of: list)
        publishing.renew(list, at: now)
    }

    /// Takes up what another folder has that is at the path now, as a start does: its generations keep what they name.
    ///
    /// Icons without an image of this run have that of the newest of them, until they are fetched.
    private mutating func adopt(_ found: AdoptedCache, besides lost: Set<Digest>, now: Timestamp) {
        unstored.note(generations: retention.ledger.supersessions.keys, at: now)
        var ledger = RetirementLedger()
        for manifest in found.manifests { ledger.publish(manifest, newDocuments: found.documents, at: now) }
        ledger.noteMissing(found.missing)
        retention.take(ledger)
        unstored.note(generations: ledger.supersessions.keys, at: now)
        publishing.take(found.manifests.last, at: now)
        for (name, list) in catalog.lists {
            let published = list.source == nil ? nil : publishing.manifest?.lists[name]
            catalog.updateList(name) { $0.published = published }
            if published != nil { publishing.noteRewritten(name) }
            renew(name, now: now)
        }
        noteDamage(lost, now: now)
        for (url, image) in found.images where !lost.contains(image.sha256) { adopt(image, of: url, now: now) }
        for name in catalog.lists.keys { showAgain(in: name) }
        cache.noteOtherFolder()
    }

    /// Takes an image of another folder for that of an icon that has none, and asks whether there is a newer one.
    private mutating func adopt(_ image: AppListDocument.Image, of url: IconURL, now: Timestamp) {
        let icon = catalog.icons[url]
        guard icon?.image == nil, icon?.accepts(image.sha256) ?? true else { return }
        catalog.updateIcon(url) {
            $0.image = image
            $0.wasMissing = false
            $0.freshUntil = now
        }
        consider(url, now: now)
    }

    // MARK: Evictions

    private mutating func evict(now: Timestamp, to actions: inout [Action]) {
        switch retention.begin(in: catalog, now: now) {
        case .remove(let plan):
            forget(plan, now: now)
            actions.append(.start(.remove(plan)))
        case .release(let generations): actions.append(.start(.release(generations)))
        case nil: break
        }
    }

    /// Notes that what a plan names is as good as gone: a list that names it again has it fetched anew.
    private mutating func forget(_ plan: RetirementPlan, now: Timestamp) {
        publishing.forgetNames(of: plan.urls)
        let removed = Set(plan.images.map(\.sha256))
        var orphans = catalog.forgetOrphans(of: removed)
        // An image that came back to a URL may be named by no document of it.
        let returned = catalog.retired.filter { $0.value.digest.map(removed.contains) ?? false }.keys
        for url in plan.affected.union(plan.urls).union(returned) {
            guard let image = catalog.icons[url]?.image, removed.contains(image.sha256) || plan.urls.contains(url)
            else { continue }
            catalog.updateIcon(url) {
                $0.image = nil
                $0.response = nil
            }
            orphans.remove(url)
            if removed.contains(image.sha256) {
                events.append(.iconEvicted(url))
            } else if !catalog.needs(image.sha256) {
                // A generation that is left has it for something else, and its name is gone.
                catalog.recordOrphan(Boxed(wrappedValue: image), of: url)
            }
            forgetIfDone(url, now: now)
        }
        for url in orphans.sorted() where catalog.icons[url]?.hasImage != true { events.append(.iconEvicted(url)) }
    }

    // MARK: Room

    /// Lets those go on for whom there is room now.
    mutating func applySpace(_ found: Result<DiskSpace, Shortage>, now: Timestamp) {
        let wasOpen = space.isOpen
        if case .success(let there) = found {
            let deferred = publishing.window.deferred
            publishing.deferLists(space.admitDocuments(to: there, above: settings.cache.minFree))
            if publishing.window.deferred != deferred { noteStagedImages() }
        }
        for url in space.apply(found, above: settings.cache.minFree, at: now) {
            catalog.updateIcon(url) { $0.phase = .idle }
            consider(url, now: now)
        }
        if !wasOpen, space.isOpen { publishing.retry(at: now) }
    }

    /// Takes note that there was no room for the documents of a publication, of which nothing was done.
    ///
    /// The longest of them wait for room, so that there is room for the others.
    private mutating func waitForSpace(
        _ documents: [ListName: Int], _ shortage: Shortage, room: Int, now: Timestamp
    ) {
        var rest = documents.values.reduce(0, +)
        var waiting: [ListName: Int] = [:]
        for (list, bytes) in documents.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) }) where rest > room {
            rest -= bytes
            waiting[list] = bytes
        }
        space.note(shortage, ofDocuments: waiting.filter { catalog.lists[$0.key] != nil }, at: now)
        publishing.deferLists(Set(space.documents.keys))
    }

    /// Has the lists published whose new images waited for a list that had no room.
    mutating func noteStagedImages() {
        for url in publishing.staged where publishing.inFlight?.staged[url] == nil {
            for list in catalog.icons[url]?.lists ?? [] { publishing.noteChange(of: list, at: .distantPast) }
        }
    }
}
