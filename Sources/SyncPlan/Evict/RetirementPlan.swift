// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Files that no generation on disk names and that can be removed.
package struct RetirementPlan: Equatable, Sendable {
    package var documents: Set<Digest> = []
    package var images: Set<AppListDocument.Image> = []
    package var urls: Set<IconURL> = []
    /// All URLs of the documents that no generation names any more.
    package var affected: Set<IconURL> = []

    /// Whether its images were found damaged; those that turn out intact stay, with their `by-url/` names.
    package var isOfDamage = false

    package var failure: String?

    package init(
        documents: Set<Digest> = [], images: Set<AppListDocument.Image> = [], urls: Set<IconURL> = [],
        affected: Set<IconURL> = []
    ) {
        self.documents = documents
        self.images = images
        self.urls = urls
        self.affected = affected
    }

    package var count: Int { documents.count + images.count + urls.count }

    package var isEmpty: Bool { documents.isEmpty && images.isEmpty && urls.isEmpty }

    package mutating func subtract(_ other: RetirementPlan) {
        documents.subtract(other.documents)
        images.subtract(other.images)
        urls.subtract(other.urls)
    }

    package mutating func formUnion(_ other: RetirementPlan) {
        documents.formUnion(other.documents)
        images.formUnion(other.images)
        urls.formUnion(other.urls)
        affected.formUnion(other.affected)
        failure = failure ?? other.failure
    }
}
