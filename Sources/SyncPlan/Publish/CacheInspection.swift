// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// What must be in the cache folder, for a look at whether it is.
package struct CacheExpectation: Sendable {
    /// The generation in force; `nil` before the first one.
    package var generation: Int?
    /// Documents of that generation, by list: all, or a sample of them.
    package var documents: [ListName: Digest]
    /// Every image on disk, each with the URLs whose `by-url/` names are links to it; `nil` for a quick look.
    package var images: [AppListDocument.Image: Set<IconURL>]?

    package init(
        generation: Int?, documents: [ListName: Digest], images: [AppListDocument.Image: Set<IconURL>]? = nil
    ) {
        self.generation = generation
        self.documents = documents
        self.images = images
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
    /// Why the folder could not be put right, as a sentence; nothing can be published then.
    package var trouble: String?

    package init() {}

    /// Everything is as it should be.
    package static let whole = CacheInspection()

    /// What was lost, in words; `nil` if nothing was.
    package var summary: String? {
        let parts = [
            lacksManifest ? "the manifest" : nil, Self.count(lostDocuments.count, "list document"),
            Self.count(lostImages.count, "image"), Self.count(restoredNames, "name"),
        ]
        let found = parts.compactMap(\.self)
        return found.isEmpty ? nil : found.joined(separator: ", ")
    }

    private static func count(_ number: Int, _ thing: String) -> String? {
        number == 0 ? nil : "\(number) \(thing)\(number == 1 ? "" : "s")"
    }
}
