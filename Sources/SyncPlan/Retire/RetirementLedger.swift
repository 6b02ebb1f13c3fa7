// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// What every generation on disk names, so that nothing is removed that one of them still does.
///
/// Generations name documents, documents name images and URLs. A generation is released when its grace is over and no reader
/// holds a lease on it; what it alone named can go then.
package struct RetirementLedger: Sendable {
    private struct Generation {
        var documents: [Digest]
        /// When a newer one was published; `nil` for the current one.
        var superseded: Timestamp?
    }

    fileprivate struct Document {
        /// Those on disk that name it, the oldest first.
        var generations: [Int] = []
        var images: [Digest: AppListDocument.Image] = [:]
        var urls: Set<String> = []
    }

    private struct Image {
        var bytes: Int
        var documents = 0
    }

    private var generations: [Int: Generation] = [:]
    /// The superseded generations, the oldest first.
    private var superseded: [Int] = []
    private var documents: [Digest: Document] = [:]
    private var images: [Digest: Image] = [:]
    /// How many bytes they have together.
    private var imageBytes = 0
    private var urls: [String: Int] = [:]
    private var current: Int?
    /// The newest generation whose grace was ended by hand.
    private var waivedThrough: Int?
    /// Images that a generation names, and that were not found in `icons/` at the start.
    private var missing: Set<Digest>
    /// What no document names any more.
    private var unnamed = RetirementPlan()

    /// - Parameter missing: Images that are not on disk although a generation names them.
    package init(missing: Set<Digest> = []) {
        self.missing = missing
    }

    /// Whether the image is in `icons/`.
    package func isOnDisk(_ image: Digest) -> Bool { images[image] != nil && !missing.contains(image) }

    /// The images that generations name and are in `icons/`.
    package var imagesOnDisk: Set<AppListDocument.Image> {
        var found: Set<AppListDocument.Image> = []
        for document in documents.values {
            found.formUnion(document.images.lazy.filter { !missing.contains($0.key) }.map(\.value))
        }
        return found
    }

    /// Notes images that are not on disk any more, or not as they should be.
    package mutating func noteMissing(_ digests: some Sequence<Digest>) {
        missing.formUnion(digests)
    }

    /// Whether a document has an image for a URL.
    package func names(_ url: String, in document: Digest) -> Bool { documents[document]?.urls.contains(url) ?? false }

    /// How many images generations name and are in `icons/`.
    package var imageCount: Int { images.count - missing.count }

    /// How many images are in `icons/`, and how many bytes they have together.
    package var holdings: (images: Int, bytes: Int) { (images.count, imageBytes) }

    /// Notes a generation that became durable; the current one, if there is one, is superseded by it now.
    ///
    /// - Parameters:
    ///   - manifest: The manifest of the generation.
    ///   - newDocuments: The documents that no generation before named.
    ///   - moved: The images that came to `icons/` with it.
    ///   - now: The present time.
    package mutating func publish(
        _ manifest: Manifest, newDocuments: [Digest: AppListDocument], moved: some Sequence<Digest> = [],
        at now: Timestamp
    ) {
        missing.subtract(moved)
        if let current {
            generations[current]?.superseded = now
            superseded.append(current)
        }
        current = manifest.generation
        generations[manifest.generation] = Generation(documents: manifest.lists.values.map(\.sha256))
        for list in manifest.lists.values {
            if documents[list.sha256] == nil, let document = newDocuments[list.sha256] { add(document, list.sha256) }
            documents[list.sha256]?.generations.append(manifest.generation)
        }
        unnamed.documents = unnamed.documents.filter { documents[$0] == nil }
    }

    private mutating func add(_ value: AppListDocument, _ digest: Digest) {
        var document = Document()
        for app in value.apps {
            guard case .ready(let image) = app.state else { continue }
            document.urls.insert(app.icon)
            document.images[image.sha256] = image
        }
        for (digest, image) in document.images {
            if images[digest] == nil { imageBytes += image.bytes }
            images[digest, default: Image(bytes: image.bytes)].documents += 1
        }
        for url in document.urls { urls[url, default: 0] += 1 }
        documents[digest] = document
    }

    /// When each superseded generation was.
    package var supersessions: [Int: Timestamp] {
        generations.compactMapValues(\.superseded)
    }

    /// Ends the grace of all generations that are superseded by now.
    package mutating func waiveGrace() {
        waivedThrough = superseded.last
    }

    /// The superseded generations whose grace is over, and that of leases on them where it is.
    ///
    /// - Parameters:
    ///   - rule: How long they are kept.
    ///   - now: The present time.
    /// - Returns: The oldest first.
    package func expired(under rule: RetentionRule, now: Timestamp) -> [GenerationRelease] {
        kept(under: rule).prefix { endOfGrace(of: $0, rule.grace).map { $0 <= now } ?? false }.map { number in
            let isOverdue = generations[number]?.superseded.map { $0 + max(rule.grace, rule.leaseMax) <= now } ?? false
            return GenerationRelease(generation: number, ignoresLeases: isOverdue)
        }
    }

    /// The superseded generations that only their grace keeps, the oldest first.
    private func kept(under rule: RetentionRule) -> ArraySlice<Int> {
        guard let held = rule.heldThrough else { return superseded[...] }
        return superseded.drop { $0 <= held }
    }

    private func endOfGrace(of number: Int, _ grace: Duration) -> Timestamp? {
        guard let time = generations[number]?.superseded else { return nil }
        return number <= waivedThrough ?? .min ? time : time + grace
    }

    /// When the next grace is over; `nil` if there is none.
    package func nextExpiry(under rule: RetentionRule) -> Timestamp? {
        kept(under: rule).first.flatMap { endOfGrace(of: $0, rule.grace) }
    }

    /// Which URLs the generations on disk name.
    package var namings: Namings { Namings(documents: documents, current: current) }

    /// When the grace of each superseded generation is over.
    package func expiries(grace: Duration) -> [Int: Timestamp] {
        var ends: [Int: Timestamp] = [:]
        for number in superseded { ends[number] = endOfGrace(of: number, grace) }
        return ends
    }

    /// Notes that a generation's file is gone: what it alone named is named by none.
    package mutating func release(_ number: Int) {
        precondition(number != current, "the current generation is not released")
        guard let generation = generations.removeValue(forKey: number) else { return }
        superseded.removeAll { $0 == number }
        for digest in generation.documents {
            guard var document = documents.removeValue(forKey: digest) else { continue }
            document.generations.removeAll { $0 == number }
            guard document.generations.isEmpty else {
                documents[digest] = document
                continue
            }
            unnamed.documents.insert(digest)
            unnamed.affected.formUnion(document.urls)
            for (digest, image) in document.images {
                images[digest]?.documents -= 1
                if images[digest]?.documents == 0 { unnamed.images.insert(.init(sha256: digest, path: image.path)) }
            }
            for url in document.urls {
                urls[url]? -= 1
                if urls[url] == 0 { unnamed.urls.insert(url) }
            }
        }
    }

    /// What can be removed now: named by no generation on disk, and not needed for the next one.
    package func removable(in catalog: Catalog) -> RetirementPlan {
        RetirementPlan(
            documents: unnamed.documents,
            images: unnamed.images.filter { images[$0.sha256]?.documents == 0 && !catalog.needs($0.sha256) },
            urls: unnamed.urls.filter { urls[$0] == 0 && !catalog.needs(url: $0) },
            affected: unnamed.affected)
    }

    /// Whether anything can be removed now.
    package func hasRemovable(in catalog: Catalog) -> Bool {
        !unnamed.documents.isEmpty
            || unnamed.images.contains { images[$0.sha256]?.documents == 0 && !catalog.needs($0.sha256) }
            || unnamed.urls.contains { urls[$0] == 0 && !catalog.needs(url: $0) }
    }

    /// Notes that what a plan named is gone.
    package mutating func remove(_ plan: RetirementPlan) {
        for image in plan.images where images[image.sha256]?.documents == 0 {
            imageBytes -= images.removeValue(forKey: image.sha256)?.bytes ?? 0
        }
        for url in plan.urls where urls[url] == 0 { urls[url] = nil }
        unnamed.documents.subtract(plan.documents)
        unnamed.images = unnamed.images.filter { images[$0.sha256]?.documents == 0 }
        unnamed.urls = unnamed.urls.filter { urls[$0] == 0 }
        if unnamed.images.isEmpty { unnamed.affected = [] }
    }
}

extension RetirementLedger {
    /// Which URLs the generations on disk name, as they did at one moment.
    package struct Namings: Sendable {
        fileprivate let documents: [Digest: Document]
        fileprivate let current: Int?

        /// The newest superseded generation on disk that names each of these URLs; none for those that none names.
        ///
        /// - Complexity: O(*n*) in the number of documents on disk, and in that of their URLs at most.
        package func newest(naming urls: some Collection<String>) -> [String: Int] {
            let superseded = documents.values.compactMap { document in
                document.generations.last { $0 != current }.map { (number: $0, urls: document.urls) }
            }
            var found: [String: Int] = [:]
            var rest = Set(urls)
            for (number, named) in superseded.sorted(by: { $0.number > $1.number }) where !rest.isEmpty {
                for url in rest.intersection(named) {
                    found[url] = number
                    rest.remove(url)
                }
            }
            return found
        }
    }
}

/// How long superseded generations are kept.
package struct RetentionRule: Equatable, Sendable {
    /// How long after it was superseded.
    package var grace: Duration
    /// How long a lease keeps it after that moment.
    package var leaseMax: Duration
    /// The newest generation that is kept because the eviction of what it names is held; `nil` if none is.
    package var heldThrough: Int?

    package init(grace: Duration, leaseMax: Duration, heldThrough: Int? = nil) {
        self.grace = grace
        self.leaseMax = leaseMax
        self.heldThrough = heldThrough
    }
}

/// A superseded generation whose grace is over.
package struct GenerationRelease: Hashable, Sendable {
    package var generation: Int
    /// Whether it goes although a reader may hold a lease on it: no lease is that old.
    package var ignoresLeases = false

    package init(generation: Int, ignoresLeases: Bool = false) {
        self.generation = generation
        self.ignoresLeases = ignoresLeases
    }
}

/// What is named by no generation on disk, and can be removed.
package struct RetirementPlan: Equatable, Sendable {
    package struct Image: Hashable, Sendable {
        package var sha256: Digest
        package var path: String
    }

    package var documents: Set<Digest> = []
    package var images: Set<Image> = []
    /// URLs whose `by-url/` names go.
    package var urls: Set<String> = []
    /// All URLs of the documents that no generation names any more.
    package var affected: Set<String> = []

    package var isEmpty: Bool { documents.isEmpty && images.isEmpty && urls.isEmpty }
}
