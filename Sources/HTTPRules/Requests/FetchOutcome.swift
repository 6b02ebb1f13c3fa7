// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// Why an icon is asked for.
package enum FetchReason: String, CaseIterable, Sendable {
    /// There is no image of it.
    case notCached = "not-cached"
    /// There was one, and it is not on disk any more.
    case missingOnDisk = "missing-on-disk"
    /// The image on disk is no longer fresh.
    case expired
    /// The last attempt failed, and its delay is over.
    case retry
}

/// A download to start.
package struct FetchRequest: Equatable, Sendable {
    /// The URL as the list spells it.
    package var url: IconURL
    package var source: IconSource
    package var reason: FetchReason
    /// Set if there is an image on disk, whose bytes need not come again if they are the same.
    package var condition: Condition?
    /// Whether it may go on where an earlier attempt was cut.
    package var mayResume = true
    /// The copy to download in place of the origin's image; `nil` to ask the origin.
    package var copy: ImageCopy?

    package init(
        url: IconURL, source: IconSource, reason: FetchReason, condition: Condition? = nil, mayResume: Bool = true,
        copy: ImageCopy? = nil
    ) {
        (self.url, self.source, self.reason) = (url, source, reason)
        (self.condition, self.mayResume, self.copy) = (condition, mayResume, copy)
    }
}

/// An image in a copy of another agent's cache: its digest and size are known before the download.
package struct ImageCopy: Equatable, Sendable {
    /// The URL of the copy's folder.
    package var folder: FetchTarget
    package var sha256: Digest
    package var bytes: Int
    /// Whether to ask proxy caches for a new response (`Cache-Control: no-cache`).
    package var bypassesCaches: Bool

    package init(folder: FetchTarget, sha256: Digest, bytes: Int, bypassesCaches: Bool) {
        (self.folder, self.sha256, self.bytes) = (folder, sha256, bytes)
        self.bypassesCaches = bypassesCaches
    }
}

extension FetchRequest {
    /// A request for an icon as if there were nothing of it on disk.
    package init(trying url: IconURL, from source: IconSource) {
        self.init(url: url, source: source, reason: .notCached, condition: nil, mayResume: false)
    }
}

/// An image that was downloaded and checked, and waits to be published: in memory, or in `staging/`.
package struct StagedImage: Equatable, Sendable {
    /// What it is called there.
    package var name: String
    /// What it will be once it is published.
    package var image: AppListDocument.Image

    package init(name: String, image: AppListDocument.Image) {
        self.name = name
        self.image = image
    }
}

/// How a download ended.
package enum FetchOutcome: Equatable, Sendable {
    case image(StagedImage, StoredResponse)
    /// The image on disk still is the current one; with what the server said in saying so (304).
    case notModified(StoredResponse)
    case failed(FetchFailure)
    /// There is no room for the image. It is nobody's failure: the icon stays what it is, until there is.
    case noRoom(Shortage)
    case cancelled
}
