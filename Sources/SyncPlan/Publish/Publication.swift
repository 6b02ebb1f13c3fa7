// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// One generation to be published, and all that must be on disk before it is.
package struct Publication: Sendable {
    /// The number of the generation.
    package var generation: Int
    package var published: Timestamp
    /// Staged images to be moved into `icons/`.
    package var moves: [StagedImage] = []
    /// Staged images that are in `icons/` already, or come there by one of the moves: they are removed, unless what is in
    /// `icons/` turns out to be damaged.
    package var discards: [StagedImage] = []
    /// Images on disk that its documents name, and the documents before did not: if one is missing, nothing is published.
    package var checks: Set<AppListDocument.Image> = []
    /// The lists that changed, whose documents are written anew.
    package var documents: [AppListDocument] = []
    /// Whether it is tried even if its documents take what is to stay free: the newest manifest names what is not there.
    package var ignoresRoom = false
    /// The lists that did not change.
    package var kept: [ListName: Manifest.List] = [:]
    /// The URLs whose `by-url/` names are set, each with the image's path, and with that of the image that it had before.
    package var links: [Link] = []

    package typealias Link = (url: IconURL, path: String, before: String?)

    package init(generation: Int, published: Timestamp) {
        self.generation = generation
        self.published = published
    }

    /// How many bytes it takes on disk, more or less.
    ///
    /// - Complexity: That of writing its documents.
    package var bytes: Int {
        moves.reduce(0) { $0 + $1.image.bytes } + documents.reduce(0) { $0 + $1.text.count }
    }
}

/// What became of a publication.
package enum PublicationResult: Sendable {
    /// It is what `manifest.json` names, and durable, unless there is doubt: then why it may not be.
    case published(Manifest, written: WrittenBytes, doubt: String? = nil)
    /// Nothing was done, because there is no room for the documents: there is for so many bytes.
    case noRoom(Shortage, room: Int, documents: [ListName: Int])
    /// Nothing of it is on disk any more; the generation before stays in force.
    case failed(reason: String, isOutOfSpace: Bool = false)
}

/// What a publication wrote beside the images that it moved.
package struct WrittenBytes: Equatable, Sendable {
    /// How many bytes each list's document has, if that was not there already.
    package var documents: [ListName: Int] = [:]
    /// How many bytes the manifest has.
    package var manifest = 0
    /// Images whose files were damaged, and were replaced by a download; other names may lead to the old ones.
    package var replaced: Set<Digest> = []

    package init() {}
}
