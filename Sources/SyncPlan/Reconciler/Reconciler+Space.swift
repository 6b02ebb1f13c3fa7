// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Takes note that there is no room for an icon: it stays what it is, and is asked for when there is.
    ///
    /// Nothing of this is published, which would take room, too.
    mutating func crowdOut(_ url: IconURL, _ shortage: Shortage, now: Timestamp) {
        let isWanted = catalog.icons[url]?.isReferenced ?? false
        if isWanted { catalog.updateIcon(url) { $0.phase = .crowdedOut } }
        if isWanted || shortage.isGeneral { space.note(shortage, of: isWanted ? url : nil, at: now) }
    }

    /// Takes note that there was no room for a publication, whose images are gone.
    mutating func noteLost(_ publication: Publication, _ reason: String, now: Timestamp) {
        let shortage = Shortage(bytes: publication.bytes, isGeneral: true, reason: reason)
        space.noteLost(shortage, hadImages: !publication.moves.isEmpty, at: now)
    }

    /// Takes note that there was no room for the documents of a publication, of which nothing was done.
    ///
    /// The longest of them wait for room, so that there is room for the others.
    mutating func crowdOut(_ documents: [ListName: Int], _ shortage: Shortage, room: Int, now: Timestamp) {
        var rest = documents.values.reduce(0, +)
        var waiting: [ListName: Int] = [:]
        for (list, bytes) in documents.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) }) where rest > room {
            rest -= bytes
            waiting[list] = bytes
        }
        space.note(shortage, ofDocuments: waiting.filter { catalog.lists[$0.key] != nil }, at: now)
        window.crowdOut(Set(space.documents.keys))
    }

    /// Forgets what was to be published of a list that is gone.
    mutating func forgetChanges(of list: ListName) {
        let wasCrowded = window.crowded.contains(list)
        window.forget(list)
        space.forgetDocument(of: list)
        rewrittenLists.remove(list)
        damagedLists.remove(list)
        if wasCrowded { noteStagedImages() }
    }

    /// Has the lists published whose new images waited for a list that had no room.
    private mutating func noteStagedImages() {
        for url in stagedURLs where publishing?.staged[url] == nil {
            for list in catalog.icons[url]?.lists ?? [] { window.noteChange(of: list, at: .distantPast) }
        }
    }

    /// Has a list's document tried again, for which there was no room: it is another one now.
    mutating func readmit(_ list: ListName) {
        guard space.documents[list] != nil else { return }
        space.forgetDocument(of: list)
        window.crowdOut(Set(space.documents.keys))
        noteStagedImages()
    }

    /// Whether it is of use to know when there is room.
    var looksForSpace: Bool { !triesOnce && !isStopping }

    mutating func lookForSpace(now: Timestamp, to actions: inout [Action]) {
        guard looksForSpace, let trial = space.look(at: now) else { return }
        actions.append(.measureSpace(trial: trial))
    }

    /// Lets those go on for whom there is room now.
    mutating func applySpace(_ found: Result<DiskSpace, Shortage>, now: Timestamp) {
        let wasOpen = space.isOpen
        if case .success(let space) = found {
            let crowded = window.crowded
            window.crowdOut(self.space.admitDocuments(to: space, above: settings.cache.minFree))
            if window.crowded != crowded { noteStagedImages() }
        }
        for url in space.apply(found, above: settings.cache.minFree, at: now) {
            catalog.updateIcon(url) { $0.phase = .idle }
            consider(url, now: now)
        }
        if !wasOpen, space.isOpen { window.retry(at: now) }
    }
}
