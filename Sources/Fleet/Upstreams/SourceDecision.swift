// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import HTTPRules

/// The decision on an icon that is due, if there are upstreams.
package enum SourceDecision: Equatable, Sendable {
    case take(queue: String)
    /// An upstream has the same image as on disk, which is therefore fresh until the time in the answer.
    case confirmed(SourceAnswer)
    /// An upstream reports that the icon failed; the failure counts until the time.
    case failed(FetchFailure, until: Timestamp)
    /// Decide again when an upstream's manifest changes, or at this time.
    case wait(until: Timestamp?)
    case origin
}

/// The reason why no upstream will soon have the image of a waiting icon.
package enum SourceLack: Hashable, Sendable {
    case unlisted
    /// The icon failed at every upstream that names it.
    case failed
}

package struct UpstreamRequest: Equatable, Sendable {
    package var url: UpstreamURL
    package var file: UpstreamFile
    /// Whether to bypass HTTP caches on the way, because one of them had another file.
    package var bypassesCaches = false

    package var target: FetchTarget { url.file(file.path) }

    package var copy: ImageCopy {
        ImageCopy(folder: url.folder, sha256: file.sha256, bytes: file.bytes, bypassesCaches: bypassesCaches)
    }
}

/// The freshness of an image that an upstream confirmed or delivered.
package struct SourceAnswer: Equatable, Sendable {
    /// A response without fields, with the folder of the upstream as its URL: all icons share it.
    package var response: StoredResponse
    package var freshUntil: Timestamp

    init(_ upstream: UpstreamURL, freshUntil: Timestamp, at now: Timestamp) {
        response = StoredResponse(
            url: upstream.folder.url, fields: HTTPFields([]), requestTime: now, responseTime: now)
        self.freshUntil = freshUntil
    }
}

/// An icon for which a source is sought.
package struct SoughtIcon {
    package var url: IconURL
    /// The digest of the image on disk.
    package var image: Digest?
    /// The digests that lists give for the image.
    package var expected: [ListName: Set<Digest>]

    package init(_ url: IconURL, image: Digest?, expected: [ListName: Set<Digest>]) {
        (self.url, self.image, self.expected) = (url, image, expected)
    }

    var hasImage: Bool { image != nil }

    /// Whether it has an image that its lists accept.
    var isRefresh: Bool { image.map(accepts) ?? false }

    func accepts(_ image: Digest) -> Bool {
        expected.isEmpty || expected.values.contains { $0.contains(image) }
    }
}

package enum SourceEnd: Equatable, Sendable {
    /// The image arrived; the answer says until when it is fresh.
    case image(SourceAnswer)
    case again
    /// The image that the manifest names arrived, but is not accepted here.
    case rejected
    /// The image did not arrive: decide again for the icon.
    case goOn
}

package struct UpstreamOpinion: Codable, Equatable, Sendable {
    package var url: String
    /// `ready`, `pending`, `failed`, or `unlisted` if none of its lists names the icon.
    ///
    /// Before the upstream's manifest was accepted in this run, the state of the upstream: `unknown`, `broken` or
    /// `refused`.
    package var says: String
    /// The reason why the upstream cannot deliver the image now, or why its entry may be old, as a clause; `nil` if
    /// there is none.
    package var obstacle: String?
}
