// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What must be in the cache folder, for a look at whether it is.
package struct CacheExpectation: Sendable {
    /// An image on disk, and a URL whose `by-url/` name is a link to it, if there is one.
    package struct Naming: Equatable, Sendable {
        package var image: AppListDocument.Image
        package var url: IconURL?

        package init(image: AppListDocument.Image, url: IconURL?) {
            self.image = image
            self.url = url
        }
    }

    /// The generation in force; `nil` before the first one.
    package var generation: Int?
    /// Documents of that generation, by list: all, or a sample of them.
    package var documents: [ListName: Digest]
    /// Every image on disk with each of its URLs, in no order; `nil` for a quick look.
    package var images: [Naming]?
    /// A few of them, for a quick look.
    package var sample: [Naming]
    /// Whether other files beside them are what a crash has left: so it is at the first look after a start.
    package var removesOthers: Bool
    /// The images that are read, and not only looked at.
    package var doubtful: Set<Digest>

    package init(
        generation: Int?, documents: [ListName: Digest], images: [Naming]? = nil, sample: [Naming] = [],
        removesOthers: Bool = false, doubtful: Set<Digest> = []
    ) {
        self.generation = generation
        self.documents = documents
        self.images = images
        self.sample = sample
        self.removesOthers = removesOthers
        self.doubtful = doubtful
    }
}

/// What another folder that took the place of the cache folder has: generations of its own, as a start reads them.
package struct AdoptedCache: Equatable, Sendable {
    /// The good generations, at least one, the oldest first; the last one is in force.
    package var manifests: [Manifest]
    /// The documents that they name.
    package var documents: [Digest: AppListDocument]
    /// The images that they name and that are not there, or not as they should be.
    package var missing: Set<Digest>

    /// - Returns: `nil` if there are no generations.
    package init?(_ restored: RestoredState) {
        if restored.manifests.isEmpty { return nil }
        manifests = restored.manifests
        documents = restored.documents
        missing = restored.missing
    }

    /// The image that the newest generation with one has for each URL, of those that are there.
    var images: [IconURL: AppListDocument.Image] {
        var images: [IconURL: AppListDocument.Image] = [:]
        for document in manifests.flatMap(\.lists.values).compactMap({ documents[$0.sha256] }) {
            for app in document.apps {
                guard let image = app.ownImage, !missing.contains(image.sha256) else { continue }
                images[app.icon] = image
            }
        }
        return images
    }
}

/// What a look at the cache folder found.
package struct CacheInspection: Equatable, Sendable {
    /// Whether a quick look found something amiss, so that a complete one is due.
    package var isSuspicious = false
    /// Whether `manifest.json` or its generation is missing.
    package var lacksManifest = false
    /// The highest number of a file in `generations/`, as a complete look found it: another folder may have higher ones than
    /// the agent gave.
    package var latestGeneration = 0
    /// The lists whose documents are missing or damaged.
    package var lostDocuments: Set<ListName> = []
    /// The images that are missing or damaged.
    package var lostImages: Set<Digest> = []
    /// How many names were put back.
    package var restoredNames = 0
    /// What is in another folder that is at the path now; `nil` if it is the same one, or one without generations.
    package var adopted: AdoptedCache?
    /// Why the folder could not be put right, as a sentence; nothing can be published then.
    package var trouble: String?

    package init() {}

    /// What was lost, in words; `nil` if nothing was.
    package var summary: String? {
        let parts = [
            lacksManifest ? "the manifest" : nil,
            lostDocuments.isEmpty ? nil : counted(lostDocuments.count, "list document"),
            lostImages.isEmpty ? nil : counted(lostImages.count, "image"),
            restoredNames == 0 ? nil : counted(restoredNames, "name"),
        ]
        let found = parts.compactMap(\.self)
        return found.isEmpty ? nil : found.joined(separator: ", ")
    }
}
