// SPDX-License-Identifier: Apache-2.0
import IconCache

extension Reconciler {
    /// Takes note that there is no room for an icon: it stays what it is, and is asked for when there is.
    ///
    /// Nothing of this is published, which would take room, too.
    mutating func crowdOut(_ url: String, _ shortage: Shortage, now: Timestamp) {
        let isWanted = catalog.icons[url]?.isReferenced ?? false
        if isWanted { catalog.updateIcon(url) { $0.phase = .crowdedOut } }
        if isWanted || shortage.isGeneral { space.note(shortage, of: isWanted ? url : nil, at: now) }
    }

    /// Takes note that there was no room for a publication, whose images are gone.
    mutating func noteLost(_ publication: Publication, _ reason: String, now: Timestamp) {
        let shortage = Shortage(bytes: publication.bytes, isGeneral: true, reason: reason)
        space.noteLost(shortage, hadImages: !publication.moves.isEmpty, at: now)
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
        for url in space.apply(found, above: settings.cache.minFree, at: now) {
            catalog.updateIcon(url) { $0.phase = .idle }
            consider(url, now: now)
        }
        if !wasOpen, space.isOpen { window.retry(at: now) }
    }
}
