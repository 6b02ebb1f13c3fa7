// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

// An app keeps its last image until the image of its current URL is on disk.
extension IconBook {
    /// A version of a list that a new one replaces.
    struct ReplacedList {
        var entries: [AppEntry]
        var previous: [Int: PreviousImage]
        /// Entries whose last URL's image is being published, with that URL.
        var heirs: [Int: IconURL]
        var standIns: [Int: PreviousImage]
    }

    /// Images of apps that are gone from their lists.
    struct LostApps {
        /// URLs that no other app of the list has, and that no new URL succeeds.
        var icons: Set<IconURL> = []
        /// The previous images that they showed.
        var previous: [PreviousImage] = []
        /// Previous images of remaining apps whose new icons have their own images.
        var replaced: [PreviousImage] = []

        mutating func formUnion(_ other: LostApps) {
            icons.formUnion(other.icons)
            previous += other.previous
            replaced += other.replaced
        }
    }

    func replaceable(_ name: ListName) -> ReplacedList? {
        guard let list = catalog.lists[name], list.source != nil else { return nil }
        return ReplacedList(
            entries: list.entries, previous: catalog.previous.entries[name] ?? [:],
            heirs: publishing.inFlight?.heirs[name] ?? [:], standIns: standIns[name] ?? [:])
    }

    /// Keeps the images of apps that remain in a new version of a list; returns those of apps that are gone.
    mutating func keepImages(
        of name: ListName, from old: ReplacedList, _ diff: IconDiff, in turn: inout Turn
    ) -> LostApps {
        guard let entries = catalog.lists[name]?.entries else { return LostApps() }
        let match = AppMatch(from: old.entries, to: entries)
        var kept: [Int: PreviousImage] = [:]
        var heirs: [Int: IconURL] = [:]
        var standIns: [Int: PreviousImage] = [:]
        for (index, image) in old.standIns { if let place = match.unchanged(index) { standIns[place] = image } }
        for (index, image) in old.previous { if let place = match.unchanged(index) { kept[place] = image } }
        for (index, url) in old.heirs { if let place = match.unchanged(index) { heirs[place] = url } }
        var replaced: [PreviousImage] = []
        var begun: [(icon: IconURL, previous: IconURL)] = []
        for (new, counterpart) in match.counterparts {
            let (icon, last) = (entries[new].icon, old.entries[counterpart].icon)
            standIns[new] = old.standIns[counterpart]
            guard catalog.icons[icon]?.hasImage != true else {
                if let last = old.previous[counterpart] { replaced.append(last) }
                if icon != last, standIns[new] == nil {
                    standIns[new] = old.previous[counterpart] ?? previousImage(of: last, at: turn.now)
                }
                continue
            }
            kept[new] = old.previous[counterpart] ?? old.standIns[counterpart]
            heirs[new] = old.heirs[counterpart]
            guard icon != last else { continue }
            if publishing.inFlight?.stagedURLs.contains(last) == true { heirs[new] = last }
            guard let image = previousImage(of: last, at: turn.now) else {
                if let image = kept[new] { begun.append((icon, image.url)) }
                continue
            }
            kept[new] = image
            begun.append((icon, last))
        }
        publishing.setHeirs(heirs, in: name)
        self.standIns[name] = standIns.isEmpty ? nil : standIns
        returnImages(to: diff.added, from: old.previous.values, in: &turn)
        catalog.setPrevious(kept, in: name)
        emitKept(begun.sorted { ($0.icon, $0.previous) < ($1.icon, $1.previous) }, in: &turn)
        return LostApps(
            icons: diff.removed.subtracting(match.succeeded(from: old.entries, to: entries)),
            previous: match.gone.compactMap { old.previous[$0] }, replaced: replaced)
    }

    private func previousImage(of url: IconURL, at now: Timestamp) -> PreviousImage? {
        guard let icon = catalog.icons[url], icon.hasImage else { return nil }
        return PreviousImage(url, icon.boxedImage, since: now.inWholeSeconds)
    }

    /// Shows the last images that apps had in a manifest, where damage took those that came since; returns the lists.
    mutating func showStandIns(besides damaged: Set<Digest>, in turn: inout Turn) -> Set<ListName> {
        var lists: Set<ListName> = []
        for (list, images) in standIns {
            let entries = catalog.lists[list]?.entries ?? []
            let shown = images.filter { entry, image in
                guard let digest = image.image.digest, !damaged.contains(digest), retention.ledger.isOnDisk(digest)
                else { return false }
                return entries.indices.contains(entry) && catalog.icons[entries[entry].icon]?.hasImage != true
                    && catalog.previous.of(entry, in: list) == nil
            }
            guard !shown.isEmpty else { continue }
            lists.insert(list)
            catalog.setPrevious(shown, in: list)
            emitKept(shown.sorted { $0.key < $1.key }.map { (entries[$0.key].icon, $0.value.url) }, in: &turn)
        }
        return lists
    }

    /// Forgets the stand-ins of lists whose newest version is published: its images were looked at before.
    mutating func forgetStandIns() {
        standIns = standIns.filter { publishing.isToBePublished($0.key) }
    }

    /// Retires previous images, unless something still shows them.
    mutating func retire(_ images: [PreviousImage], in turn: inout Turn) {
        var told: Set<IconURL> = []
        for previous in images {
            guard let image = previous.image.digest, !catalog.needs(image), told.insert(previous.url).inserted else {
                continue
            }
            turn.emit(.iconRetired(previous.url))
            catalog.recordOrphan(previous.image, of: previous.url)
        }
    }

    /// The images left without a successor when one image replaces all of them: it succeeds only the first, by URL.
    func withoutSuccessor(_ images: [PreviousImage]) -> [PreviousImage] {
        guard let first = images.min(by: { $0.url < $1.url }) else { return [] }
        return images.filter { $0.image.digest != first.image.digest }
    }

    /// Restores the images of icons that are named again: orphaned ones, the catalog's previous ones, or those in
    /// `kept`.
    mutating func returnImages(
        to added: Set<IconURL>, from kept: some Collection<PreviousImage> = [], in turn: inout Turn
    ) {
        guard !kept.isEmpty || !catalog.previous.isEmpty || catalog.hasOrphans else { return }
        let images = Dictionary(kept.lazy.map { ($0.url, $0.image) }) { a, _ in a }
        for icon in added {
            let orphan = catalog.orphan(of: icon)
            guard let image = images[icon] ?? catalog.previous.image(of: icon) ?? orphan, let digest = image.digest,
                let record = catalog.icons[icon], !record.hasImage, record.accepts(digest),
                retention.ledger.isOnDisk(digest)
            else { continue }
            if orphan != nil, let bytes = image.wrappedValue?.bytes {
                turn.emit(.iconReady(icon, bytes: bytes, generation: nil))
            }
            catalog.requestNaming(icon)
            // Its response is no longer known.
            apply(.found(image, freshUntil: turn.now), to: icon, in: &turn)
        }
    }

    /// Shows the previous images of apps that return to a list, from its documents on disk, newest first.
    ///
    /// - Returns: Whether an app shows one again.
    /// - Complexity: O(*n* log *n*) in the number of the list's documents that show previous images; if an app has no
    ///   image, also O(*n*) in that of their entries, up to ``RetirementLedger/longestSearch``.
    @discardableResult
    mutating func showAgain(in name: ListName, _ turn: inout Turn) -> Bool {
        guard let entries = catalog.lists[name]?.entries else { return false }
        let documents = retention.ledger.previousImages(shownBy: name)
        guard !documents.isEmpty else { return false }
        var apps = ReturningApps(
            entries,
            missing: entries.indices.filter {
                catalog.icons[entries[$0].icon]?.hasImage != true && catalog.previous.of($0, in: name) == nil
            })
        var images: [Int: PreviousImage] = [:]
        for document in documents where !apps.missing.isEmpty {
            let shown = document.filter { $0.image.image.digest.map(retention.ledger.isOnDisk) == true }
            for (place, number) in apps.match(shown.map(\.entry)) { images[place] = shown[number].image }
        }
        catalog.setPrevious(images, in: name)
        emitKept(images.sorted { $0.key < $1.key }.map { (entries[$0.key].icon, $0.value.url) }, in: &turn)
        return !images.isEmpty
    }

    /// Emits an event for each icon with a previous image, naming its first one.
    private func emitKept(_ shown: [(icon: IconURL, previous: IconURL)], in turn: inout Turn) {
        var emitted: Set<IconURL> = []
        for (icon, previous) in shown where catalog.previous.has(icon) && emitted.insert(icon).inserted {
            turn.emit(.iconKept(icon, previous: previous))
        }
    }

    /// Shows previous images again that were damaged until another icon brought the same image.
    mutating func showRecovered(_ images: Set<Digest>, in turn: inout Turn) {
        guard !images.isEmpty else { return }
        for list in retention.ledger.lists(showing: images) where showAgain(in: list, &turn) {
            publishing.markChanged(list, at: turn.now)
        }
    }

    /// Keeps images published after their apps' URLs changed; `heirs` are the entries with their last URL.
    mutating func keepPublished(
        by heirs: [ListName: [Int: IconURL]], among published: Set<IconURL>, in turn: inout Turn
    ) {
        for (list, entries) in heirs {
            var kept: [Int: PreviousImage] = [:]
            var replaced: [PreviousImage] = []
            for (entry, url) in entries where published.contains(url) {
                guard let record = catalog.icons[url], record.hasImage else { continue }
                let last = catalog.previous.of(entry, in: list)
                kept[entry] = PreviousImage(url, record.boxedImage, since: last?.since ?? turn.now.inWholeSeconds)
                if let last { replaced.append(last) }
            }
            guard !kept.isEmpty else { continue }
            catalog.setPrevious(kept, in: list)
            retire(replaced, in: &turn)
            publishing.markChanged(list, at: turn.now)
        }
    }

    /// Removes these previous images, or all (`nil`), and requests their apps' icons; returns the changed lists and the
    /// images.
    @discardableResult
    mutating func dropPrevious(
        _ images: Set<Digest>?, in turn: inout Turn
    ) -> (lists: Set<ListName>, images: Set<Digest>) {
        var changed: Set<ListName> = []
        var dropped: Set<Digest> = []
        for (list, entries) in catalog.previous.entries {
            let kept = entries.filter { entry in
                guard let images, let digest = entry.value.image.digest else { return false }
                return !images.contains(digest)
            }
            guard kept.count < entries.count else { continue }
            changed.insert(list)
            let icons = entries.keys.filter { kept[$0] == nil }.compactMap { catalog.lists[list]?.entries[$0].icon }
            for (entry, previous) in entries where kept[entry] == nil {
                guard let image = previous.image.wrappedValue, let icon = catalog.lists[list]?.entries[entry].icon
                else { continue }
                dropped.insert(image.sha256)
                guard images != nil else { continue }
                retention.recordDamage(of: image, shownBy: icon)
                catalog.recordDamagedPrevious(image.sha256)
            }
            catalog.removePrevious(of: list)
            catalog.setPrevious(kept, in: list)
            publishing.markChanged(list, at: turn.now)
            for icon in icons {
                if catalog.icons[icon]?.failure?.nextAttempt != nil {
                    apply(.retried(turn.now), to: icon, in: &turn)
                } else {
                    decide(icon, in: &turn)
                }
            }
        }
        return (changed, dropped)
    }
}
