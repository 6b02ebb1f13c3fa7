// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports

// The results of publications.
extension Reconciler {
    mutating func applyPublication(_ result: PublicationResult) {
        let done = book.publishing.endInFlight()
        switch result {
        case .published(let manifest, let written, let doubt): finish(done, manifest, written, doubt: doubt)
        case .noRoom(let shortage, let room, let documents):
            endWithoutManifest()
            restore(done)
            deferDocuments(documents, shortage, room: room)
        case .failed(let reason, let isOutOfSpace):
            endWithoutManifest()
            book.publishing.fail(done, because: reason, in: book.catalog, at: turn.now)
            if isOutOfSpace {
                book.space.recordLost(
                    Shortage(bytes: done.publication.bytes, isGeneral: true, reason: reason),
                    hadImages: !done.publication.moves.isEmpty, at: turn.now)
            } else {
                // The file of an image may have been removed to which a second name had to be linked.
                cache.suspect(isComplete: true)
            }
            for id in done.staged {
                guard let staged = book.catalog.icons[id].icon.staged else { continue }
                book.drop(staged, of: id, because: reason, isOutOfSpace: isOutOfSpace, in: &turn)
            }
            turn.discard(book.renditions.failPublication())
            book.invalidateDownloads(because: reason, isOutOfSpace: isOutOfSpace, in: &turn)
        case .refused(let refusal):
            endWithoutManifest(refused: refusal.unnamed)
            // A file that it relied on may be missing.
            cache.suspect(isComplete: true)
            keepImages(of: done, after: refusal)
            if !leaveOut(refusal, of: done) {
                book.publishing.fail(done, because: refusal.reason, in: book.catalog, at: turn.now)
            }
            turn.discard(book.renditions.abortPublication())
        }
    }

    private mutating func endWithoutManifest(refused: Set<IconURL> = []) {
        book.keepPublished(among: [], in: &turn)
        book.catalog.names.end(published: nil, refused: refused, in: &book.catalog.images)
    }

    /// Stages the images of a refused publication again, except the lost ones.
    private mutating func keepImages(of done: PublicationPlan.InFlight, after refusal: PublicationResult.Refusal) {
        if case let lost = refusal.lost, !lost.isEmpty {
            for id in done.staged {
                guard let staged = book.catalog.icons[id].icon.staged, lost.contains(staged.name) else { continue }
                book.drop(staged, of: id, because: refusal.reason, isOutOfSpace: false, in: &turn)
            }
            let unstaged = book.renditions.failPublication(losing: lost).staged
            turn.discard(unstaged.filter { !lost.contains($0.name) })
        }
        stageAgain(done)
    }

    /// Has the next publication go without what the cache folder refuses; returns whether that is known.
    private mutating func leaveOut(
        _ refusal: PublicationResult.Refusal, of done: PublicationPlan.InFlight
    ) -> Bool {
        guard !refusal.unplaced.isEmpty || !refusal.unnamed.isEmpty else { return false }
        let unnamed = Set(refusal.unnamed.compactMap(book.catalog.icons.id(of:)))
        let icons = done.stagedIcons.filter { id in
            guard book.publishing.staged.contains(id), let staged = book.catalog.icons[id].icon.staged else {
                return false
            }
            return unnamed.contains(id) || refusal.unplaced.contains(staged.name)
        }
        // A name without a new image is corrected by an inspection.
        let lacksNames = !unnamed.isSubset(of: done.stagedIcons)
        if lacksNames { cache.recordRefusal(refusal.reason) }
        let hasRenditions = book.refuseRenditions(of: done.publication, by: refusal, in: &turn)
        // A purge has given the images up.
        guard !icons.isEmpty || lacksNames || hasRenditions || isPurging else { return false }
        book.publishing.restore(done, in: book.catalog, at: turn.now)
        book.publishing.leaveOut(icons, because: refusal.reason, at: turn.now)
        return true
    }

    private mutating func finish(
        _ done: PublicationPlan.InFlight, _ manifest: Manifest, _ written: WrittenBytes, doubt: String?
    ) {
        // Even without an earlier generation, lists are due that waited for this one.
        turn.memos.mark(book.publishing.manifest.map { [.generation($0.generation)] } ?? [], at: turn.now)
        turn.emit(
            .generationPublished(
                manifest.generation, lists: done.lists.count, images: done.staged.count,
                endsFailure: book.publishing.failure != nil && book.publishing.unplaced.isEmpty))
        let urls = book.catalog.names.names.isEmpty ? [] : done.staged.map { book.catalog.icons.url(of: $0) }
        book.catalog.names.end(published: urls, in: &book.catalog.images)
        book.publishing.finish(done, manifest, written: written, doubt: doubt, at: turn.now)
        if !done.staged.isEmpty { book.space.recordPublished() }
        if let doubt { book.invalidateDownloads(because: doubt, in: &turn) }
        let documents = done.publication.documents.compactMap { document in
            manifest.lists[document.list].map { ($0.sha256, document) }
        }
        book.retention.ledger.publish(
            manifest, newDocuments: Dictionary(documents) { a, _ in a },
            moved: written.replaced + done.publication.moves.map(\.image.sha256), in: &book.catalog, at: turn.now)
        // It may have begun before the purge.
        if purge != nil { book.publishing.window.prioritize(book.retention.ledger.purgedLists) }
        setPublished(manifest)
        finishImages(done, manifest)
        book.catalog.endWaiting(of: done.lists)
        book.finishRenditions(of: done.publication)
        book.catalog.settlePasts { [publishing = book.publishing] in !publishing.isToBePublished($0) }
        // Names of other URLs may still lead to the replaced files.
        if !written.replaced.isEmpty { cache.suspect(isComplete: true) }
    }

    private mutating func setPublished(_ manifest: Manifest) {
        for (name, list) in manifest.lists where book.catalog.lists[name]?.published != list {
            if book.catalog.lists[name]?.source == nil {
                // The list was removed while its document was being published.
                book.publishing.window.markChanged(at: turn.now)
            } else {
                book.catalog.updateList(name) { $0.published = list }
            }
        }
    }

    private mutating func finishImages(_ done: PublicationPlan.InFlight, _ manifest: Manifest) {
        let shown = book.catalog.images.shown
        var orphaned: [App.LastImage] = []
        // An image believed to be on disk may have turned out damaged meanwhile.
        let images = done.staged.compactMap { book.catalog.icons[$0].icon.staged?.image }
        let lost = Set(images.filter { !book.catalog.images[$0].isOnDisk })
        for id in done.staged {
            guard let image = book.catalog.icons[id].icon.staged?.image else { continue }
            let replaced =
                book.catalog.hasLastImages ? book.catalog.lastImages(for: book.catalog.icons.url(of: id)) : []
            let bytes = book.catalog.images.bytes(image)
            let generation = lost.contains(image) ? nil : manifest.generation
            book.apply(.published(bytes: bytes, generation: generation), to: id, in: &turn)
            book.retire(replaced, in: &turn)
            orphaned += book.withoutSuccessor(replaced)
        }
        if !orphaned.isEmpty {
            book.retention.recordLoss(
                of: [], orphaned, replacing: [], shown: shown, newest: manifest.generation, in: book.catalog,
                at: turn.now)
        }
        let recovered = images.filter { book.catalog.images[$0].isOnDisk && book.catalog.images.endMissing(of: $0) }
        book.showRecovered(Set(recovered), in: &turn)
        book.keepPublished(among: done.stagedIcons, in: &turn)
        if !lost.isEmpty { recordDamage(Set(lost.map { book.catalog.images[$0].key })) }
    }

    /// Returns an aborted publication's changes to pending.
    private mutating func restore(_ done: PublicationPlan.InFlight) {
        book.publishing.restore(done, in: book.catalog, at: turn.now)
        turn.discard(book.renditions.abortPublication())
        stageAgain(done)
    }

    private mutating func stageAgain(_ done: PublicationPlan.InFlight) {
        for id in done.staged where book.catalog.icons[id].icon.hasStaged {
            if !isPurging, book.catalog.icons[id].icon.isReferenced, book.acceptsStaged(id) {
                book.publishing.staged.insert(id)
            } else {
                book.unstage(id, in: &turn)
            }
        }
    }

    /// Defers the largest documents of a publication for which there was no room, so that the others fit; none of a list
    /// whose published document names missing images.
    private mutating func deferDocuments(_ documents: [ListName: Int], _ shortage: Shortage, room: Int) {
        var rest = documents.values.reduce(0, +)
        var waiting: [ListName: Int] = [:]
        for (list, bytes) in documents.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) })
        where rest > room && !book.publishing.isDamaged(list) {
            rest -= bytes
            waiting[list] = bytes
        }
        let lists = book.catalog.lists
        book.space.record(shortage, ofDocuments: waiting.filter { lists[$0.key] != nil }, at: turn.now)
        book.publishing.window.deferLists(Set(book.space.documents.keys))
    }
}
