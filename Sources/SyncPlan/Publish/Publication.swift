// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// A generation to publish, and everything that must be on disk first.
package struct Publication: Sendable {
    package var generation: Int
    package var published: Timestamp
    /// Staged images to move into `icons/`.
    package var moves: [StagedImage] = []
    /// Staged images whose file in `icons/` exists already, or comes from another move.
    ///
    /// They are removed, unless the file in `icons/` turns out to be damaged.
    package var discards: [StagedImage] = []
    /// Images on disk that the new documents are the first to name; if one is missing, the publication fails.
    package var checks: Set<AppListDocument.Image> = []
    package var documents: [AppListDocument] = []
    /// The ``moves`` and ``discards`` of renditions.
    package var renditions: [StagedImage] = []
    /// Whether the publication may use reserved space, because the newest manifest names missing files.
    package var ignoresRoom = false
    /// Whether the documents may have icons from behind credentials, which must not be exported.
    package var isPrivate = false
    package var kept: [ListName: Manifest.List] = [:]
    /// The `by-url/` names to set, each with the paths of the new image and of the one before.
    package var links: [Link] = []

    package typealias Link = (url: IconURL, path: String, before: String?)

    package init(generation: Int, published: Timestamp) {
        (self.generation, self.published) = (generation, published)
    }

    /// All staged images that it moves or discards.
    package var staged: [StagedImage] { moves + discards }

    /// The approximate size on disk, in bytes; computing it costs as much as writing the documents.
    package var bytes: Int {
        moves.reduce(0) { $0 + $1.image.bytes } + documents.reduce(0) { $0 + $1.text.count }
    }
}

extension Publication {
    /// Whether the newest manifest has all of it.
    func isEmpty(in catalog: Catalog) -> Bool {
        staged.isEmpty && links.isEmpty
            && documents.allSatisfy { catalog.lists[$0.list]?.published?.sha256 == .of($0.text) }
    }
}

package enum PublicationResult: Sendable {
    /// The generation is in force and durable; `doubt` is the reason if it may not be durable.
    case published(Manifest, written: WrittenBytes, doubt: String? = nil)
    /// Nothing was written: the documents need more than `room`, the free bytes.
    case noRoom(Shortage, room: Int, documents: [ListName: Int])
    /// Nothing of the generation is left on disk; the previous one stays in force, and all images that are not published
    /// are lost.
    case failed(reason: String, isOutOfSpace: Bool = false)
    /// As ``failed(reason:isOutOfSpace:)``, but the images stay staged, except the lost ones.
    case refused(Refusal)

    package struct Refusal: Sendable {
        package var reason: String
        /// The images, by their names in `staging/`, whose files are missing or damaged.
        package var lost: Set<String> = []
        /// The images for which the cache folder has no place.
        package var unplaced: Set<String> = []
        /// The URLs for whose `by-url/` names it has no place.
        package var unnamed: Set<IconURL> = []

        package init(
            reason: String = "", lost: Set<String> = [], unplaced: Set<String> = [], unnamed: Set<IconURL> = []
        ) {
            (self.reason, self.lost, self.unplaced, self.unnamed) = (reason, lost, unplaced, unnamed)
        }
    }
}

package struct WrittenBytes: Equatable, Sendable {
    package var documents: [ListName: Int] = [:]
    package var manifest = 0
    /// Damaged images that were replaced by a download; other links may still lead to the old files.
    package var replaced: Set<Digest> = []

    package init() {}
}
