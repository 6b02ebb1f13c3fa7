// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// How current the knowledge of the cache folder is.
///
/// Whoever may write to it can empty it at any time, as cache cleaners do. So it is looked at after each look at the lists,
/// and before each publication: no manifest may name what is not there.
enum CacheLook: Equatable {
    /// Nothing was published since the last look.
    case current
    /// A look is needed before the next publication.
    case stale
    case due(isComplete: Bool)
    case underWay(isComplete: Bool)
}

extension Reconciler {
    /// How many documents a quick look looks at, and how many images.
    private static let sample = (documents: 64, images: 256)
    /// How many times fewer where a publication waits for the look.
    private static let haste = 8

    /// Whether nothing is being done on disk that must not meet a publication or an eviction.
    var isStoreIdle: Bool {
        if case .underWay = cacheLook { return false }
        guard publishing == nil, case .idle = eviction else { return false }
        return true
    }

    /// Whether a quick look found something amiss, and it is not known yet what; so it is too before the first look.
    var isCacheInDoubt: Bool {
        !isCacheSearched || cacheLook == .due(isComplete: true) || cacheLook == .underWay(isComplete: true)
    }

    /// Whether no look at the cache folder is to come or under way that may find something missing.
    var isCacheKnown: Bool {
        switch cacheLook {
        case .current, .stale: !isCompleteLookDue
        case .due, .underWay: false
        }
    }

    /// Whether the cache folder is to be looked at before anything else.
    func needsInspection(beforePublishing: Bool) -> Bool {
        switch cacheLook {
        case .due: true
        case .stale: beforePublishing
        case .current, .underWay: false
        }
    }

    /// Has the cache folder looked at as soon as nothing else is being done in it.
    mutating func suspectCache(isComplete: Bool) {
        switch cacheLook {
        case .current, .stale: cacheLook = .due(isComplete: isComplete)
        case .due(let wasComplete): cacheLook = .due(isComplete: isComplete || wasComplete)
        case .underWay(let isUnderWay): isCompleteLookDue = isCompleteLookDue || isComplete && !isUnderWay
        }
    }

    mutating func inspect(to actions: inout [Action]) {
        let isComplete = cacheLook == .due(isComplete: true) || isCompleteLookDue
        // Not before each publication: that looks at what it needs itself.
        let hasSample = cacheLook == .due(isComplete: false)
        isCompleteLookDue = false
        cacheLook = .underWay(isComplete: isComplete)
        let share = window.isEmpty ? 1 : Self.haste
        var documents: [ListName: Digest] = [:]
        let published = manifest?.lists ?? [:]
        if isComplete || published.count <= Self.sample.documents / share {
            documents = published.mapValues(\.sha256)
        } else {
            // Another part each time.
            let start = published.index(
                published.startIndex, offsetBy: Int.random(in: 0..<published.count, using: &generator))
            for (name, list) in published[start...].prefix(Self.sample.documents / share) {
                documents[name] = list.sha256
            }
        }
        actions.append(
            .inspect(
                CacheExpectation(
                    generation: manifest?.generation, documents: documents,
                    images: isComplete ? imagesOnDisk : nil,
                    sample: hasSample ? sampleOfImages(atMost: Self.sample.images / share) : [],
                    removesOthers: isComplete && !isCacheSearched, doubtful: doubtfulImages)))
    }

    /// Some images that lists show, others each time; all of them if they are few.
    ///
    /// - Complexity: O(*n*) in the number of lists and of images in the sample.
    private mutating func sampleOfImages(atMost limit: Int) -> [CacheExpectation.Naming] {
        let total = catalog.lists.values.reduce(0) { $0 + $1.entries.count }
        var chosen = Array(0..<min(total, limit))
        if total > limit {
            chosen = chosen.map { _ in Int.random(in: 0..<total, using: &generator) }.sorted()
        }
        var images: [CacheExpectation.Naming] = []
        // Where the entries of a list begin, if those of all lists are in one row.
        var start = 0
        var rest = chosen[...]
        for list in catalog.lists.values {
            while let next = rest.first, next < start + list.entries.count {
                rest.removeFirst()
                let url = list.entries[next - start].icon
                if let image = catalog.icons[url]?.image { images.append(.init(image: image, url: url)) }
            }
            start += list.entries.count
        }
        return images
    }

    /// All images that are on disk, with the URLs that show them.
    ///
    /// - Complexity: O(*n*) in the number of icons and of entries in all documents on disk.
    private var imagesOnDisk: [CacheExpectation.Naming] {
        var images: [CacheExpectation.Naming] = []
        images.reserveCapacity(catalog.icons.count)
        for element in catalog.icons {
            if let image = element.icon.image { images.append(.init(image: image, url: element.url)) }
        }
        for image in ledger.imagesOnDisk where !catalog.needs(image.sha256) {
            images.append(.init(image: image, url: nil))
        }
        return images
    }

    /// Has what is missing in the cache folder published again from memory, or fetched again.
    mutating func applyInspection(_ found: CacheInspection, now: Timestamp, to actions: inout [Action]) {
        guard case .underWay(let isComplete) = cacheLook else { preconditionFailure("nobody looked at the cache") }
        if let trouble = found.trouble {
            // The next publication comes after a delay, and is preceded by another look.
            cacheLook = .stale
            isCompleteLookDue = isCompleteLookDue || isComplete
            publicationFailure = trouble
            window.fail([], at: now)
            return
        }
        if found.isSuspicious || isCompleteLookDue, !isComplete {
            cacheLook = .due(isComplete: true)
            return
        }
        cacheLook = .current
        if isComplete { (isCacheSearched, doubtfulImages) = (true, []) }
        nextGeneration = max(nextGeneration, found.latestGeneration + 1)
        if let adopted = found.adopted {
            adopt(adopted, besides: found.lostImages, now: now)
            dropStaged(now: now, to: &actions)
        }
        guard let summary = found.summary else { return }
        lastRepair = "\(now): \(summary)"
        for list in found.lostDocuments { publishAnew(list, now: now) }
        if found.lacksManifest || !found.lostDocuments.isEmpty { window.noteChange(at: now) }
        noteDamage(found.lostImages, now: now)
        ledger.noteMissing(found.lostImages)
    }

    /// Has a list's document written next whatever it costs: what the manifest in the folder says of it is wrong.
    private mutating func publishAnew(_ list: ListName, now: Timestamp) {
        guard catalog.lists[list]?.source != nil else { return }
        readmit(list)
        window.hurry(list)
        damagedLists.insert(list)
        markDirty(list, now: now)
    }

    /// Takes up what another folder has that is at the path now, as a start does: its generations keep what they name.
    ///
    /// Icons without an image of this run have that of the newest of them, until they are fetched.
    private mutating func adopt(_ cache: AdoptedCache, besides lost: Set<Digest>, now: Timestamp) {
        unrememberedGenerations.formUnion(ledger.supersessions.keys)
        ledger = RetirementLedger()
        for manifest in cache.manifests { ledger.publish(manifest, newDocuments: cache.documents, at: now) }
        ledger.noteMissing(cache.missing)
        unrememberedGenerations.formUnion(ledger.supersessions.keys)
        rememberSoon(now: now)
        (unreleased, stuck, damaged, damagedURLs) = ([:], nil, [], [])
        manifest = cache.manifests.last
        for (name, list) in catalog.lists {
            let published = list.source == nil ? nil : manifest?.lists[name]
            catalog.updateList(name) { $0.published = published }
            if published != nil { rewrittenLists.insert(name) }
            publishAnew(name, now: now)
        }
        window.noteChange(at: now)
        noteDamage(lost, now: now)
        for (url, image) in cache.images where !lost.contains(image.sha256) { adopt(image, of: url, now: now) }
        // As after a start: what its generations name may not be there, and other files may.
        isCacheSearched = false
        suspectCache(isComplete: true)
    }

    /// Takes an image of another folder for that of an icon that has none, and asks whether there is a newer one.
    private mutating func adopt(_ image: AppListDocument.Image, of url: IconURL, now: Timestamp) {
        let icon = catalog.icons[url]
        guard icon?.image == nil, icon?.accepts(image.sha256) ?? true else { return }
        catalog.updateIcon(url) {
            $0.image = image
            $0.wasMissing = false
            $0.freshUntil = now
        }
        consider(url, now: now)
    }
}
