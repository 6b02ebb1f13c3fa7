// SPDX-License-Identifier: Apache-2.0
import IconCache

extension Reconciler {
    mutating func publish(now: Timestamp, to actions: inout [Action]) {
        var publication = Publication(generation: nextGeneration, published: now)
        nextGeneration += 1
        var staged: [String: StagedImage] = [:]
        var moved: Set<Digest> = []
        for url in stagedURLs {
            guard let icon = catalog.icons[url], let image = icon.staged else { continue }
            staged[url] = image
            if ledger.isOnDisk(image.image.sha256) || !moved.insert(image.image.sha256).inserted {
                publication.discards.append(image.name)
            } else {
                publication.moves.append(image)
            }
            publication.links.append((url, image.image.path, before: icon.image?.path))
        }
        for (name, list) in catalog.lists {
            if dirtyLists.contains(name) {
                if let document = catalog.document(of: name) { publication.documents.append(document) }
            } else if let published = list.published {
                publication.kept[name] = published
            }
        }
        stagedURLs = []
        dirtyLists = []
        window.begin(during: traffic, at: now)
        publishing = PublicationInFlight(publication: publication, staged: staged, begun: now)
        actions.append(.publish(publication))
        flush(to: &actions)
    }

    mutating func applyPublication(_ result: PublicationResult, now: Timestamp, to actions: inout [Action]) {
        guard let done = publishing else { preconditionFailure("nothing was being published") }
        publishing = nil
        switch result {
        case .published(let manifest, let bytesWritten, let doubt):
            publicationFailure = doubt
            if !done.staged.isEmpty { space.notePublished() }
            isInDoubt = doubt != nil
            window.finish(at: now, cost: now - done.begun, bytesWritten: bytesWritten)
            if let doubt {
                window.fail(at: now)
                distrustDownloads(because: doubt, now: now, to: &actions)
            }
            let documents = done.publication.documents.compactMap { document in
                manifest.lists[document.list].map { ($0.sha256, document) }
            }
            if let superseded = self.manifest?.generation { unrememberedGenerations.insert(superseded) }
            rememberSoon(now: now)
            ledger.publish(
                manifest, newDocuments: Dictionary(documents) { a, _ in a },
                moved: done.publication.moves.map(\.image.sha256), at: now)
            self.manifest = manifest
            for (name, list) in manifest.lists {
                if catalog.lists[name]?.source == nil {
                    // The list was removed in the meantime.
                    window.noteChange(at: now)
                } else {
                    catalog.updateList(name) { $0.published = list }
                }
            }
            for (url, staged) in done.staged {
                guard let answer = catalog.icons[url]?.stagedAnswer else { continue }
                catalog.updateIcon(url) {
                    $0.image = staged.image
                    $0.staged = nil
                    $0.stagedAnswer = nil
                }
                noteFresh(url, answer, now: now)
                consider(url, now: now)
            }
            // What was taken for an image on disk turned out to be damaged meanwhile.
            let lost = Set(done.staged.values.map(\.image.sha256).filter { !ledger.isOnDisk($0) })
            if !lost.isEmpty { noteDamage(lost, now: now) }
        case .failed(let reason, let isOutOfSpace):
            publicationFailure = reason
            window.fail(at: now)
            dirtyLists.formUnion(done.publication.documents.map(\.list).filter { catalog.lists[$0] != nil })
            if isOutOfSpace { noteLost(done.publication, reason, now: now) }
            for (url, staged) in done.staged {
                drop(staged, of: url, because: reason, isOutOfSpace: isOutOfSpace, now: now)
            }
            distrustDownloads(because: reason, isOutOfSpace: isOutOfSpace, now: now, to: &actions)
        }
    }
}
