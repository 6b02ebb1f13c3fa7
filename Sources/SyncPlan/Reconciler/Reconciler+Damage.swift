// SPDX-License-Identifier: Apache-2.0
import IconCache

extension Reconciler {
    /// Takes note of images whose files are not what they were: they are fetched again, and until then no manifest names
    /// them.
    mutating func noteDamage(_ images: Set<Digest>, now: Timestamp) {
        var found: Set<Digest> = []
        for (url, icon) in catalog.icons {
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
            for list in icon.lists {
                readmit(list)
                window.hurry(list)
                damagedLists.insert(list)
            }
            consider(url, now: now)
            forgetIfDone(url, now: now)
        }
        // Not what was damaged before: new files may be in its place by now.
        ledger.noteMissing(found)
    }

    /// Removes damaged files that no new image has replaced, once the newest manifest does not name them any more.
    ///
    /// - Returns: Whether there are any.
    mutating func removeDamaged(to actions: inout [Action]) -> Bool {
        guard !damaged.isEmpty || !damagedURLs.isEmpty else { return false }
        damaged = damaged.filter { !ledger.isOnDisk($0.sha256) }
        damagedURLs = damagedURLs.filter { catalog.icons[$0]?.image == nil }
        guard window.hasNoChangedList else { return false }
        var plan = RetirementPlan()
        (plan.images, plan.urls) = (damaged, damagedURLs)
        if let stuck { plan.subtract(stuck.plan) }
        guard !plan.isEmpty else { return false }
        eviction = .removing(plan)
        actions.append(.remove(plan))
        return true
    }
}
