// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

// An app keeps its last image until that of its present URL is on disk.
extension Reconciler {
    /// A version of a list that another one has taken the place of.
    struct ReplacedList {
        var entries: [AppEntry]
        var previous: [Int: PreviousImage]
        /// The entries whose last URL is being published, with that URL.
        var heirs: [Int: IconURL]
    }

    /// What apps lose that are gone from their lists.
    struct LostApps {
        /// The URLs that no other app of the list has, and that none has taken the place of.
        var icons: Set<IconURL> = []
        /// What they showed in place of their icons.
        var previous: [PreviousImage] = []
        /// Previous images of apps that stay, and whose new icons have images of their own.
        var replaced: [PreviousImage] = []

        mutating func formUnion(_ other: LostApps) {
            icons.formUnion(other.icons)
            previous += other.previous
            replaced += other.replaced
        }
    }

    /// The version of a list in force, if there is one.
    func replaceable(_ name: ListName) -> ReplacedList? {
        guard let list = catalog.lists[name], list.source != nil else { return nil }
        return ReplacedList(
            entries: list.entries, previous: catalog.previous.entries[name] ?? [:],
            heirs: publishing.inFlight?.heirs[name] ?? [:])
    }

    /// Has the apps of a new version of a list keep the images that they had in the old one.
    ///
    /// - Parameters:
    ///   - name: The list, of which the new version is in force.
    ///   - old: The old version.
    ///   - diff: What the list names now, and no more.
    ///   - now: The present time.
    /// - Returns: What apps lose that are gone.
    mutating func keepImages(
        of name: ListName, from old: ReplacedList, _ diff: IconDiff, now: Timestamp
    ) -> LostApps {
        guard let entries = catalog.lists[name]?.entries else { return LostApps() }
        let match = AppMatch(from: old.entries, to: entries)
        var kept: [Int: PreviousImage] = [:]
        var heirs: [Int: IconURL] = [:]
        for (index, image) in old.previous { if let place = match.unchanged(index) { kept[place] = image } }
        for (index, url) in old.heirs { if let place = match.unchanged(index) { heirs[place] = url } }
        var replaced: [PreviousImage] = []
        var begun: [(icon: IconURL, previous: IconURL)] = []
        for (new, counterpart) in match.counterparts {
            let (icon, last) = (entries[new].icon, old.entries[counterpart].icon)
            guard catalog.icons[icon]?.hasImage != true else {
                if let last = old.previous[counterpart] { replaced.append(last) }
                continue
            }
            kept[new] = old.previous[counterpart]
            heirs[new] = old.heirs[counterpart]
            guard icon != last else { continue }
            if publishing.inFlight?.staged[last] != nil { heirs[new] = last }
            guard let record = catalog.icons[last], record.hasImage else {
                if let image = kept[new] { begun.append((icon, image.url)) }
                continue
            }
            kept[new] = PreviousImage(last, record.boxedImage, since: now.inWholeSeconds)
            begun.append((icon, last))
        }
        publishing.setHeirs(heirs, in: name)
        returnImages(to: diff.added, from: old.previous.values, now: now)
        catalog.setPrevious(kept, in: name)
        emitKept(begun.sorted { ($0.icon, $0.previous) < ($1.icon, $1.previous) })
        return LostApps(
            icons: diff.removed.subtracting(match.succeeded(from: old.entries, to: entries)),
            previous: match.gone.compactMap { old.previous[$0] }, replaced: replaced)
    }

    /// Tells of images that apps have shown in place of their icons, and that nothing shows any more.
    mutating func noteRetired(_ images: [PreviousImage]) {
        var told: Set<IconURL> = []
        for previous in images {
            guard let image = previous.image.digest, !catalog.needs(image), told.insert(previous.url).inserted else {
                continue
            }
            events.append(.iconRetired(previous.url))
            catalog.recordOrphan(previous.image, of: previous.url)
        }
    }

    /// The images that have no successor when one takes the place of all of them: it is that of the first one.
    func withoutSuccessor(_ images: [PreviousImage]) -> [PreviousImage] {
        guard let first = images.min(by: { $0.url < $1.url }) else { return [] }
        return images.filter { $0.image.digest != first.image.digest }
    }

    /// Restores the images of icons that are named again: apps may show them, or they may be orphaned.
    ///
    /// - Parameters:
    ///   - added: The icons.
    ///   - kept: What apps of a list kept until now, beside what apps keep.
    ///   - now: The present time.
    mutating func returnImages(
        to added: Set<IconURL>, from kept: some Collection<PreviousImage> = [], now: Timestamp
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
                events.append(.iconReady(icon, bytes: bytes, generation: nil))
            }
            // What its server said of it is not known any more.
            catalog.updateIcon(icon) {
                $0.boxedImage = image
                $0.freshUntil = now
            }
            catalog.requestNaming(icon)
            unstored.note(icon: icon, at: now)
        }
    }

    /// Shows the previous images of apps that return to a list, as its documents on disk have them, the newest first.
    ///
    /// - Returns: Whether an app shows one again.
    /// - Complexity: O(*n* log *n*) in the number of the list's documents that show previous images; if an app has no image,
    ///   also O(*n*) in that of their entries, up to ``RetirementLedger/longestSearch``.
    @discardableResult
    mutating func showAgain(in name: ListName) -> Bool {
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
        emitKept(images.sorted { $0.key < $1.key }.map { (entries[$0.key].icon, $0.value.url) })
        return !images.isEmpty
    }

    /// Emits an event for each icon in whose place a previous image is shown, of its first one.
    private mutating func emitKept(_ shown: [(icon: IconURL, previous: IconURL)]) {
        var emitted: Set<IconURL> = []
        for (icon, previous) in shown where catalog.previous.has(icon) && emitted.insert(icon).inserted {
            events.append(.iconKept(icon, previous: previous))
        }
    }

    /// Shows damaged previous images again that another icon has brought back.
    mutating func showRecovered(_ images: Set<Digest>, now: Timestamp) {
        guard !images.isEmpty else { return }
        for list in retention.ledger.lists(showing: images) where showAgain(in: list) {
            publishing.noteChange(of: list, at: now)
        }
    }

    /// Has apps keep an image that was published when their lists had another URL for them already.
    ///
    /// - Parameters:
    ///   - heirs: The entries, by list, with the URL that each had.
    ///   - published: The URLs whose images are published.
    ///   - now: The present time.
    mutating func keepPublished(
        by heirs: [ListName: [Int: IconURL]], among published: Set<IconURL>, now: Timestamp
    ) {
        for (list, entries) in heirs {
            var kept: [Int: PreviousImage] = [:]
            var replaced: [PreviousImage] = []
            for (entry, url) in entries where published.contains(url) {
                guard let record = catalog.icons[url], record.hasImage else { continue }
                let last = catalog.previous.of(entry, in: list)
                kept[entry] = PreviousImage(url, record.boxedImage, since: last?.since ?? now.inWholeSeconds)
                if let last { replaced.append(last) }
            }
            guard !kept.isEmpty else { continue }
            catalog.setPrevious(kept, in: list)
            noteRetired(replaced)
            publishing.noteChange(of: list, at: now)
        }
    }

    /// Takes away what apps show in place of their icons, as far as it is one of these images; their icons are requested now.
    ///
    /// - Parameters:
    ///   - images: The images; `nil` for all.
    ///   - now: The present time.
    /// - Returns: The lists of these apps, and what is taken away.
    @discardableResult
    mutating func dropPrevious(_ images: Set<Digest>?, now: Timestamp) -> (lists: Set<ListName>, images: Set<Digest>) {
        var changed: Set<ListName> = []
        var dropped: Set<Digest> = []
        guard !catalog.previous.isEmpty else { return ([], []) }
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
                retention.noteDamage(of: image, shownBy: icon)
                catalog.recordDamagedPrevious(image.sha256)
            }
            catalog.removePrevious(of: list)
            catalog.setPrevious(kept, in: list)
            publishing.noteChange(of: list, at: now)
            for icon in icons {
                catalog.updateIcon(icon) { if $0.failure?.nextAttempt != nil { $0.failure?.nextAttempt = now } }
                consider(icon, now: now)
            }
        }
        return (changed, dropped)
    }
}
