// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// A generation to publish, and everything that must be on disk first.
package struct Publication: Sendable {
    package var generation: Int
    package var published: Timestamp
    /// Staged images to move into `icons/`.
    package var moves: [StagedImage] = []
    /// Staged images that are in `icons/` already, or get there by a move.
    ///
    /// They are removed, unless the file in `icons/` turns out to be damaged.
    package var discards: [StagedImage] = []
    /// Images on disk that its documents newly name; if one is missing, the publication fails.
    package var checks: Set<AppListDocument.Image> = []
    package var documents: [AppListDocument] = []
    /// Those of ``moves`` and ``discards`` that are renditions.
    package var renditions: [StagedImage] = []
    /// Whether it may use reserved space, because the newest manifest names missing files.
    package var ignoresRoom = false
    /// Whether it may have icons from behind credentials, which must not be exported.
    package var isPrivate = false
    package var kept: [ListName: Manifest.List] = [:]
    /// The `by-url/` names to set, each with the paths of the new image and of the one before.
    package var links: [Link] = []

    package typealias Link = (url: IconURL, path: String, before: String?)

    package init(generation: Int, published: Timestamp) {
        self.generation = generation
        self.published = published
    }

    /// The approximate size on disk, in bytes; as expensive as writing its documents.
    package var bytes: Int {
        moves.reduce(0) { $0 + $1.image.bytes } + documents.reduce(0) { $0 + $1.text.count }
    }
}

package enum PublicationResult: Sendable {
    /// It is in force and durable, unless `doubt` says why it may not be durable.
    case published(Manifest, written: WrittenBytes, doubt: String? = nil)
    /// Nothing was done: the documents need more than the free `room` in bytes.
    case noRoom(Shortage, room: Int, documents: [ListName: Int])
    /// Nothing of it is left on disk; the previous generation stays in force.
    case failed(reason: String, isOutOfSpace: Bool = false)
}

package struct WrittenBytes: Equatable, Sendable {
    package var documents: [ListName: Int] = [:]
    package var manifest = 0
    /// Damaged images that were replaced by a download; other names may still link to the old files.
    package var replaced: Set<Digest> = []

    package init() {}
}
