// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet
package import HTTPRules

/// The state of one URL, with the reasons for it: the output of `syncagent why`.
package struct IconReport: Codable, Equatable, Sendable {
    package struct Failure: Codable, Equatable, Sendable {
        /// The failure's code as text, because a later version of the agent may have other codes.
        package var code: String
        package var message: String
        package var attempts: Int
        /// When the icon is retried; `nil` if it is not retried until its list or the settings change.
        package var nextAttempt: String?

        package init(code: String, message: String, attempts: Int, nextAttempt: String? = nil) {
            (self.code, self.message, self.attempts, self.nextAttempt) = (code, message, attempts, nextAttempt)
        }
    }

    /// The response that brought the image on disk.
    package struct Response: Codable, Equatable, Sendable {
        package var received: String
        package var etag: String?
        package var lastModified: String?
        /// How the freshness lifetime was computed.
        package var freshness: String

        package init(received: String, etag: String? = nil, lastModified: String? = nil, freshness: String) {
            (self.received, self.etag, self.lastModified, self.freshness) = (received, etag, lastModified, freshness)
        }
    }

    package struct Origin: Codable, Equatable, Sendable {
        package var name: String
        package var failures: Int
        package var waitsUntil: String?

        package init(name: String, failures: Int, waitsUntil: String? = nil) {
            (self.name, self.failures, self.waitsUntil) = (name, failures, waitsUntil)
        }
    }

    /// Why a wanted icon is not being downloaded.
    package struct Hold: Codable, Equatable, Sendable {
        /// `paused`, `disk-full`, `out-of-resources`, `no-upstream` or `origin-waiting`.
        package var code: String
        /// The obstacle, and what ends it, as a clause.
        package var reason: String

        package init(code: String, reason: String) {
            (self.code, self.reason) = (code, reason)
        }
    }

    /// The previous image of an app whose icon has none yet.
    package struct Previous: Codable, Equatable, Sendable {
        package var url: IconURL
        /// The image's path, relative to the cache folder.
        package var path: String
        /// Since when the app has had the new URL; `nil` if unknown.
        package var since: String?
        package var lists: [ListName]

        package init(url: IconURL, path: String, since: String? = nil, lists: [ListName]) {
            (self.url, self.path, self.since, self.lists) = (url, path, since, lists)
        }
    }

    /// An icon for which apps show another icon's image.
    package struct Shown: Codable, Equatable, Sendable {
        package var url: IconURL
        package var lists: [ListName]

        package init(url: IconURL, lists: [ListName]) {
            (self.url, self.lists) = (url, lists)
        }
    }

    /// The icon's image in another size.
    package struct Rendition: Codable, Equatable, Sendable {
        /// The size as in `render.sizes`.
        package var size: String
        /// The rendition's path, relative to the cache folder.
        package var path: String

        package init(size: String, path: String) { (self.size, self.path) = (size, path) }
    }

    package var url: IconURL
    package var lists: [ListName]
    package var state: Word<IconSummary.State>
    /// The path of the image on disk, relative to the cache folder.
    package var path: String?
    package var next: String
    package var failure: Failure?
    package var response: Response?
    package var origin: Origin?
    /// A sentence which says that the last refresh failed; `nil` if it did not.
    package var stale: String?
    /// The redirects and proxies of the last download; empty if it was direct.
    package var trail: [FetchTrail.Hop]
    package var pinned = false
    /// The icon's cache key, without secrets; `nil` if no rule of `[[keys]]` is for its host.
    package var key: String?
    /// The reasons why the icon is not being downloaded.
    package var holds: [Hold] = []
    /// The rule that determines its next refresh or retry.
    package var rule: String?
    /// Why the image of an unreferenced icon stays on disk, or when it is evicted.
    package var eviction: String?
    /// The URL of the file that the image came from at an upstream; `nil` if it came from its origin.
    package var source: String?
    /// The icon's state in the manifest of each upstream.
    package var upstreams: [UpstreamOpinion] = []
    /// The image that apps show until the icon has its own; `nil` if there is none, or the icon has its own.
    package var previous: Previous?
    /// The icons for which apps still show this one's image.
    package var shownFor: [Shown] = []
    /// The sizes in which renditions of the image are on disk.
    package var renditions: [Rendition] = []
    /// Why the image cannot be rendered; `nil` if it was rendered or waits to be.
    package var renderFailure: RenderFailure?
    /// Whether the image waits to be rendered.
    package var isRenderPending = false
    /// The mutes that keep the icon's failures from counting; `nil` from an agent of an older version.
    package var mutes: [MuteReport.Mute]?
    package var isShownElsewhere: Bool { !shownFor.isEmpty }

    package init(url: IconURL, state: IconSummary.State, lists: [ListName], next: String) {
        (self.url, self.state, self.lists, self.next) = (url, Word(state), lists, next)
        trail = []
    }

    package var json: JSON { .lines(.document(self)) }
}
