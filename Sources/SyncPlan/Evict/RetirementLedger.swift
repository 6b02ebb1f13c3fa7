// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// What every generation on disk names, so that nothing still named is removed.
///
/// Generations name documents; documents name images and URLs. A generation is released when its grace period is over
/// and no reader holds a lease on it; what only it named can be evicted then.
package struct RetirementLedger: Sendable {
    struct Document {
        /// How many lists of the current generation have it.
        fileprivate(set) var lists = 0
        /// The generation since which every one has named it; `nil` if the current one does not.
        fileprivate(set) var since: Int?
        /// Earlier ranges of generations that named it, the oldest first; some may be gone.
        fileprivate(set) var before: [ClosedRange<Int>] = []
        /// The URLs of its ready icons.
        let urls: SortedSet<IconURL>
        let images: SortedSet<Digest>
        let list: ListName
        /// The apps that show their last images.
        let apps: [App]

        var newest: Int { since == nil ? before.last?.upperBound ?? 0 : .max }

        /// The generations on disk that name it, the oldest first.
        func namers(among all: [Int]) -> some BidirectionalCollection<Int> {
            let ranges = before + (since.map { [$0...CacheLayout.generationNumbers.upperBound] } ?? [])
            return ranges.lazy.map { all.within($0) }.joined()
        }
    }

    struct Image: Keyed {
        let boxed: Boxed<AppListDocument.Image>
        var documents: Int32 = 0
        /// Whether its file is in `icons/` and intact.
        var isOnDisk = true

        var bytes: Int { boxed.wrappedValue?.bytes ?? 0 }
        var key: Digest? { boxed.digest }
    }

    /// How many documents have an image for a URL.
    struct Naming: Keyed {
        let url: IconURL
        var documents = 0

        var key: IconURL { url }
    }

    /// The oldest first.
    private(set) var superseded: [Int] = []
    package private(set) var supersessions: [Int: Timestamp] = [:]
    private(set) var current: Int?
    private var lists: [ListName: Manifest.List] = [:]
    private(set) var documents: [Digest: Document] = [:]
    private var showingLast: [ListName: Set<Digest>] = [:]
    /// The documents that the current generation does not name, by the newest one that does.
    private var leftovers: [Int: Set<Digest>] = [:]
    /// The documents of the current generation whose content is unknown.
    private var unknown: Set<Digest> = []
    /// The images that documents name, and those still to be removed; update the holdings with every change.
    private(set) var images = KeyedTable<Image>()
    private(set) var urls = KeyedTable<Naming>()
    var waived: Set<Int> = []
    private var unnamed = RetirementPlan()

    /// The number and total bytes of the images in `icons/`.
    package private(set) var holdings: (images: Int, bytes: Int) = (0, 0)

    package init() {}

    private mutating func count(_ image: Image?, _ sign: Int) {
        guard let image, image.isOnDisk else { return }
        holdings.images += sign
        // Documents written by others may contain any size, so this must not trap.
        holdings.bytes &+= sign &* image.bytes
    }

    private mutating func record(_ digest: Digest, isOnDisk: Bool) {
        guard let place = images.index(of: digest) else { return }
        count(images[place], -1)
        images.update(at: place) { $0.isOnDisk = isOnDisk }
        count(images[place], 1)
    }

    package func isOnDisk(_ image: Digest) -> Bool { images[image]?.isOnDisk ?? false }

    /// Whether an image is on disk and stays there, because a generation names it.
    func isKept(_ image: Digest) -> Bool { images[image].map { $0.isOnDisk && $0.documents > 0 } ?? false }

    /// Whether a generation names the image, or it is still in `icons/` since one did.
    func knows(_ image: Digest) -> Bool { images[image] != nil }

    /// The images that generations name and are in `icons/`.
    package var imagesOnDisk: [AppListDocument.Image] {
        images.lazy.filter { $0.isOnDisk && $0.documents > 0 }.compactMap(\.boxed.wrappedValue)
    }

    /// The shared box of an image that a document names.
    func boxed(_ image: Digest) -> Boxed<AppListDocument.Image>? { images[image]?.boxed }

    /// The shared box of an image, or a new one if documents describe it differently.
    func boxed(_ image: AppListDocument.Image) -> Boxed<AppListDocument.Image> {
        if let boxed = boxed(image.sha256), boxed.wrappedValue == image { boxed } else { Boxed(wrappedValue: image) }
    }

    package func names(_ url: IconURL, in document: Digest) -> Bool { documents[document]?.urls.contains(url) ?? false }

    /// The most entries of a list's documents that are searched for a returning app.
    static let longestSearch = 200_000

    /// The apps that show their last images in each document of a list, the newest document first.
    ///
    /// Stops after ``longestSearch`` apps. O(*n* log *n*) in the number of such documents of the list.
    func appsShowingLast(of list: ListName) -> [[App]] {
        var rest = Self.longestSearch
        return documentsShowingLast(of: list).sorted { $0.newest > $1.newest }
            .prefix { document in
                defer { rest -= document.apps.count }
                return rest > 0
            }
            .map(\.apps)
    }

    /// The lists with a document that shows one of these images as an app's last one; O(*n*) in the number of such
    /// apps.
    func lists(showingLast images: Set<Digest>) -> [ListName] {
        showingLast.keys.filter { list in
            documentsShowingLast(of: list).contains { document in
                document.apps.contains { $0.last?.image.digest.map(images.contains) ?? false }
            }
        }
    }

    private func documentsShowingLast(of list: ListName) -> [Document] {
        (showingLast[list] ?? []).compactMap { documents[$0] }
    }

    /// Whether no document names the image, which is still to be evicted.
    private func isUnnamed(_ image: Digest) -> Bool { images[image]?.documents == 0 }

    /// Whether no document names the URL, whose `by-url/` name is still to be removed.
    private func isUnnamed(_ url: IconURL) -> Bool { urls[url]?.documents == 0 }

    package mutating func recordMissing(_ digests: some Sequence<Digest>) {
        for digest in digests { record(digest, isOnDisk: false) }
    }

    /// Records a durable generation, which supersedes the current one.
    ///
    /// An image that no document named before is assumed to be on disk. `newDocuments` are those that no generation
    /// before named, `moved` the images that it moved to `icons/`.
    package mutating func publish(
        _ manifest: Manifest, newDocuments: [Digest: AppListDocument], moved: some Sequence<Digest> = [],
        at now: Timestamp
    ) {
        for digest in moved { record(digest, isOnDisk: true) }
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
                add(document, digest)
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
        unnamed.documents = unnamed.documents.filter { documents[$0] == nil }
    }

    private mutating func recordNaming(of digest: Digest, by generation: Int, after last: Int?) {
        guard let document = documents[digest], (document.lists > 0) != (document.since != nil) else { return }
        if let since = document.since, let last {
            documents[digest]?.before = document.before.filter { !superseded.within($0).isEmpty } + [since...last]
            documents[digest]?.since = nil
            leftovers[last, default: []].insert(digest)
        } else {
            if let newest = document.namers(among: superseded).last { leftovers[newest]?.remove(digest) }
            documents[digest]?.since = generation
        }
    }

    private mutating func record(_ image: AppListDocument.Image) {
        guard images.index(of: image.sha256) == nil else { return }
        let new = Image(boxed: Boxed(wrappedValue: image))
        images.update(image.sha256, default: new) { _ in }
        count(new, 1)
    }

    private mutating func add(_ value: AppListDocument, _ digest: Digest) {
        var ready: (urls: [IconURL], images: [Digest]) = ([], [])
        ready.urls.reserveCapacity(value.apps.count)
        ready.images.reserveCapacity(value.apps.count)
        var apps: [App] = []
        // Iterate by index: copying an entry costs more than the rest.
        for index in value.apps.indices {
            guard case .ready(let image) = value.apps[index].state else { continue }
            ready.urls.append(value.apps[index].icon)
            ready.images.append(image.sha256)
            record(image)
            if case .some(_, let renditions) = value.apps[index].rest {
                for rendition in renditions {
                    ready.images.append(rendition.image.sha256)
                    record(rendition.image)
                }
            }
            guard case .some(let last?, _) = value.apps[index].rest else { continue }
            let shown = App.LastImage(url: last.icon, image: boxed(image), since: last.since)
            apps.append(App(entry: AppEntry(value.apps[index]), last: shown))
        }
        let document = Document(
            urls: SortedSet(ready.urls), images: SortedSet(ready.images), list: value.list, apps: apps)
        for digest in document.images { images.update(digest) { $0.documents += 1 } }
        for url in document.urls { urls.update(url, default: Naming(url: url)) { $0.documents += 1 } }
        documents[digest] = document
        if !apps.isEmpty { showingLast[document.list, default: []].insert(digest) }
    }

    /// Restores when generations were superseded, as recorded by an earlier run.
    mutating func setSupersessions(_ times: [Int: Timestamp], default now: Timestamp) {
        for number in superseded { supersessions[number] = min(times[number] ?? now, now) }
    }

    /// Extends grace periods and leases by a sleep of the system, during which no reader runs.
    package mutating func recordSleep(_ time: Duration) {
        supersessions = supersessions.mapValues { $0 + time }
    }

    /// Releases a generation whose file is gone.
    package mutating func release(_ number: Int) {
        precondition(number != current, "the current generation is not released")
        guard supersessions.removeValue(forKey: number) != nil else { return }
        superseded.removeAll { $0 == number }
        waived.remove(number)
        for digest in leftovers.removeValue(forKey: number) ?? [] {
            guard let document = documents[digest] else { continue }
            if let newest = document.namers(among: superseded).last {
                leftovers[newest, default: []].insert(digest)
            } else {
                documents[digest] = nil
                showingLast[document.list]?.remove(digest)
                if showingLast[document.list]?.isEmpty == true { showingLast[document.list] = nil }
                forget(document, digest)
            }
        }
    }

    private mutating func forget(_ document: Document, _ digest: Digest) {
        unnamed.documents.insert(digest)
        unnamed.affected.formUnion(document.urls)
        for digest in document.images {
            images.update(digest) { $0.documents -= 1 }
            guard let known = images[digest], known.documents == 0, let image = known.boxed.wrappedValue else {
                continue
            }
            unnamed.images.insert(.init(sha256: digest, path: image.path))
        }
        for url in document.urls {
            urls.update(url) { $0.documents -= 1 }
            if isUnnamed(url) { unnamed.urls.insert(url) }
        }
    }

    /// What can be removed now: named by no generation on disk, and not needed for the next one.
    package func removable(in catalog: Catalog) -> RetirementPlan {
        RetirementPlan(
            documents: unnamed.documents,
            images: unnamed.images.filter { isUnnamed($0.sha256) && !catalog.needs($0.sha256) },
            urls: unnamed.urls.filter { isUnnamed($0) && !catalog.needs(url: $0) },
            affected: unnamed.affected)
    }

    package func hasRemovable(in catalog: Catalog) -> Bool {
        !unnamed.documents.isEmpty
            || unnamed.images.contains { isUnnamed($0.sha256) && !catalog.needs($0.sha256) }
            || unnamed.urls.contains { isUnnamed($0) && !catalog.needs(url: $0) }
    }

    package mutating func remove(_ plan: RetirementPlan) {
        for image in plan.images where isUnnamed(image.sha256) { count(images.remove(image.sha256), -1) }
        for url in plan.urls where isUnnamed(url) { urls.remove(url) }
        unnamed.documents.subtract(plan.documents)
        unnamed.images = unnamed.images.filter { isUnnamed($0.sha256) }
        unnamed.urls = unnamed.urls.filter { isUnnamed($0) }
        if unnamed.images.isEmpty, unnamed.urls.isEmpty { unnamed.affected = [] }
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
