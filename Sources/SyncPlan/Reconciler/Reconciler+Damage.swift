// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Takes note of images whose files are not what they were: they are fetched again, and until then no manifest names
    /// them.
    mutating func noteDamage(_ images: Set<Digest>, now: Timestamp) {
        guard !images.isEmpty else { return }
        var found: Set<Digest> = []
        var lists: Set<ListName> = []
        for element in catalog.icons {
            let (url, icon) = (element.url, element.icon)
            guard let image = icon.image, images.contains(image.sha256) else { continue }
            damaged.insert(RetirementPlan.Image(sha256: image.sha256, path: image.path))
            damagedURLs.insert(url)
            found.insert(image.sha256)
            let before = icon.state
            catalog.updateIcon(url) {
                $0.image = nil
                $0.response = nil
                $0.wasMissing = true
            }
            remember(url, now: now)
            noteState(of: url, was: before, now: now)
            lists.formUnion(icon.lists)
            consider(url, now: now)
            forgetIfDone(url, now: now)
        }
        for list in listsAwaitingNewDocuments where isNamed(anyOf: images, inPublished: list) {
            if rewrittenLists.contains(list) {
                markDirty(list, now: now)
                lists.insert(list)
            }
            // If that comes to nothing, the published document is still the one that names them.
            publishing?.noteMended(list)
        }
        // Once for each list, however many of its images were lost.
        for list in lists.sorted() {
            readmit(list)
            window.hurry(list)
        }
        damagedLists.formUnion(lists)
        // Not what was damaged before: new files may be in its place by now.
        ledger.noteMissing(found)
    }

    /// The lists whose published documents may name what the lists name no more.
    private var listsAwaitingNewDocuments: Set<ListName> {
        rewrittenLists.union(publishing?.publication.documents.lazy.map(\.list) ?? [])
            .filter { catalog.lists[$0]?.source != nil }
    }

    private func isNamed(anyOf images: Set<Digest>, inPublished list: ListName) -> Bool {
        guard let published = catalog.lists[list]?.published, let document = ledger.documents[published.sha256] else {
            return false
        }
        return !document.images.isDisjoint(with: images)
    }

    /// Removes damaged files that no new image has replaced, once the newest manifest does not name them any more.
    ///
    /// They are read once more before: what was told may be out of date, and generations in their grace name the images.
    ///
    /// - Returns: Whether there are any.
    mutating func removeDamaged(to actions: inout [Action]) -> Bool {
        guard !damaged.isEmpty || !damagedURLs.isEmpty else { return false }
        damaged = damaged.filter { !ledger.isOnDisk($0.sha256) }
        damagedURLs = damagedURLs.filter { catalog.icons[$0]?.image == nil }
        guard window.hasNoChangedList else { return false }
        var plan = RetirementPlan()
        (plan.images, plan.urls, plan.isOfDamage) = (damaged, damagedURLs, true)
        if let stuck { plan.subtract(stuck.plan) }
        guard !plan.isEmpty else { return false }
        eviction = .removing(plan)
        actions.append(.remove(plan))
        return true
    }
}
