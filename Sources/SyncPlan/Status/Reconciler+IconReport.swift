// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
import HTTPRules
package import Reports

extension Reconciler {
    package func report(on url: IconURL, now: Timestamp) -> IconReport? {
        let shown = book.catalog.icons(replacedByImageOf: url)
        var record = book.catalog.icons[url]
        if record == nil, let image = book.catalog.lastImage(from: url) ?? book.catalog.orphan(of: url) {
            record = IconRecord()
            record?.apply(.found(image, freshUntil: .distantPast))
        }
        guard let icon = record else { return nil }
        let images = book.catalog.images
        let image = icon.image.map(images.image)
        let response = book.catalog.icons.response(of: url)?.unpacked
        let plan = FetchPlan(for: icon, with: image?.sha256, now: now)
        var report = IconReport(
            url: url, icon: icon, image: image, known: response, health: { book.downloads.origins[$0] },
            queue: (book.downloads.queue.readyCount, book.downloads.isPaused), turn.wallClock, now: now)
        report.holds = holds(of: url, icon, origin: report.origin, now: now)
        switch plan {
        case .fresh(let time): report.rule = response.map { book.refreshPolicy.reason(for: $0, askingAt: time) }
        case .waiting:
            report.rule = icon.failure.map(book.downloads.backoff.reason)
            if icon.failure?.code == .fetch(.networkLogin), book.downloads.networkLogin.isWaiting(url) {
                report.next += ", or as soon as a server answers"
            }
        default: break
        }
        if !icon.isInline { addSources(of: icon, response, plan, to: &report, now: now) }
        if let last = book.catalog.lastImage(for: url) {
            report.previous = IconReport.Previous(
                url: last.url, path: images.image(last.image).path,
                since: last.since.map { turn.wallClock.time(of: $0).description },
                lists: book.catalog.lists(replacing: url))
        }
        if book.renditions.isOn,
            let image = images.digest(icon.image ?? book.catalog.lastImage(for: url)?.image)
        {
            report.renditions = book.renditions.renditions(of: image).map {
                IconReport.Rendition(size: $0.size.description, path: $0.image.path)
            }
            report.renderFailure = book.renditions.records.failure(of: image)
            report.isRenderPending = book.renditions.standing(of: image) == .pending
        }
        report.key = book.settings.keys.key(of: url).map { "\(LogURL($0))" }
        if icon.isReferenced, !book.isRequested(url) {
            let isNewest = book.keyGroups.requested(for: url)?.rank != .credentialed
            report.next =
                isNewest
                ? "with the newest URL of the same key"
                : "with the URL of the same key that a list with a credential names"
        }
        report.mutes = reportedMutes(of: url, in: icon.lists)
        report.shownFor = shown.sorted { $0.key < $1.key }.map { IconReport.Shown(url: $0, lists: $1.sorted()) }
        return report
    }

    private func addSources(
        of icon: IconRecord, _ response: StoredResponse?, _ plan: FetchPlan, to report: inout IconReport, now: Timestamp
    ) {
        if let response,
            let (source, freshness) = book.sources.provenance(of: response, path: report.path, at: now)
        {
            report.source = source
            report.response?.freshness = freshness
            report.rule = freshness
        }
        guard !book.sources.isEmpty else { return }
        report.upstreams = book.sources.opinions(on: icon.sought(at: report.url, in: book.catalog.images), at: now)
        if case .fetch = plan, let next = book.sources.next(for: report.url) {
            report.next = next + (book.downloads.isPaused ? ", if downloads are resumed by then" : "")
        }
        if icon.failure?.attempts == 0, case .waiting = plan {
            report.next += IconSources.untilAnotherState
            report.rule = IconSources.failureRule
        }
    }

    private func holds(
        of url: IconURL, _ icon: IconRecord, origin: IconReport.Origin?, now: Timestamp
    ) -> [IconReport.Hold] {
        guard icon.isReferenced, !icon.isInline || icon.image == nil else { return [] }
        let isWanted: Bool
        switch icon.phase {
        case .fetching: return []
        case .staged:
            let failure = book.publishing.failure(of: book.catalog.icons.id(of: url))
            return failure.map { [IconReport.Hold(code: "publication-failed", reason: $0)] } ?? []
        case .queued, .blocked: isWanted = true
        case .idle: isWanted = icon.image == nil || icon.failure != nil
        }
        guard isWanted else { return [] }
        var holds: [IconReport.Hold] = []
        if book.isHeldUp, let reason = book.publishing.failure {
            holds.append(IconReport.Hold(code: "publication-failed", reason: reason))
        }
        if book.downloads.isPaused {
            let reasons = StatusReport.Downloads.text(of: reportedPauses).map { " (\($0))" } ?? ""
            holds.append(
                IconReport.Hold(code: "paused", reason: "downloads are paused\(reasons): run syncagent resume"))
        }
        if let reason = book.space.reason, icon.phase == .blocked || !book.space.isOpen {
            holds.append(IconReport.Hold(code: book.space.waitsFor?.code.rawValue ?? "disk-full", reason: reason))
        }
        if icon.phase == .idle, book.sources.isWaiting(url), !isComing(url) {
            holds.append(IconReport.Hold(code: "no-upstream", reason: book.sources.reasonToWait(images: 1)))
        }
        if let origin, let time = origin.waitsUntil {
            // Before the circuit breaker opens, only an answer that asks for it makes an origin wait.
            let isAsked = origin.failures < OriginHealth.threshold
            let cause = isAsked ? "as the server asked" : "after \(grouped(origin.failures)) failures in a row"
            holds.append(
                IconReport.Hold(code: "origin-waiting", reason: "no request to \(origin.name) until \(time), \(cause)"))
        }
        return holds
    }
}

extension Backoff {
    /// The rule that sets the time of a failure's retry, as a clause.
    func reason(for failure: IconRecord.Failure) -> String {
        let failures = failure.attempts > 1 ? "\(grouped(failure.attempts)) failures in a row" : "one failure"
        if failure.code == .fetch(.networkLogin) {
            return "\(failures): a few icons each minute, for an hour, and all when a server answers"
        }
        let short =
            "a random delay of at most fetch.retryBase (\(DurationText.format(base))), doubled for each failure up to "
            + "fetch.retryMax (\(DurationText.format(max)))"
        let rule =
            switch failure.persistence {
            case .passing, .throttled: "\(failures): \(short)"
            case .momentary where failure.attempts <= Self.momentaryAttempts:
                "\(failures): \(short); from failure \(Self.momentaryAttempts + 1) on 1 h, doubled up to 1 day"
            case .momentary:
                "\(failures), probably lasting: 1 h at failure \(Self.momentaryAttempts + 1), doubled for each more up to "
                    + "1 day"
            case .lasting: "\(failures), probably lasting: 1 h, doubled for each failure up to 1 day"
            case .forbidden: "the server refuses access: 6 h"
            case .gone: "the server says that it is gone: 7 days"
            case .refused: "the URL is refused"
            }
        // The server may have asked for a delay, but the delay is not stored with the failure.
        guard case .http = failure.code, failure.persistence.allowsWait else { return rule }
        let condition = failure.attempts > Self.shortWaits ? "if that is longer" : "if it did"
        return rule + "; or as long as the server asked, \(condition) (Retry-After)"
    }
}

extension RefreshPolicy {
    /// The rule that sets the time of an image's refresh, as a clause.
    func reason(for response: StoredResponse, askingAt time: Timestamp) -> String {
        let freshness = Freshness(of: response, longestGuess: longestGuess)
        let earliest = freshness.receivedAt + minimum
        var (end, isRedirect) = (freshness.end, freshness.endsWithRedirect)
        if freshness.basis == .unsaid, !freshness.hasValidator {
            let redirect = freshness.redirectLifetime.map { freshness.receivedAt + $0 }
            guard let redirect, redirect < freshness.receivedAt + `default` * 0.8 else {
                if time == earliest {
                    return "refresh.minimum (\(DurationText.format(minimum))) is longer than refresh.default"
                }
                return "refresh.default (\(DurationText.format(`default`)) ± 20 %), because the server says nothing"
            }
            (end, isRedirect) = (redirect, true)
        }
        let its = isRedirect ? "the freshness of the redirect to it" : "its freshness"
        let (due, rule) =
            if end < earliest {
                (earliest, "refresh.minimum (\(DurationText.format(minimum))) is longer than \(its)")
            } else if end > freshness.receivedAt + maximum {
                (freshness.receivedAt + maximum, "an image is kept for \(DurationText.format(maximum)) at most")
            } else {
                (end, "\(its) ends")
            }
        let spread = (time - due).components.seconds
        return spread < 1 ? rule : rule + "; \(spread) s later, to spread requests"
    }
}
