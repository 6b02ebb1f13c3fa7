// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import WebAddresses

/// What is to be done for an icon that is due, where there are upstreams.
enum UpstreamDecision: Equatable, Sendable {
    /// An upstream has its image.
    case take(UpstreamRequest)
    /// The image on disk is the one that an upstream has: it is fresh until then.
    case confirmed(by: UpstreamURL, until: Timestamp)
    /// An upstream says that the icon failed, which counts until then.
    case failed(FetchFailure, until: Timestamp)
    /// It is looked at again when an upstream says something new, or then if that is a time.
    case wait(until: Timestamp?)
    /// The origin is asked.
    case origin
}

/// Why no upstream has the image of an icon that waits for it, and none will have it soon.
package enum UpstreamLack: Hashable, Sendable {
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
}

/// How a request to an upstream ended.
enum UpstreamEnd: Equatable, Sendable {
    /// With the image, which is fresh until then.
    case image(UpstreamRequest, until: Timestamp)
    /// Not with the image: it is asked for once more.
    case again
    /// With the image that the manifest names, which is not accepted here.
    case rejected(FetchFailure)
    /// Not with the image: what is next is decided anew.
    case goOn
}

extension FetchFailure {
    /// What came is not the image that the manifest of an upstream names.
    package static let upstreamMismatch = FetchFailure(
        .digestMismatch, "the upstream sent another image than its manifest names", .passing)
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
