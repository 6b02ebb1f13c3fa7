// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension Reconciler {
    /// What there is to tell of one URL; `nil` if nothing is known of it.
    package func report(on url: IconURL, now: Timestamp) -> IconReport? {
        guard let icon = catalog.icons[url] else { return nil }
        var report = IconReport(url: url, icon: icon, health: { downloads.origins[$0] }, now: now)
        report.holds = holds(of: icon, origin: report.origin, now: now)
        if case .fresh(let time) = FetchPlan(for: icon, now: now), let response = icon.response {
            report.rule = refreshPolicy.reason(for: response, askingAt: time)
        }
        return report
    }

    /// Why an icon that is wanted is not being downloaded.
    private func holds(of icon: IconRecord, origin: IconReport.Origin?, now: Timestamp) -> [IconReport.Hold] {
        guard icon.isReferenced, icon.staged == nil, !icon.isInline || icon.image == nil else { return [] }
        let isWanted: Bool
        switch icon.phase {
        case .fetching: return []
        case .queued, .waitingForSpace: isWanted = true
        case .idle: isWanted = icon.image == nil || icon.failure != nil
        }
        guard isWanted else { return [] }
        var holds: [IconReport.Hold] = []
        if downloads.isPaused {
            holds.append(IconReport.Hold(code: "paused", reason: "downloads are paused: run syncagent resume"))
        }
        if let reason = space.reason, icon.phase == .waitingForSpace || !space.isOpen {
            holds.append(IconReport.Hold(code: space.code?.rawValue ?? "disk-full", reason: reason))
        }
        if let origin, let time = origin.waitsUntil {
            let cause =
                origin.failures == 0 ? "as the server asked" : "after \(counted(origin.failures, "failure")) in a row"
            holds.append(
                IconReport.Hold(code: "origin-waiting", reason: "no request to \(origin.name) until \(time), \(cause)"))
        }
        return holds
    }
}

extension RefreshPolicy {
    /// Why an image is refreshed at a time and not at another one, as a clause.
    func reason(for response: StoredResponse, askingAt time: Timestamp) -> String {
        let freshness = Freshness(of: response, longestGuess: longestGuess)
        let earliest = freshness.receivedAt + minimum
        if freshness.basis == .unsaid, !freshness.hasValidator {
            return "refresh.default (\(DurationText.format(`default`)) ± 20 %), because the server says nothing"
        }
        let (due, rule) =
            if freshness.end < earliest {
                (earliest, "refresh.minimum (\(DurationText.format(minimum))) is longer than its freshness")
            } else if freshness.end > freshness.receivedAt + maximum {
                (freshness.receivedAt + maximum, "an image is kept for \(DurationText.format(maximum)) at most")
            } else {
                (freshness.end, "its freshness ends")
            }
        let spread = (time - due).components.seconds
        return spread < 1 ? rule : rule + "; \(spread) s later, to spread requests"
    }
}
