// SPDX-License-Identifier: Apache-2.0
import IconCache

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
    /// How many documents a quick look looks at.
    private static let sample = 64

    /// Whether nothing is being done on disk that must not meet a publication or an eviction.
    var isStoreIdle: Bool {
        if case .underWay = cacheLook { return false }
        guard publishing == nil, case .idle = eviction else { return false }
        return true
    }

    /// Whether a quick look found something amiss, and it is not known yet what.
    var isCacheInDoubt: Bool { cacheLook == .due(isComplete: true) || cacheLook == .underWay(isComplete: true) }

    /// Whether no look at the cache folder is to come or under way that may find something missing.
    var isCacheKnown: Bool {
        switch cacheLook {
        case .current, .stale: true
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
        isCompleteLookDue = false
        cacheLook = .underWay(isComplete: isComplete)
        var documents = manifest?.lists.mapValues(\.sha256) ?? [:]
        if !isComplete, documents.count > Self.sample {
            // Another part each time.
            let start = Int.random(in: 0..<documents.count, using: &generator)
            let sample = documents.dropFirst(start).prefix(Self.sample)
            documents = Dictionary(uniqueKeysWithValues: sample.map { ($0.key, $0.value) })
        }
        actions.append(
            .inspect(
                CacheExpectation(
                    generation: manifest?.generation, documents: documents,
                    images: isComplete ? imagesOnDisk : nil)))
    }

    /// All images that are on disk, with the URLs that show them.
    ///
    /// - Complexity: O(*n*) in the number of icons and of entries in all documents on disk.
    private var imagesOnDisk: [AppListDocument.Image: Set<IconURL>] {
        var images: [AppListDocument.Image: Set<IconURL>] = [:]
        for image in ledger.imagesOnDisk { images[image] = [] }
        for (url, icon) in catalog.icons {
            if let image = icon.image { images[image, default: []].insert(url) }
        }
        return images
    }

    /// Has what is missing in the cache folder published again from memory, or fetched again.
    mutating func applyInspection(_ found: CacheInspection, now: Timestamp) {
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
        nextGeneration = max(nextGeneration, found.latestGeneration + 1)
        guard let summary = found.summary else { return }
        lastRepair = "\(now): \(summary)"
        for list in found.lostDocuments.sorted() where catalog.lists[list]?.source != nil {
            readmit(list)
            window.hurry(list)
            damagedLists.insert(list)
            markDirty(list, now: now)
        }
        if found.lacksManifest || !found.lostDocuments.isEmpty { window.noteChange(at: now) }
        noteDamage(found.lostImages, now: now)
        ledger.noteMissing(found.lostImages)
    }
}
