// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

@testable import SyncPlan

/// A cache folder as sets of names, with what the publisher, the evictor and the start-up do to it.
struct SimulatedDisk {
    /// `generations/`; the newest one is also `manifest.json`.
    var generations: [Int: Manifest] = [:]
    /// `lists/`.
    var documents: [Digest: AppListDocument] = [:]
    /// `icons/`.
    var images: Set<Digest> = []
    /// `by-url/`: which image each name is a link to.
    var names: [IconURL: Digest] = [:]
    /// `staging/`.
    var staging: Set<String> = []
    /// The URLs of which the beginning is in `staging/`.
    var partials: Set<IconURL> = []
    /// Images that somebody else took away, and the generations that named them then.
    var damaged: [Int: Set<Digest>] = [:]
    /// How many bytes an app takes in a document, where documents are not written because they are large.
    ///
    /// Documents that are not written are not kept either: what they name is not checked.
    var bytesPerApp: Int?
    /// How many bytes of documents were written for each list, all together.
    private(set) var documentBytes: [ListName: Int] = [:]

    /// A file system with so many bytes free of a megabyte.
    static func space(free: Int) -> DiskSpace {
        DiskSpace(folder: "/cache", bytes: DiskSpace.Amount(free: free, total: 1 << 20))
    }

    var current: Manifest? { generations.keys.max().flatMap { generations[$0] } }

    /// Does what the publisher does if nothing fails.
    ///
    /// `lost` are images that went since it began. The agent cannot know that the new generation names them.
    ///
    /// - Throws: ``Violation`` if the publication asks for what cannot be done.
    mutating func publish(
        _ publication: Publication, afterLossOf lost: Set<Digest> = []
    ) throws(Violation) -> PublicationResult {
        // What is lost is noticed before anything is done.
        if let lost = publication.checks.first(where: { !images.contains($0.sha256) }) {
            return .refused(PublicationResult.Refusal(reason: "\(lost.path) is missing"))
        }
        var written = WrittenBytes()
        for staged in publication.moves {
            try expect(staging.remove(staged.name) != nil, "\(staged.name) is moved, and is not in staging/")
            images.insert(staged.image.sha256)
        }
        for staged in publication.discards {
            try expect(staging.remove(staged.name) != nil, "\(staged.name) is discarded, and is not in staging/")
            if images.insert(staged.image.sha256).inserted { written.replaced.insert(staged.image.sha256) }
        }
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        for document in publication.documents {
            let (digest, bytes) = write(document, publication.generation)
            if let bytes { written.documents[document.list] = bytes }
            documentBytes[document.list, default: 0] += bytes ?? 0
            manifest.lists[document.list] = Manifest.List(
                sha256: digest, apps: document.apps.count, ready: document.readyImages.count, pending: 0, failed: 0)
        }
        for name in manifest.lists.keys { manifest.lists[name]?.isPrivate = publication.isPrivate }
        for (url, path, _) in publication.links {
            guard let image = self.image(at: path) else {
                throw Violation("the by-url/ name of \(url) would be a link to a file that is not there")
            }
            names[url] = image
        }
        let newest = current?.generation ?? 0
        try expect(manifest.generation > newest, "generation \(manifest.generation) is published after \(newest)")
        generations[manifest.generation] = manifest
        let missing = lost.subtracting(images).intersection(images(of: manifest).map(\.sha256))
        if !missing.isEmpty { damaged[manifest.generation] = missing }
        return .published(manifest, written: written)
    }

    /// Writes a document of a generation; returns its digest, and its size unless it was there.
    private mutating func write(_ document: AppListDocument, _ generation: Int) -> (digest: Digest, bytes: Int?) {
        if let bytesPerApp { return (.of("\(generation) \(document.list)"), bytesPerApp * document.apps.count) }
        let text = document.json
        let digest = Digest.of(text)
        let isNew = documents.updateValue(document, forKey: digest) == nil
        return (digest, isNew ? text.utf8.count : nil)
    }

    /// The image at a path below `icons/`, if it is on disk.
    func image(at path: String) -> Digest? {
        guard let digest = Digest(hex: path.dropFirst("icons/ab/".count).prefix(64)) else { return nil }
        return images.contains(digest) ? digest : nil
    }

    /// Loses an image.
    mutating func lose(_ image: Digest) {
        images.remove(image)
        for (number, manifest) in generations where images(of: manifest).contains(where: { $0.sha256 == image }) {
            damaged[number, default: []].insert(image)
        }
    }

    /// Does what the publisher does if the folder refuses something, or the files of some images are missing.
    mutating func refuse(
        _ publication: Publication, lost: Set<String> = [], unplaced: Set<String> = [], unnamed: Set<IconURL> = []
    ) -> PublicationResult {
        staging.subtract(lost)
        return .refused(
            PublicationResult.Refusal(
                reason: "permission denied", lost: lost, unplaced: unplaced, unnamed: unnamed))
    }

    /// Does what the publisher does if a flush fails, or the disk is full.
    mutating func fail(_ publication: Publication, isFull: Bool = false) -> PublicationResult {
        staging.subtract((publication.moves + publication.discards).map(\.name))
        return .failed(reason: isFull ? "no space left on device" : "input/output error", isOutOfSpace: isFull)
    }

    /// Takes generations away that no reader holds, but for those that cannot be removed.
    mutating func release(
        _ releases: [GenerationRelease], leases: Set<Int>, failing: Set<Int> = []
    ) -> Reconciler.Event {
        let kept = releases.filter { leases.contains($0.generation) && !$0.ignoresLeases }.map(\.generation)
        let removed = releases.map(\.generation).filter { !kept.contains($0) && !failing.contains($0) }
        for number in removed { generations[number] = nil }
        return .released(ReleaseResult(removed: removed, kept: kept, failed: failing))
    }

    mutating func remove(_ plan: RetirementPlan) throws(Violation) {
        let plan = sparing(plan)
        try check(plan)
        for url in plan.urls { names[url] = nil }
        images.subtract(plan.images.map(\.sha256))
        for document in plan.documents { documents[document] = nil }
    }

    /// What is removed of a plan: what was found damaged is read once more, and is whole unless somebody took it away.
    private func sparing(_ plan: RetirementPlan) -> RetirementPlan {
        guard plan.isOfDamage else { return plan }
        let wrong = damaged.values.reduce(into: Set()) { $0.formUnion($1) }
        var plan = plan
        plan.images = plan.images.filter { wrong.contains($0.sha256) }
        plan.urls = plan.urls.filter { names[$0].map(wrong.contains) ?? true }
        return plan
    }

    /// What a generation names.
    func images(of manifest: Manifest) -> [AppListDocument.Image] {
        manifest.lists.values.flatMap { documents[$0.sha256]?.apps.flatMap(\.images) ?? [] }
    }

    /// The images that generations on disk name, by URL.
    var namedImages: [IconURL: Set<Digest>] {
        var named: [IconURL: Set<Digest>] = [:]
        for list in generations.values.flatMap(\.lists.values) {
            for app in documents[list.sha256]?.apps ?? [] {
                if case .ready(let image) = app.state { named[app.icon, default: []].insert(image.sha256) }
            }
        }
        return named
    }

    /// Fails if a plan would remove what a generation on disk names.
    func check(_ plan: RetirementPlan) throws(Violation) {
        let plan = sparing(plan)
        for manifest in generations.values {
            let kept = Set(images(of: manifest).map(\.sha256)).subtracting(damaged[manifest.generation] ?? [])
            for image in plan.images where kept.contains(image.sha256) {
                throw Violation("\(image.path) would be removed, and generation \(manifest.generation) names it")
            }
            for list in manifest.lists.values where plan.documents.contains(list.sha256) {
                throw Violation("\(list.document) would be removed, and generation \(manifest.generation) names it")
            }
        }
    }

    /// Fails if a generation names what is not on disk, or if `by-url/` is not as the newest generation has it.
    func check() throws(Violation) {
        guard bytesPerApp == nil else { return }
        for manifest in generations.values {
            let excused = damaged[manifest.generation] ?? []
            for list in manifest.lists.values where documents[list.sha256] == nil {
                throw Violation("generation \(manifest.generation) names \(list.document), which is not on disk")
            }
            for image in images(of: manifest) where !images.contains(image.sha256) && !excused.contains(image.sha256) {
                throw Violation("generation \(manifest.generation) names \(image.path), which is not on disk")
            }
        }
        guard let current, damaged[current.generation] == nil else { return }
        var shown = ShownImages()
        for (_, list) in current.lists.sorted(by: { $0.key < $1.key }) {
            if let document = documents[list.sha256] { shown.add(document) }
        }
        for (url, shown) in shown.byURL {
            // Where lists disagree on a previous image, and the document of one waits for room, the name may be ahead.
            let isCurrent = shown.isOwn ? names[url] == shown.image.sha256 : names[url].map(images.contains) == true
            let name = names[url]?.hex.prefix(8) ?? "missing"
            try expect(isCurrent, "the by-url/ name of \(url) is \(name), and \(shown.image.path) is shown")
        }
    }

    /// Does what the start-up does to a folder that an agent left in whatever state.
    mutating func restore() -> RestoredState {
        staging = []
        var state = RestoredState()
        state.manifests = generations.values.sorted { $0.generation < $1.generation }
        let named = Set(state.manifests.flatMap { $0.lists.values.map(\.sha256) })
        documents = documents.filter { named.contains($0.key) }
        state.documents = documents
        for manifest in state.manifests {
            let lost = Set(images(of: manifest).map(\.sha256)).subtracting(images)
            damaged[manifest.generation] = lost.isEmpty ? nil : lost
        }
        state.nextGeneration = (generations.keys.max() ?? 0) + 1
        state.partials = partials.sorted().compactMap { Sample.partial(of: $0) }
        return state
    }

    /// Looks at the folder: a complete look puts names right, finds what is lost and, at first, removes all else.
    mutating func inspect(_ expected: CacheExpectation) -> CacheInspection {
        var found = CacheInspection()
        found.lacksManifest = expected.generation.map { generations[$0] == nil } ?? false
        found.isSuspicious = found.lacksManifest
        guard let images = expected.images else { return found }
        if found.lacksManifest { found.lostDocuments = Set(expected.documents.keys) }
        for naming in images {
            if !self.images.contains(naming.image.sha256) {
                found.lostImages.insert(naming.image.sha256)
            } else if let url = naming.url {
                if names[url] != naming.image.sha256 { found.restoredNames += 1 }
                names[url] = naming.image.sha256
            }
        }
        if expected.removesOthers {
            self.images.formIntersection(images.map(\.image.sha256))
            let urls = Set(images.lazy.filter { !found.lostImages.contains($0.image.sha256) }.compactMap(\.url))
            names = names.filter { urls.contains($0.key) }
        }
        return found
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
        if !condition { throw Violation(message()) }
    }
}

/// A promise that was not kept.
struct Violation: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

extension AppListDocument {
    /// The images of its apps.
    var readyImages: [Image] {
        apps.compactMap { app in
            guard case .ready(let image) = app.state else { return nil }
            return image
        }
    }
}
