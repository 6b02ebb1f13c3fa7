// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The files and names that an inspection must find in the cache folder.
package struct CacheExpectation: Sendable {
    /// An image on disk, and a URL whose `by-url/` name is a link to it, if there is one.
    package struct Naming: Equatable, Sendable {
        package var image: AppListDocument.Image
        package var url: IconURL?

        package init(image: AppListDocument.Image, url: IconURL?) { (self.image, self.url) = (image, url) }
    }

    /// The generation in force; `nil` before the first one.
    package var generation: Int?
    /// Documents of the generation in force, by list: all of them, or a sample.
    package var documents: [ListName: Digest]
    /// Every image on disk with each of its URLs, unsorted; `nil` for a quick inspection.
    package var images: Namings?
    package var sample: [Naming]
    /// Whether other files are leftovers of a crash, as in the first inspection after a start.
    package var removesOthers: Bool
    /// The images to read and verify, not only to stat.
    package var doubtful: Set<Digest>
    /// A sample of the names of renditions, each with the path of its image.
    package var renditionNames: [RenditionName] = []

    package init(
        generation: Int?, documents: [ListName: Digest], images: Namings? = nil, sample: [Naming] = [],
        removesOthers: Bool = false, doubtful: Set<Digest> = []
    ) {
        (self.generation, self.documents, self.images) = (generation, documents, images)
        (self.sample, self.removesOthers, self.doubtful) = (sample, removesOthers, doubtful)
    }
}

/// The content of another folder that replaced the cache folder, read as at a start.
package struct AdoptedCache: Equatable, Sendable {
    /// The valid generations, at least one, the oldest first; the last one is in force.
    package var manifests: [Manifest]
    package var documents: [Digest: AppListDocument]
    /// The images that the generations name and that are missing or damaged.
    package var missing: Set<Digest>

    /// Fails if the folder has no generations.
    package init?(_ restored: RestoredState) {
        if restored.manifests.isEmpty { return nil }
        (manifests, documents, missing) = (restored.manifests, restored.documents, restored.missing)
    }

    /// Each URL's image from the newest generation that has one, without missing images.
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

package struct CacheInspection: Equatable, Sendable {
    /// Whether a quick inspection found a problem, so that a complete one is due.
    package var isSuspicious = false
    /// Whether `manifest.json` or its generation is missing.
    package var lacksManifest = false
    /// The highest number in `generations/`, by a complete inspection; another folder may exceed the agent's own.
    package var latestGeneration = 0
    package var lostDocuments: Set<ListName> = []
    package var lostImages: Set<Digest> = []
    package var restoredNames = 0
    /// Whether names of renditions are missing, or link to other images.
    package var lacksRenditionNames = false
    /// The content of another folder that is now at the path; `nil` if the folder is the same, or has no generations.
    package var adopted: AdoptedCache?
    /// The reason why some names could not be corrected, as a sentence.
    package var refusal: String?
    /// The reason why the folder could not be repaired, as a sentence; nothing can be published then.
    package var trouble: String?

    package init() {}

    /// The missing or damaged files in words; `nil` if there are none.
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
