// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// Everything known of one URL, as `syncagent why` tells it.
package struct IconReport: Codable, Equatable, Sendable {
    package struct Failure: Codable, Equatable, Sendable {
        /// As text: the agent may be of a later version than the program that reads this, and have codes of its own.
        package var code: String
        package var message: String
        package var attempts: Int
        /// When it is asked for again; `nil` if never, as things are.
        package var nextAttempt: String?

        package init(code: String, message: String, attempts: Int, nextAttempt: String? = nil) {
            (self.code, self.message, self.attempts, self.nextAttempt) = (code, message, attempts, nextAttempt)
        }
    }

    /// What the server said of the image on disk.
    package struct Response: Codable, Equatable, Sendable {
        package var received: String
        package var etag: String?
        package var lastModified: String?
        /// The arithmetic of its freshness.
        package var freshness: String

        package init(received: String, etag: String? = nil, lastModified: String? = nil, freshness: String) {
            (self.received, self.etag, self.lastModified, self.freshness) = (received, etag, lastModified, freshness)
        }
    }

    /// The origin that the URL names.
    package struct Origin: Codable, Equatable, Sendable {
        package var name: String
        /// How many requests to it failed in a row.
        package var failures: Int
        /// Until when it is not asked for anything.
        package var waitsUntil: String?

        package init(name: String, failures: Int, waitsUntil: String? = nil) {
            (self.name, self.failures, self.waitsUntil) = (name, failures, waitsUntil)
        }
    }

    /// Why it is not downloaded at the moment although it is wanted.
    package struct Hold: Codable, Equatable, Sendable {
        /// `paused`, `disk-full`, `out-of-resources` or `origin-waiting`.
        package var code: String
        /// What is in the way, and what ends it, as a clause.
        package var reason: String

        package init(code: String, reason: String) {
            (self.code, self.reason) = (code, reason)
        }
    }

    /// The last image of an app whose icon has none yet.
    package struct Previous: Codable, Equatable, Sendable {
        /// The URL that it came from.
        package var url: IconURL
        /// Relative to the cache folder.
        package var path: String
        /// Since when the app has had the new URL; `nil` if that is not known.
        package var since: String?
        /// The lists whose entries show it.
        package var lists: [ListName]

        package init(url: IconURL, path: String, since: String? = nil, lists: [ListName]) {
            (self.url, self.path, self.since, self.lists) = (url, path, since, lists)
        }
    }

    /// An icon in whose place apps show an image of another one.
    package struct Shown: Codable, Equatable, Sendable {
        package var url: IconURL
        /// The lists of these apps.
        package var lists: [ListName]

        package init(url: IconURL, lists: [ListName]) {
            (self.url, self.lists) = (url, lists)
        }
    }

    package var url: IconURL
    /// The lists that name it.
    package var lists: [ListName]
    /// `ready` if its image is on disk, `pending`, `failed`, or `retired` if no list names it.
    package var state: String
    /// The image on disk, relative to the cache folder.
    package var path: String?
    /// What comes next, and why.
    package var next: String
    package var failure: Failure?
    package var response: Response?
    package var origin: Origin?
    /// That its last refresh failed, as a sentence; `nil` if it did not.
    package var stale: String?
    /// The way of the last download; empty if it went straight to the URL.
    package var trail: [FetchTrail.Hop]
    /// Whether it is pinned.
    package var isPinned: Bool?
    /// Why it is not downloaded at the moment; an agent of an older version does not say.
    package var holds: [Hold]?
    /// Which rule decides when it is refreshed, or retried.
    package var rule: String?
    /// The file of an upstream that its image came from; `nil` if it came from its origin.
    package var source: String?
    /// What each upstream says of it; an agent of an older version does not say.
    package var upstreams: [UpstreamOpinion]?
    /// The image that apps show until the icon's own is on disk; `nil` if there is none, or it has its own.
    package var previous: Previous?
    /// The icons in whose place apps still show the image of this one.
    package var shownFor: [Shown]?
    /// Whether there are such icons.
    package var isShownElsewhere: Bool { shownFor?.isEmpty == false }
    /// Why its image stays on disk although no list names it, or when it goes.
    package var eviction: String?

    package init(url: IconURL, state: String, lists: [ListName], next: String) {
        (self.url, self.state, self.lists, self.next) = (url, state, lists, next)
        trail = []
    }
}
