// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

extension IconReport {
    /// `image` is that on disk, and `known` its response, if there are any; `health` gives the state of an origin that
    /// failed recently.
    init(
        url: IconURL, icon: IconRecord, image: AppListDocument.Image?, known: StoredResponse?,
        health: (_ origin: String) -> OriginHealth?,
        queue: (ready: Int, isPaused: Bool) = (0, false), _ clock: WallClock, now: Timestamp
    ) {
        self.init(url: url, state: IconSummary.State(icon), lists: icon.lists.sorted(), next: "")
        pinned = icon.lists.contains(Reconciler.pinList)
        path = image?.path
        stale = icon.staleness(by: known, at: now, shown: clock.time)
        trail = icon.trail?.puttingIn(url).hops ?? []
        // An image that awaits publication ends the failures.
        failure = (icon.isUnpublished ? nil : icon.failure).map { failure in
            Failure(
                code: failure.code.rawValue, message: failure.message, attempts: failure.attempts,
                nextAttempt: failure.nextAttempt.map { clock.time(of: $0).description })
        }
        var wait: Timestamp?
        // An inline image has no server.
        response = icon.isInline ? nil : known.map { Response($0, clock) }
        if !icon.isInline, let origin = (try? FetchTarget(url.text))?.origin {
            let health = health(origin)
            wait = health.flatMap { $0.isWaiting(at: now) ? $0.waitsUntil : nil }
            let waits = wait.map { clock.time(of: $0).description }
            self.origin = Origin(name: origin, failures: health?.failures ?? 0, waitsUntil: waits)
        }
        next = Self.next(for: icon, image?.sha256, wait: wait, queue, clock, now: now)
    }

    /// The next step of an icon, as a sentence; `wait` is the time until which its origin gets no requests.
    private static func next(
        for icon: IconRecord, _ image: Digest?, wait: Timestamp?, _ queue: (ready: Int, isPaused: Bool),
        _ clock: WallClock, now: Timestamp
    ) -> String {
        /// `time`, or the end of the origin's wait if that is later.
        func at(_ time: Timestamp) -> String {
            let isLater = wait.map { $0 > time } ?? false
            let next = clock.time(of: isLater ? wait ?? time : time)
            return "at \(next)" + (isLater ? ", when its server is asked again" : "")
                + (queue.isPaused ? ", if downloads are resumed by then" : "")
        }
        return switch FetchPlan(for: icon, with: image, now: now) {
        case .fetch(let reason):
            "download " + (queue.isPaused ? "when downloads are resumed" : "at the next start")
                + " (\(reason.rawValue))"
        case .inline: "no request: the image is in the URL itself"
        case .fresh(let time): "refresh \(at(time))"
        case .waiting(let time): "retry \(at(time))"
        case .refused:
            switch icon.failure?.code {
            case .fetch(.overLimit): "download when there is room, or the settings change"
            case let code? where code.dependsOnSettings && !icon.isInline: "retry when its lists or the settings change"
            default: "no retry: the failure is permanent"
            }
        case .unreferenced: "no request: no list names it"
        case .underWay:
            switch icon.phase {
            case .idle, .staged: "waiting to be published"
            case .queued where queue.isPaused: "download when downloads are resumed"
            case .queued:
                wait.map { "download at \(clock.time(of: $0)), when its server is asked again" }
                    ?? "queued for download" + (queue.ready > 1 ? ", with \(grouped(queue.ready - 1)) others" : "")
            case .fetching: "downloading"
            case .blocked: "download when there is enough disk space (see syncagent status)"
            }
        }
    }
}

extension IconReport.Response {
    fileprivate init(_ response: StoredResponse, _ clock: WallClock) {
        self.init(
            received: clock.time(of: response.responseTime).description, etag: response.validators.etag,
            lastModified: response.validators.lastModified, freshness: Freshness(of: response).description)
    }
}
