// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import Fleet
import HTTPRules

// Icons that are requested now because somebody said so.
extension Reconciler {
    /// The icons of a selection.
    ///
    /// - Complexity: O(*n*) in the number of lists and URLs that are named; in that of all icons for those that failed
    ///   or wait for their origin.
    package func selected(by selection: IconSelection) -> SelectedIcons {
        var report = SelectionReport()
        report.unknown = selection.urls.filter { catalog.icons.index(of: $0) == nil }
        report.missing = selection.lists.filter { catalog.lists[$0] == nil }
        var urls = selection.urls
        if selection.failed {
            urls += catalog.icons.lazy.map(\.url).filter { isDue($0, isRefresh: false) }
        }
        return SelectedIcons(
            urls: urls, entries: selection.lists.compactMap { catalog.lists[$0]?.entries }, report: report)
    }

    /// How many of these icons a retry or a refresh would request.
    package func countDue(_ urls: [IconURL], isRefresh: Bool) -> Int {
        urls.count { isDue($0, isRefresh: isRefresh) }
    }

    /// Whether an icon waits for a retry or for its origin; or, for a refresh, whether it has an image that a server has.
    private func isDue(_ url: IconURL, isRefresh: Bool) -> Bool {
        guard let icon = catalog.icons[url], icon.isReferenced else { return false }
        switch icon.phase {
        case .queued(_, let origin): return downloads.queue.isHeld(origin: origin)
        case .fetching, .waitingForSpace: return false
        case .idle:
            return !icon.hasStaged
                && (icon.hasFailed || sources.isWaiting(url) || isRefresh && icon.hasImage && !icon.isInline)
        }
    }

    /// Requests icons now that failed, or whose origin has to wait; for a refresh, also those that are fresh.
    ///
    /// Permanent failures are tried again, and the backoff of the origins is over. Who is paused stays so.
    mutating func request(_ urls: [IconURL], isRefresh: Bool, now: Timestamp) {
        let urls = urls.filter { isDue($0, isRefresh: isRefresh) }
        downloads.forgive(Set(urls.compactMap(origin)), at: now, noting: &unstored)
        if !urls.isEmpty { sources.pollNow(at: now) }
        for url in urls {
            sources.waive(url, at: now)
            catalog.updateIcon(url) {
                $0.failure?.nextAttempt = now
                if isRefresh { $0.freshUntil = min($0.freshUntil, now) }
            }
            unstored.note(icon: url, at: now)
            consider(url, now: now)
            downloads.raise(url)
        }
    }

    private func origin(of url: IconURL) -> String? {
        if case .queued(_, let origin)? = catalog.icons[url]?.phase { return origin }
        return (try? FetchTarget(url.text))?.origin
    }
}
