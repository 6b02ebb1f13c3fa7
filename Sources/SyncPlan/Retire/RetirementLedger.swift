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

    private struct Document {
        var generations = 0
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
    private var urls: [String: Int] = [:]
    private var current: Int?
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

    /// How many images are in `icons/`, and how many bytes they have together.
    package var holdings: (images: Int, bytes: Int) { (images.count, images.values.reduce(0) { $0 + $1.bytes }) }

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
            documents[list.sha256]?.generations += 1
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
        for (digest, image) in document.images { images[digest, default: Image(bytes: image.bytes)].documents += 1 }
        for url in document.urls { urls[url, default: 0] += 1 }
        documents[digest] = document
    }

    /// The superseded generations whose grace is over.
    package func expired(grace: Duration, now: Timestamp) -> [Int] {
        Array(superseded.prefix { isExpired($0, grace, now) })
    }

    private func isExpired(_ number: Int, _ grace: Duration, _ now: Timestamp) -> Bool {
        guard let time = generations[number]?.superseded else { return false }
        return time + grace <= now
    }

    /// When the next grace is over; `nil` if only the current generation is there.
    package func nextExpiry(grace: Duration) -> Timestamp? {
        superseded.first.flatMap { generations[$0]?.superseded }.map { $0 + grace }
    }

    /// Notes that a generation's file is gone: what it alone named is named by none.
    package mutating func release(_ number: Int) {
        precondition(number != current, "the current generation is not released")
        guard let generation = generations.removeValue(forKey: number) else { return }
        superseded.removeAll { $0 == number }
        for digest in generation.documents {
            guard var document = documents.removeValue(forKey: digest) else { continue }
            document.generations -= 1
            guard document.generations == 0 else {
                documents[digest] = document
                continue
            }
            unnamed.documents.insert(digest)
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
            urls: unnamed.urls.filter { urls[$0] == 0 && !catalog.needs(url: $0) })
    }

    /// Notes that what a plan named is gone.
    package mutating func remove(_ plan: RetirementPlan) {
        for image in plan.images where images[image.sha256]?.documents == 0 { images[image.sha256] = nil }
        for url in plan.urls where urls[url] == 0 { urls[url] = nil }
        unnamed.documents.subtract(plan.documents)
        unnamed.images = unnamed.images.filter { images[$0.sha256]?.documents == 0 }
        unnamed.urls = unnamed.urls.filter { urls[$0] == 0 }
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

    package var isEmpty: Bool { documents.isEmpty && images.isEmpty && urls.isEmpty }
}
