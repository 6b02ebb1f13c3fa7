// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

package enum FetchReason: String, CaseIterable, Sendable {
    case notCached = "not-cached"
    case missingOnDisk = "missing-on-disk"
    case expired
    /// The last attempt failed, and its delay is over.
    case retry
}

package struct FetchRequest: Equatable, Sendable {
    /// The URL as the list spells it.
    package var url: IconURL
    package var source: IconSource
    package var reason: FetchReason
    /// The condition for revalidating the image on disk; `nil` if there is none, or it must not be used.
    package var condition: Condition?
    package var mayResume = true
    /// Whether to ask proxy caches for a new response (`Cache-Control: no-cache`), for the origin's image.
    package var bypassesCaches = false
    /// The copy to download in place of the origin's image; `nil` to ask the origin.
    package var copy: ImageCopy?
    /// The lists that name the icon, for which credentials may be used.
    package var lists: [ListName] = []
    /// The size of the largest image for which there is room, in bytes; `nil` if that is not limited.
    package var room: Int?
    /// The image of another icon, which is copied; no request is sent then.
    package var shared: SharedImage?
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

/// The image of another icon whose URL leads to the same request, with the response that brought it.
///
/// It is a class because nearly all requests have none: a struct would enlarge each request.
package final class SharedImage: Equatable, Sendable {
    package let image: AppListDocument.Image
    /// The name of the staged image; `nil` if it is published.
    ///
    /// A staged image may be published before it is copied.
    package let staged: String?
    package let response: StoredResponse

    package init(image: AppListDocument.Image, staged: String?, response: StoredResponse) {
        (self.image, self.staged, self.response) = (image, staged, response)
    }

    package static func == (a: SharedImage, b: SharedImage) -> Bool {
        a.image == b.image && a.staged == b.staged && a.response == b.response
    }
}

extension FetchRequest {
    package init(
        url: IconURL, source: IconSource, reason: FetchReason, condition: Condition? = nil, mayResume: Bool = true,
        copy: ImageCopy? = nil
    ) {
        self.init(
            url: url, source: source, reason: reason, condition: condition, mayResume: mayResume, copy: copy, lists: [])
    }

    /// A request for an icon as if no part of it were on disk.
    package init(trying url: IconURL, from source: IconSource) {
        self.init(url: url, source: source, reason: .notCached, condition: nil, mayResume: false)
    }
}

/// A downloaded and checked image that awaits publication, in memory or in `staging/`.
package struct StagedImage: Equatable, Sendable {
    package var name: String
    package var image: AppListDocument.Image

    package init(name: String, image: AppListDocument.Image) {
        self.name = name
        self.image = image
    }
}

package enum FetchOutcome: Equatable, Sendable {
    case image(StagedImage, StoredResponse)
    /// The image on disk is still current, according to this response (304).
    case notModified(StoredResponse)
    case failed(FetchFailure)
    /// There is no room for the image. This is not a failure: the icon keeps its state until there is room.
    case noRoom(Shortage)
    case cancelled
}

/// A download that ended, from the transfers to the plan.
package struct EndedDownload: Sendable {
    package var url: IconURL
    package var outcome: FetchOutcome
    /// The redirects, proxies and permissions of the download; `nil` if it went straight to a public address.
    package var trail: FetchTrail?
    /// Whether every response came over HTTP/2; `nil` if there was none.
    package var isMultiplexed: Bool?
}

extension EndedDownload {
    package init(url: IconURL, _ outcome: FetchOutcome, trail: FetchTrail? = nil, isMultiplexed: Bool? = nil) {
        self.init(url: url, outcome: outcome, trail: trail, isMultiplexed: isMultiplexed)
    }
}
