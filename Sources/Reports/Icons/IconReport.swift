// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import WebAddresses

/// Everything known of one URL, as `syncagent why` tells it.
package struct IconReport: Codable, Equatable, Sendable {
    package struct Failure: Codable, Equatable, Sendable {
        /// As text: the agent may be of a later version than the program that reads this, and have codes of its own.
        package var code: String
        package var message: String
        package var attempts: Int
        /// When it is asked for again; `nil` if never, as things are.
        package var nextAttempt: String?
    }

    /// What the server said of the image on disk.
    package struct Response: Codable, Equatable, Sendable {
        package var received: String
        package var etag: String?
        package var lastModified: String?
        /// The arithmetic of its freshness.
        package var freshness: String
    }

    /// The origin that the URL names.
    package struct Origin: Codable, Equatable, Sendable {
        package var name: String
        /// How many requests to it failed in a row.
        package var failures: Int
        /// Until when it is not asked for anything.
        package var waitsUntil: String?
    }

    /// Why it is not downloaded at the moment although it is wanted.
    package struct Hold: Codable, Equatable, Sendable {
        /// `paused`, `disk-full`, `out-of-resources` or `origin-waiting`.
        package var code: String
        /// What is in the way, and what ends it, as a clause.
        package var reason: String
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
    }

    /// An icon in whose place apps show an image of another one.
    package struct Shown: Codable, Equatable, Sendable {
        package var url: IconURL
        /// The lists of these apps.
        package var lists: [ListName]
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

    /// Tells of an icon.
    ///
    /// - Parameters:
    ///   - url: Its URL.
    ///   - icon: What is known of it.
    ///   - health: How an origin fares, if anything is known against it.
    ///   - queue: How many icons are queued, and whether no download is begun because all are paused.
    ///   - now: The present time.
    package init(
        url: IconURL, icon: IconRecord, health: (_ origin: String) -> OriginHealth?,
        queue: (ready: Int, isPaused: Bool) = (0, false), now: Timestamp
    ) {
        self.url = url
        lists = icon.lists.sorted()
        state = IconSummary.State(icon).rawValue
        isPinned = icon.lists.contains(Reconciler.pinList)
        path = icon.image?.path
        stale = icon.staleness(at: now)
        trail = icon.trail?.puttingIn(url).hops ?? []
        // What waits to be published is the end of its failures.
        failure = (icon.isUnpublished ? nil : icon.failure).map { failure in
            Failure(
                code: failure.code.rawValue, message: failure.message, attempts: failure.attempts,
                nextAttempt: failure.nextAttempt?.description)
        }
        var wait: Timestamp?
        // Of an image that its URL carries no server has said anything.
        response = icon.isInline ? nil : icon.response.map(Response.init)
        if !icon.isInline, let origin = (try? FetchTarget(url.text))?.origin {
            let health = health(origin)
            let waits = health.flatMap { $0.isWaiting(at: now) ? $0.waitsUntil.description : nil }
            self.origin = Origin(name: origin, failures: health?.failures ?? 0, waitsUntil: waits)
            wait = health.flatMap { $0.isWaiting(at: now) ? $0.waitsUntil : nil }
        }
        next = Self.next(for: icon, wait: wait, queue, now: now)
    }

    /// What comes next, where the icon's origin gets no request until the end of the wait.
    private static func next(
        for icon: IconRecord, wait: Timestamp?, _ queue: (ready: Int, isPaused: Bool), now: Timestamp
    ) -> String {
        /// At a time, or when the origin is asked again, whichever is later.
        func at(_ time: Timestamp) -> String {
            let isLater = wait.map { $0 > time } ?? false
            return "at \(isLater ? wait ?? time : time)" + (isLater ? ", when its server is asked again" : "")
                + (queue.isPaused ? ", if downloads are resumed by then" : "")
        }
        return switch FetchPlan(for: icon, now: now) {
        case .fetch(let reason):
            "download " + (queue.isPaused ? "when downloads are resumed" : "at the next start")
                + " (\(reason.rawValue))"
        case .inline: "no request: the image is in the URL itself"
        case .fresh(let time): "refresh \(at(time))"
        case .waiting(let time): "retry \(at(time))"
        case .refused: "no retry: the failure is permanent"
        case .unreferenced: "no request: no list names it"
        case .underWay:
            switch icon.phase {
            case .idle: "waiting to be published"
            case .queued where queue.isPaused: "download when downloads are resumed"
            case .queued:
                wait.map { "download at \($0), when its server is asked again" }
                    ?? "queued for download" + (queue.ready > 1 ? ", with \(grouped(queue.ready - 1)) others" : "")
            case .fetching: "downloading"
            case .waitingForSpace: "a download when there is enough disk space (see syncagent status)"
            }
        }
    }
}

extension IconReport.Response {
    fileprivate init(_ response: StoredResponse) {
        received = response.responseTime.description
        etag = response.validators.etag
        lastModified = response.validators.lastModified
        freshness = Freshness(of: response).description
    }
}
