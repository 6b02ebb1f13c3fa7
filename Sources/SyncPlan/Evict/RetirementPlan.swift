// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Files that no generation on disk names and that can be removed.
package struct RetirementPlan: Equatable, Sendable {
    package var documents: Set<Digest> = []
    package var images: Set<AppListDocument.Image> = []
    /// The icons whose `by-url/` names are removed.
    package var urls: Set<IconURL> = []

    /// Whether the images were found damaged; images that turn out intact stay, with their `by-url/` names.
    package var isOfDamage = false

    package var failure: String?

    package init(
        documents: Set<Digest> = [], images: Set<AppListDocument.Image> = [], urls: Set<IconURL> = []
    ) {
        (self.documents, self.images, self.urls) = (documents, images, urls)
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
        failure = failure ?? other.failure
    }
}
