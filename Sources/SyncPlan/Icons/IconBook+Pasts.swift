// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

// An app keeps its last image until the image of its current URL is on disk.
extension IconBook {
    /// Images of apps that are gone from their lists.
    struct LostApps {
        /// URLs that no other app of the list has, and that no new URL succeeds.
        var icons: Set<IconURL> = []
        /// The last images that they showed.
        var lastImages: [App.LastImage] = []
        /// Last images of remaining apps whose new icons have their own images.
        var replaced: [App.LastImage] = []
    }

    /// Keeps the images of apps that remain in a new version of a list, and records those of apps that are gone.
    mutating func keepImages(
        of name: ListName, from old: Apps, _ last: AppEntries, to entries: AppEntries, _ diff: IconDiff,
        _ lost: inout LostApps, in turn: inout Turn
    ) {
        let match = AppMatch(from: last, to: entries)
        var pasts: [(position: Int, past: App.Past)] = []
        for (position, past) in old.pasts { if let new = match.unchanged(position) { pasts.append((new, past)) } }
        var begun: [(icon: IconURL, previous: IconURL)] = []
        for (position, counterpart) in match.counterparts.sorted(by: { $0.key < $1.key }) {
            let (icon, url) = (entries.icons[position], last.icons[counterpart])
            var past = old[past: counterpart]
            let lastOfURL = icon == url ? nil : lastImage(of: url, at: turn.now)
            if catalog.icons[icon]?.hasImage == true {
                if let last = past.last { lost.replaced.append(last) }
                if icon != url, past.before == nil { past.before = past.last ?? lastOfURL }
                (past.last, past.coming) = (nil, nil)
            } else {
                let before = past.before.flatMap { catalog.images[$0.image].isOnDisk ? $0 : nil }
                past.last = lastOfURL ?? past.last ?? before
                if icon != url {
                    if let id = catalog.icons.id(of: url), publishing.isInFlight(id) { past.coming = url }
                    if let last = past.last { begun.append((icon, last.url)) }
                }
            }
            pasts.append((position, past))
        }
        returnImages(to: diff.added, from: old.lastImages, in: &turn)
        for (position, past) in pasts {
            catalog.changePast(of: AppIndex(list: name, position: position)) { $0 = past }
        }
        emitKept(begun.sorted { ($0.icon, $0.previous) < ($1.icon, $1.previous) }, in: &turn)
        lost.icons.formUnion(diff.removed.subtracting(match.succeeded(from: last, to: entries)))
        lost.lastImages += match.gone.compactMap { old[past: $0].last }
    }

    private func lastImage(of url: IconURL, at now: Timestamp) -> App.LastImage? {
        catalog.icons[url]?.image.map { App.LastImage(url: url, image: $0, since: now.inWholeSeconds) }
    }

    /// Shows the last images that apps had in a manifest, where damage took those that came since; returns the lists.
    mutating func showImagesBefore(besides damaged: Set<ImageID>, in turn: inout Turn) -> Set<ListName> {
        var lists: Set<ListName> = []
        for list in catalog.pastIndex.unsettled.sorted() {
            let shown = catalog.lists[list]?.apps.pasts.compactMap { position, past -> (Int, App.LastImage)? in
                guard past.last == nil, let before = past.before, !damaged.contains(before.image),
                    catalog.images[before.image].isOnDisk
                else { return nil }
                return (position, before)
            }
            if showAgain(shown ?? [], in: list, &turn) { lists.insert(list) }
        }
        return lists
    }

    /// Retires last images, unless something still shows them.
    mutating func retire(_ images: [App.LastImage], in turn: inout Turn) {
        var told: Set<IconURL> = []
        for last in images where !catalog.images[last.image].isShown && told.insert(last.url).inserted {
            turn.emit(.iconRetired(last.url))
            catalog.recordOrphan(last.image, of: last.url)
        }
    }

    /// The images left without a successor when one new image replaces several: it succeeds only the first, by URL.
    func withoutSuccessor(_ images: [App.LastImage]) -> [App.LastImage] {
        guard let first = images.min(by: { $0.url < $1.url }) else { return [] }
        return images.filter { $0.image != first.image }
    }

    /// Restores the images of icons that are named again: orphaned ones, the last ones of apps, or those in `kept`.
    mutating func returnImages(to added: Set<IconURL>, from kept: [App.LastImage] = [], in turn: inout Turn) {
        guard !kept.isEmpty || catalog.hasLastImages || catalog.hasOrphans else { return }
        let images = Dictionary(kept.lazy.map { ($0.url, $0.image) }) { a, _ in a }
        for icon in added {
            let orphan = catalog.orphan(of: icon)
            guard let image = images[icon] ?? catalog.lastImage(from: icon) ?? orphan,
                let record = catalog.icons[icon], !record.hasImage, record.accepts(catalog.images[image].key),
                catalog.images[image].isOnDisk
            else { continue }
            if orphan != nil {
                turn.emit(.iconReady(icon, bytes: catalog.images.bytes(image), generation: nil))
            }
            catalog.names.review(icon, in: &catalog.images)
            // The response of the image is no longer known.
            apply(.found(image, freshUntil: turn.now), to: icon, in: &turn)
        }
    }

    /// Shows the last images of apps that return to a list, from its documents on disk, newest first.
    ///
    /// - Returns: Whether an app shows one again.
    /// - Complexity: O(*n* log *n*) in the number of the list's documents that show last images; if an app has no image,
    ///   also O(*n*) in that of their entries, up to ``RetirementLedger/longestSearch``.
    @discardableResult
    mutating func showAgain(in name: ListName, _ turn: inout Turn) -> Bool {
        guard let apps = catalog.lists[name]?.apps else { return false }
        let documents = retention.ledger.appsShowingLast(of: name)
        guard !documents.isEmpty else { return false }
        var returning = ReturningApps(
            catalog.entries(of: name),
            missing: apps.icons.indices.filter {
                !catalog.icons[apps.icons[$0]].icon.hasImage && apps[past: $0].last == nil
            })
        var images: [(position: Int, image: App.LastImage)] = []
        for document in documents where !returning.missing.isEmpty {
            let shown = document.filter { catalog.images[$0.last.image].isOnDisk }
            for (position, number) in returning.match(shown.map(\.entry)) {
                images.append((position, shown[number].last))
            }
        }
        return showAgain(images.sorted { $0.position < $1.position }, in: name, &turn)
    }

    /// Shows images as the last ones of apps whose icons have none; returns whether an app shows one.
    private mutating func showAgain(
        _ images: [(position: Int, image: App.LastImage)], in list: ListName, _ turn: inout Turn
    ) -> Bool {
        var shown: [(icon: IconURL, previous: IconURL)] = []
        for (position, image) in images {
            guard let icon = catalog.lists[list]?.icons[position], !catalog.icons[icon].icon.hasImage else { continue }
            catalog.changePast(of: AppIndex(list: list, position: position)) { $0.last = image }
            shown.append((catalog.icons.url(of: icon), image.url))
        }
        emitKept(shown, in: &turn)
        return !shown.isEmpty
    }

    /// Emits an event for each icon that a last image replaces, naming its first one.
    private func emitKept(_ shown: [(icon: IconURL, previous: IconURL)], in turn: inout Turn) {
        var emitted: Set<IconURL> = []
        for (icon, previous) in shown where catalog.isReplaced(icon) && emitted.insert(icon).inserted {
            turn.emit(.iconKept(icon, previous: previous))
        }
    }

    /// Shows last images again that were damaged until another icon brought the same image.
    mutating func showRecovered(_ images: Set<ImageID>, in turn: inout Turn) {
        guard !images.isEmpty else { return }
        for list in retention.ledger.lists(showingLast: images) where showAgain(in: list, &turn) {
            publishing.window.markChanged(list, at: turn.now)
        }
    }

    /// Keeps images published after their apps' URLs changed; none if the publication in flight failed.
    mutating func keepPublished(among published: Set<IconID>, in turn: inout Turn) {
        for list in catalog.pastIndex.unsettled.sorted() {
            var replaced: [App.LastImage?] = []
            for (position, past) in catalog.lists[list]?.apps.pasts.map({ $0 }) ?? [] {
                guard let url = past.coming else { continue }
                let isPublished = catalog.icons.id(of: url).map(published.contains) ?? false
                var image = isPublished ? lastImage(of: url, at: turn.now) : nil
                if let since = past.last?.since { image?.since = since }
                catalog.changePast(of: AppIndex(list: list, position: position)) {
                    ($0.last, $0.coming) = (image ?? past.last, nil)
                }
                if image != nil { replaced.append(past.last) }
            }
            guard !replaced.isEmpty else { continue }
            retire(replaced.compactMap(\.self), in: &turn)
            publishing.window.markChanged(list, at: turn.now)
        }
    }

    /// Removes these last images, or all (`nil`), and requests their apps' icons; returns the changed lists and the
    /// images.
    @discardableResult
    mutating func dropLastImages(
        _ images: Set<ImageID>?, in turn: inout Turn
    ) -> (lists: Set<ListName>, images: Set<ImageID>) {
        var changed: Set<ListName> = []
        var dropped: Set<ImageID> = []
        for list in catalog.lists.keys.sorted() {
            guard let record = catalog.lists[list] else { continue }
            var icons: [IconID] = []
            for (position, past) in record.apps.pasts {
                guard let image = past.last?.image, images?.contains(image) ?? true else { continue }
                dropped.insert(image)
                icons.append(record.icons[position])
                if images != nil {
                    retention.recordDamage(of: catalog.images.image(image))
                    catalog.names.recordDamage(of: catalog.icons.url(of: record.icons[position]), in: &catalog.images)
                    catalog.images.miss(image)
                }
                catalog.changePast(of: AppIndex(list: list, position: position)) { $0.last = nil }
            }
            guard !icons.isEmpty else { continue }
            changed.insert(list)
            publishing.window.markChanged(list, at: turn.now)
            for icon in icons {
                if catalog.icons[icon].icon.failure?.nextAttempt != nil {
                    apply(.retried(turn.now), to: icon, in: &turn)
                } else {
                    decide(icon, in: &turn)
                }
            }
        }
        return (changed, dropped)
    }
}
