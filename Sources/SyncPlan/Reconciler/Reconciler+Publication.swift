// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

extension Reconciler {
    mutating func publish(now: Timestamp, to actions: inout [Action]) {
        let names = listsToPublish(now: now)
        let changesManifest = window.isManifestChanged
        let (staged, held) = stagedImages(of: names)
        window.begin(names)
        guard changesManifest || !names.isEmpty else { return }
        hold(held, of: names, now: now)
        var publication = Publication(generation: nextGeneration, published: now)
        nextGeneration += 1
        isNewestGenerationUnremembered = true
        var moved: Set<Digest> = []
        for (url, image) in staged {
            if ledger.isOnDisk(image.image.sha256) || !moved.insert(image.image.sha256).inserted {
                publication.discards.append(image)
            } else {
                publication.moves.append(image)
            }
            publication.links.append((url, image.image.path, before: catalog.icons[url]?.image?.path))
        }
        let mended = damagedLists.intersection(names)
        // What is found damaged from now on is for the next one.
        damagedLists.subtract(mended)
        publication.ignoresRoom = !mended.isEmpty
        publication.documents = names.compactMap { catalog.document(of: $0, without: held) }
        publication.checks = newlyNamed(in: publication.documents, besides: staged)
        publication.kept.reserveCapacity(catalog.lists.count)
        for (name, list) in catalog.lists where !names.contains(name) { publication.kept[name] = list.published }
        stagedURLs.subtract(staged.keys)
        rewrittenLists.subtract(names)
        cacheLook = .stale
        publishing = PublicationInFlight(
            publication: publication, staged: staged, mended: mended, changesManifest: changesManifest, begun: now)
        actions.append(.publish(publication))
        flush(to: &actions)
    }

    // MARK: What is in it

    /// The changed lists that are due, and those that share a new image with them, as far as they may be published.
    private func listsToPublish(now: Timestamp) -> Set<ListName> {
        var names = window.lists(dueAt: now, during: traffic)
        var rest = stagedURLs.isEmpty ? [] : names
        while !rest.isEmpty {
            var found: Set<ListName> = []
            let rewritten = rewrittenLists.subtracting(names)
            for url in stagedURLs(of: rest) {
                for other in lists(showing: url, beside: names, rewritten: rewritten)
                where window.isChanged(other) && window.mayPublish(other, at: now, during: traffic) {
                    names.insert(other)
                    found.insert(other)
                }
            }
            rest = found
        }
        return names
    }

    /// The staged images that lists name, as far as they can be published with these lists alone.
    ///
    /// An image that takes the place of another one is published with all lists that show that one, so that no two
    /// documents of a generation have different images of one URL.
    private func stagedImages(of names: Set<ListName>) -> (staged: [IconURL: StagedImage], held: Set<IconURL>) {
        var staged: [IconURL: StagedImage] = [:]
        var held: Set<IconURL> = []
        guard !stagedURLs.isEmpty else { return (staged, held) }
        let rewritten = rewrittenLists.subtracting(names)
        for url in stagedURLs(of: names) {
            let place = catalog.icons.index(of: url)
            guard let image = place.flatMap({ catalog.icons[$0].icon.staged }) else { continue }
            if lists(showing: url, beside: names, rewritten: rewritten).isEmpty {
                staged[url] = image
            } else {
                held.insert(url)
            }
        }
        return (staged, held)
    }

    /// The images on disk that documents name, and the newest ones of the same lists do not, apart from staged ones.
    ///
    /// Between two complete looks at the cache folder, nobody knows whether they are still there.
    private func newlyNamed(
        in documents: [AppListDocument], besides staged: [IconURL: StagedImage]
    ) -> Set<AppListDocument.Image> {
        var images: Set<AppListDocument.Image> = []
        for document in documents {
            let published = catalog.lists[document.list]?.published
            let known = published.flatMap { ledger.documents[$0.sha256]?.images } ?? SortedSet()
            for case .ready(let image) in document.apps.lazy.map(\.state) where !known.contains(image.sha256) {
                images.insert(image)
            }
        }
        for image in staged.values { images.remove(image.image) }
        return images
    }

    /// The URLs of lists that have an image which waits to be published.
    ///
    /// - Complexity: O(*n*) in the number of such URLs, or in that of the entries of the lists, whichever is less.
    private func stagedURLs(of names: Set<ListName>) -> [IconURL] {
        let entries = names.lazy.compactMap { catalog.lists[$0]?.entries.count }.reduce(0, +)
        guard stagedURLs.count > entries else {
            return stagedURLs.filter { url in
                guard let place = catalog.icons.index(of: url) else { return false }
                return catalog.icons[place].icon.lists.contains(where: names.contains)
            }
        }
        return names.flatMap { catalog.lists[$0]?.entries.lazy.map(\.icon).filter(stagedURLs.contains) ?? [] }
    }

    /// The lists whose newest documents have an image on disk for a URL, apart from some; one may be told twice.
    ///
    /// This is asked of many URLs, and there may be many rewritten lists: these come without those some.
    private func lists(showing url: IconURL, beside names: Set<ListName>, rewritten: Set<ListName>) -> [ListName] {
        guard let place = catalog.icons.index(of: url), catalog.icons[place].icon.hasImage else { return [] }
        let naming = catalog.icons[place].icon.lists.filter { !names.contains($0) }
        return (naming + rewritten).filter { list in
            catalog.lists[list]?.published.map { ledger.names(url, in: $0.sha256) } ?? false
        }
    }

    /// Has lists published again when those are due that share images with them.
    private mutating func hold(_ held: Set<IconURL>, of names: Set<ListName>, now: Timestamp) {
        let rewritten = rewrittenLists.subtracting(names)
        for url in held {
            let others = lists(showing: url, beside: names, rewritten: rewritten)
            // Where one of them waits for room, they come together when there is some.
            guard window.crowded.isDisjoint(with: others) else { continue }
            let due = others.map { window.nextDue(of: $0, during: traffic) }.max()
            // Not at once: what there is room for may be long in coming.
            let retry = max(due ?? now, now + Self.holdTime)
            for list in catalog.icons[url]?.lists ?? [] where names.contains(list) {
                window.noteChange(of: list, at: retry)
            }
        }
    }

    /// The least time for which a list waits for those that share a new image with it; it comes with them in any case.
    private static let holdTime: Duration = .seconds(5)

    // MARK: What became of it

    mutating func applyPublication(_ result: PublicationResult, now: Timestamp, to actions: inout [Action]) {
        guard let done = publishing else { preconditionFailure("nothing was being published") }
        publishing = nil
        switch result {
        case .published(let manifest, let written, let doubt):
            publicationFailure = doubt
            if !done.staged.isEmpty { space.notePublished() }
            isInDoubt = doubt != nil
            window.finish(
                at: now, cost: now - done.begun, documents: written.documents, manifestBytes: written.manifest,
                isDurable: doubt == nil)
            if let doubt {
                window.fail([], at: now)
                distrustDownloads(because: doubt, now: now, to: &actions)
            }
            let documents = done.publication.documents.compactMap { document in
                manifest.lists[document.list].map { ($0.sha256, document) }
            }
            if let superseded = self.manifest?.generation { unrememberedGenerations.insert(superseded) }
            rememberSoon(now: now)
            ledger.publish(
                manifest, newDocuments: Dictionary(documents) { a, _ in a },
                moved: written.replaced.union(done.publication.moves.map(\.image.sha256)), at: now)
            self.manifest = manifest
            for (name, list) in manifest.lists where catalog.lists[name]?.published != list {
                if catalog.lists[name]?.source == nil {
                    // The list was removed in the meantime.
                    window.noteChange(at: now)
                } else {
                    catalog.updateList(name) { $0.published = list }
                }
            }
            for (url, staged) in done.staged {
                let place = catalog.icons.index(of: url)
                guard let answer = place.flatMap({ catalog.icons[$0].icon.stagedAnswer }) else { continue }
                let image = ledger.boxed(staged.image)
                noteFresh(url, answer, now: now) {
                    $0.boxedImage = image
                    $0.staged = nil
                    $0.stagedAnswer = nil
                }
                consider(url, now: now)
            }
            // What was taken for an image on disk turned out to be damaged meanwhile.
            let lost = Set(done.staged.values.map(\.image.sha256).filter { !ledger.isOnDisk($0) })
            if !lost.isEmpty { noteDamage(lost, now: now) }
            // Other URLs may have names of the files that were there before.
            if !written.replaced.isEmpty { suspectCache(isComplete: true) }
        case .noRoom(let shortage, let room, let documents):
            takeBack(done, now: now, to: &actions)
            crowdOut(documents, shortage, room: room, now: now)
        case .failed(let reason, let isOutOfSpace):
            publicationFailure = reason
            rewrittenLists.formUnion(done.publication.documents.map(\.list))
            damagedLists.formUnion(done.mended.filter { catalog.lists[$0] != nil })
            window.fail(done.publication.documents.map(\.list).filter { catalog.lists[$0] != nil }, at: now)
            // Perhaps because somebody removed an image that it was to give another name.
            if isOutOfSpace {
                noteLost(done.publication, reason, now: now)
            } else {
                suspectCache(isComplete: true)
            }
            for (url, staged) in done.staged {
                drop(staged, of: url, because: reason, isOutOfSpace: isOutOfSpace, now: now)
            }
            distrustDownloads(because: reason, isOutOfSpace: isOutOfSpace, now: now, to: &actions)
        }
    }

    /// Has all that a publication was to bring wait for the next one: nothing was done of it.
    private mutating func takeBack(_ done: PublicationInFlight, now: Timestamp, to actions: inout [Action]) {
        for list in done.publication.documents.map(\.list) where catalog.lists[list] != nil {
            window.noteChange(of: list, at: now)
            rewrittenLists.insert(list)
        }
        damagedLists.formUnion(done.mended.filter { catalog.lists[$0] != nil })
        if done.changesManifest { window.noteChange(at: now) }
        for (url, staged) in done.staged {
            if catalog.icons[url]?.isReferenced == true {
                stagedURLs.insert(url)
            } else {
                catalog.updateIcon(url) {
                    $0.staged = nil
                    $0.stagedAnswer = nil
                }
                actions.append(.discard([staged.name]))
                forgetIfDone(url, now: now)
            }
        }
    }
}
