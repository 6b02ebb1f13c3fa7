// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import HTTPRules

package typealias SourcePoll = UpstreamPoll
package typealias SourceReply = UpstreamAnswer
package typealias SourceMemo = UpstreamMemo

/// What is to be done for an icon that is due, where there are upstreams.
package enum SourceDecision: Equatable, Sendable {
    /// An upstream has its image.
    case take(queue: String)
    /// The image on disk is the one that an upstream has: it is fresh until then.
    case confirmed(SourceAnswer)
    /// An upstream says that the icon failed, which counts until then.
    case failed(FetchFailure, until: Timestamp)
    /// It is looked at again when an upstream says something new, or then if that is a time.
    case wait(until: Timestamp?)
    /// The origin is asked.
    case origin
}

/// Why no upstream has the image of an icon that waits for it, and none will have it soon.
package enum SourceLack: Hashable, Sendable {
    /// No list of an upstream names the icon.
    case unlisted
    /// The icon failed for each upstream that names it.
    case failed
}

/// A request for an image that an upstream has.
package struct UpstreamRequest: Equatable, Sendable {
    package var url: UpstreamURL
    package var file: UpstreamFile
    /// Whether caches on the way are told to ask the server, because they had something else.
    package var bypassesCaches = false

    /// What is requested.
    package var target: FetchTarget { url.file(file.path) }

    package var copy: ImageCopy {
        ImageCopy(folder: url.folder, sha256: file.sha256, bytes: file.bytes, bypassesCaches: bypassesCaches)
    }
}

/// Freshness of an image that an upstream confirmed or delivered.
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
    package var expected: [ListName: Digest]

    package init(_ url: IconURL, image: Digest?, expected: [ListName: Digest]) {
        (self.url, self.image, self.expected) = (url, image, expected)
    }

    var hasImage: Bool { image != nil }

    func accepts(_ image: Digest) -> Bool { expected.isEmpty || expected.values.contains(image) }
}

/// How a request to an upstream ended.
package enum SourceEnd: Equatable, Sendable {
    /// With the image, which is fresh until then.
    case image(SourceAnswer)
    /// Not with the image: it is asked for once more.
    case again
    /// With the image that the manifest names, which is not accepted here.
    case rejected(FetchFailure)
    /// Not with the image: what is next is decided anew.
    case goOn
}

/// What an upstream has to say of an icon, for people.
package struct UpstreamOpinion: Codable, Equatable, Sendable {
    /// The URL of the upstream's folder.
    package var url: String
    /// `ready`, `pending`, `failed`, or `unlisted` if none of its lists names the icon; before its manifest was accepted
    /// in this run, the state of the upstream: `unknown`, `broken` or `refused`.
    package var says: String
    /// Why it is not asked for the image now, or could say nothing newer, as a clause; `nil` if nothing is in the way.
    package var obstacle: String?

    package init(url: String, says: String, obstacle: String? = nil) {
        (self.url, self.says, self.obstacle) = (url, says, obstacle)
    }
}
