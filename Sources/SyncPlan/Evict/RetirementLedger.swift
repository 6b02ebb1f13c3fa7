// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The documents, images and URLs that each generation on disk names, so that none of them is removed.
///
/// Generations name documents; documents name images and URLs. A generation is released when its grace period is over
/// and no reader holds a lease on it; what only it named can be evicted then.
struct RetirementLedger: Sendable {
    struct Document {
        /// How many lists of the current generation have the document.
        fileprivate(set) var lists = 0
        /// The first of the consecutive generations up to the current one that name the document; `nil` if the current
        /// one does not.
        fileprivate(set) var since: Int?
        /// Earlier ranges of generations that named the document, the oldest first; some may be gone.
        fileprivate(set) var before: [ClosedRange<Int>] = []
        /// The document's ready icons.
        let icons: SortedSet<IconID>
        /// Those of ``icons`` in place of which apps show their last images.
        let replaced: SortedSet<IconID>
        let images: SortedSet<ImageID>
        /// Those of ``images`` that are renditions.
        let renditions: SortedSet<ImageID>
        let list: ListName
        /// The apps that show their last images.
        let apps: [App]

        var newest: Int { since == nil ? before.last?.upperBound ?? 0 : .max }

        private var ranges: [ClosedRange<Int>] {
            before + (since.map { [$0...CacheLayout.generationNumbers.upperBound] } ?? [])
        }

        /// The generations on disk that name the document, the oldest first.
        func namers(among all: [Int]) -> some BidirectionalCollection<Int> {
            ranges.lazy.map { all.within($0) }.joined()
        }

        /// Whether some generations on disk name the document.
        func isNamed(by generations: ClosedRange<Int>, among all: [Int]) -> Bool {
            ranges.contains { $0.overlaps(generations) && !all.within($0.clamped(to: generations)).isEmpty }
        }
    }

    /// The generations on disk, the oldest first.
    private(set) var superseded: [Int] = []
    private(set) var supersessions: [Int: Timestamp] = [:]
    private(set) var current: Int?
    /// The newest generation that a purge superseded; `nil` if neither it nor an older one is left.
    ///
    /// Readers may hold leases on them, which keep their files; but no icon or app gets an image back from them. It is a
    /// later one if that still named documents of purged ones.
    var purged: Int?
    /// The documents of the current generation that a purge has not replaced yet, for example for lack of room.
    private(set) var purgedDocuments: Set<Digest> = []
    private var lists: [ListName: Manifest.List] = [:]
    private(set) var documents: [Digest: Document] = [:]
    private var showingLast: [ListName: Set<Digest>] = [:]
    /// The documents that the current generation does not name, by the newest one that does.
    private var leftovers: [Int: Set<Digest>] = [:]
    /// The documents of the current generation whose content is unknown.
    private var unknown: Set<Digest> = []
    var waived: Set<Int> = []
    /// The documents that no generation names any more, still to be removed.
    private var unnamedDocuments: Set<Digest> = []
    /// The icons that no document has an image for any more, whose `by-url/` names are still to be removed; documents
    /// may have one again.
    private(set) var unnamedIcons: Set<IconID> = []

    /// The lists of ``purgedDocuments``.
    var purgedLists: Set<ListName> { Set(purgedDocuments.lazy.compactMap { documents[$0]?.list }) }
    /// Whether a document of purged generations has images.
    var hasPurgedImages: Bool { documents.values.contains { $0.newest <= purged ?? 0 && !$0.images.isEmpty } }

    func names(_ icon: IconID, in document: Digest) -> Bool { documents[document]?.icons.contains(icon) ?? false }

    /// Whether a document shows an icon's own image.
    func hasOwnImage(of icon: IconID, in document: Digest) -> Bool {
        documents[document].map { $0.icons.contains(icon) && !$0.replaced.contains(icon) } ?? false
    }

    /// The most entries of a list's documents that are searched for a returning app.
    static let longestSearch = 200_000

    /// The apps that show their last images in each document of a list, the newest document first; purged generations
    /// do not count.
    ///
    /// Stops after ``longestSearch`` apps. O(*n* log *n*) in the number of such documents of the list.
    func appsShowingLast(of list: ListName) -> [[App]] {
        var rest = Self.longestSearch
        return documentsShowingLast(of: list)
            .filter { min($0.newest, current ?? 0) > purged ?? 0 }.sorted { $0.newest > $1.newest }
            .prefix { document in
                defer { rest -= document.apps.count }
                return rest > 0
            }
            .map(\.apps)
    }

    /// The lists with a document that shows one of these images as an app's last one; O(*n*) in the number of such
    /// apps.
    func lists(showingLast images: Set<ImageID>) -> [ListName] {
        showingLast.keys.filter { list in
            documentsShowingLast(of: list).contains { document in
                document.apps.contains { images.contains($0.last.image) }
            }
        }
    }

    private func documentsShowingLast(of list: ListName) -> [Document] {
        (showingLast[list] ?? []).subtracting(purgedDocuments).compactMap { documents[$0] }
    }

    /// Records a durable generation, which supersedes the current one.
    ///
    /// An image that no document named before is assumed to be on disk. `newDocuments` are those that no generation
    /// before named, `moved` the images that it moved to `icons/`.
    mutating func publish(
        _ manifest: Manifest, newDocuments: [Digest: AppListDocument], moved: some Sequence<Digest> = [],
        in catalog: inout Catalog, at now: Timestamp
    ) {
        catalog.images.record(moved, areWhole: true)
        let last = current
        if let last {
            supersessions[last] = now
            superseded.append(last)
        }
        current = manifest.generation
        // Process only changed documents: their cost is paid when they come and go.
        var changed: Set<Digest> = []
        for (name, list) in manifest.lists {
            let digest = list.sha256
            if lists[name]?.sha256 == digest, !unknown.contains(digest) { continue }
            if documents[digest] == nil {
                guard let document = newDocuments[digest] else {
                    unknown.insert(digest)
                    continue
                }
                add(document, digest, to: &catalog)
            }
            documents[digest]?.lists += 1
            changed.insert(digest)
        }
        for (name, list) in lists where manifest.lists[name]?.sha256 != list.sha256 {
            documents[list.sha256]?.lists -= 1
            changed.insert(list.sha256)
        }
        lists = manifest.lists
        unknown.subtract(changed)
        for digest in changed { recordNaming(of: digest, by: manifest.generation, after: last) }
        unnamedDocuments = unnamedDocuments.filter { documents[$0] == nil }
    }

    private mutating func recordNaming(of digest: Digest, by generation: Int, after last: Int?) {
        guard let document = documents[digest], (document.lists > 0) != (document.since != nil) else { return }
        if let since = document.since, let last {
            documents[digest]?.before = document.before.filter { !superseded.within($0).isEmpty } + [since...last]
            documents[digest]?.since = nil
            leftovers[last, default: []].insert(digest)
            if purgedDocuments.remove(digest) != nil { purged = max(purged ?? last, last) }
        } else {
            if let newest = document.namers(among: superseded).last { leftovers[newest]?.remove(digest) }
            documents[digest]?.since = generation
            if generation <= purged ?? 0, !document.images.isEmpty { purgedDocuments.insert(digest) }
        }
    }

    /// Records a purge of all generations up to this one, which may still be in flight.
    mutating func purge(through generation: Int) {
        purged = generation
        purgedDocuments = Set(documents.lazy.filter { $1.since != nil && !$1.images.isEmpty }.map(\.key))
    }

    /// Counts a purge as published, except for lists whose documents wait for room.
    mutating func endPurge(waiting lists: Set<ListName>) {
        purgedDocuments = purgedDocuments.filter { documents[$0].map { lists.contains($0.list) } ?? false }
    }

    private mutating func add(_ value: AppListDocument, _ digest: Digest, to catalog: inout Catalog) {
        var ready: (icons: [IconID], images: [ImageID]) = ([], [])
        var replaced: [IconID] = []
        ready.icons.reserveCapacity(value.apps.count)
        ready.images.reserveCapacity(value.apps.count)
        var apps: [App] = []
        var made: [ImageID] = []
        // Usually, the list still names the same icons.
        let listed = catalog.lists[value.list].flatMap { $0.icons.count == value.apps.count ? $0.icons : nil }
        // Iterate by index: copying an entry costs more than the rest.
        for index in value.apps.indices {
            guard case .ready(let image) = value.apps[index].state else { continue }
            let icon = catalog.icons.id(naming: value.apps[index].icon, likely: listed?[index])
            ready.icons.append(icon)
            let id = catalog.images.id(of: image, likely: catalog.icons[icon].icon.shownImage)
            ready.images.append(id)
            guard case .some(let last, let renditions) = value.apps[index].rest else { continue }
            for rendition in renditions { made.append(catalog.images.id(of: rendition.image)) }
            guard let last else { continue }
            replaced.append(icon)
            let shown = App.LastImage(url: last.icon, image: id, since: last.since)
            apps.append(App(entry: AppEntry(value.apps[index]), last: shown))
        }
        ready.images += made
        let document = Document(
            icons: SortedSet(ready.icons), replaced: SortedSet(replaced), images: SortedSet(ready.images),
            renditions: SortedSet(made), list: value.list, apps: apps)
        for image in document.images { catalog.images.name(image) }
        for icon in document.icons { catalog.icons.name(icon) }
        documents[digest] = document
        if !apps.isEmpty { showingLast[document.list, default: []].insert(digest) }
    }

    /// Restores when generations were superseded, as recorded by an earlier run.
    mutating func setSupersessions(_ times: [Int: Timestamp], default now: Timestamp) {
        for number in superseded { supersessions[number] = min(times[number] ?? now, now) }
    }

    /// Extends grace periods and leases by a sleep of the system, during which no reader runs.
    mutating func recordSleep(_ time: Duration) {
        supersessions = supersessions.mapValues { $0 + time }
    }

    /// Extends the grace of some superseded generations, at most to one that begins now.
    mutating func extendGrace(of generations: ClosedRange<Int>, by time: Duration, at now: Timestamp) {
        for number in superseded.within(generations) {
            supersessions[number] = supersessions[number].map { min($0 + time, now) }
        }
    }

    /// Releases a generation whose file is gone.
    mutating func release(_ number: Int, in catalog: inout Catalog) {
        precondition(number != current, "the current generation is not released")
        guard supersessions.removeValue(forKey: number) != nil else { return }
        superseded.removeAll { $0 == number }
        if let purged, purgedDocuments.isEmpty, let oldest = superseded.first ?? current, oldest > purged {
            self.purged = nil
        }
        waived.remove(number)
        for digest in leftovers.removeValue(forKey: number) ?? [] {
            guard let document = documents[digest] else { continue }
            if let newest = document.namers(among: superseded).last {
                leftovers[newest, default: []].insert(digest)
            } else {
                documents[digest] = nil
                showingLast[document.list]?.remove(digest)
                if showingLast[document.list]?.isEmpty == true { showingLast[document.list] = nil }
                forget(document, digest, in: &catalog)
            }
        }
    }

    private mutating func forget(_ document: Document, _ digest: Digest, in catalog: inout Catalog) {
        unnamedDocuments.insert(digest)
        for image in document.images { catalog.images.forgetNaming(of: image) }
        for icon in document.icons where catalog.icons.forgetNaming(of: icon) { unnamedIcons.insert(icon) }
    }

    /// What can be removed now: named by no generation on disk, and not needed for the next one.
    func removable(in catalog: Catalog) -> RetirementPlan {
        RetirementPlan(
            documents: unnamedDocuments, images: Set(catalog.images.removable),
            urls: Set(removableIcons(in: catalog).map { catalog.icons.url(of: $0) }))
    }

    private func removableIcons(in catalog: Catalog) -> some Sequence<IconID> {
        unnamedIcons.lazy.filter { catalog.icons[$0].documents == 0 && !catalog.needsName(of: $0) }
    }

    func hasRemovable(in catalog: Catalog) -> Bool {
        !unnamedDocuments.isEmpty
            || !catalog.images.removable.isEmpty
            || removableIcons(in: catalog).contains { _ in true }
    }

    mutating func remove(_ plan: RetirementPlan, from catalog: inout Catalog) {
        for image in plan.images { catalog.images.evict(image.sha256) }
        unnamedDocuments.subtract(plan.documents)
        for icon in unnamedIcons {
            let isNamed = catalog.icons[icon].documents > 0
            guard isNamed || plan.urls.contains(catalog.icons.url(of: icon)) else { continue }
            unnamedIcons.remove(icon)
            if !isNamed { catalog.icons.forgetName(of: icon) }
        }
        // An emptied set would keep its memory.
        if unnamedIcons.isEmpty { unnamedIcons = [] }
    }
}

extension [Int] {
    /// The elements in a range of an ascending array.
    func within(_ range: ClosedRange<Int>) -> ArraySlice<Int> {
        let low = partitioningIndex { $0 >= range.lowerBound }
        let high = partitioningIndex { $0 > range.upperBound }
        return self[low..<Swift.max(low, high)]
    }
}
