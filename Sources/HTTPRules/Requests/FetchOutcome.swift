// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import WebAddresses

/// What lets a server say that an image has not changed (RFC 9110, section 8.8), in the server's own spelling.
package struct Validators: Hashable, Sendable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    package var isEmpty: Bool { etag == nil && lastModified == nil }
}

/// What makes a request conditional, and the only URL that may be asked so (RFC 9110, section 13).
///
/// A validator says nothing of what another URL has, however that was reached: an older image there would be taken for
/// “not modified”.
package struct Condition: Hashable, Sendable {
    /// The URL that gave the validators, as it was sent.
    package var url: String
    package var validators: Validators

    package init(url: String, validators: Validators) {
        self.url = url
        self.validators = validators
    }

    /// Whether a request for the URL may have it: only if that is the same, byte for byte.
    package func applies(to target: FetchTarget) -> Bool { target.isSent(as: url) }
}

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

    package var priority: FetchQueue.Priority {
        switch self {
        case .notCached, .missingOnDisk: .new
        case .expired: .refresh
        case .retry: .retry
        }
    }
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
    /// The image of an upstream that is asked for; `nil` if the origin is asked.
    package var upstream: UpstreamRequest?
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
