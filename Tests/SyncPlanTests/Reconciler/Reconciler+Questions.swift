// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

@testable import Reports
@testable import SyncPlan

extension Reconciler {
    /// Takes one event in.
    mutating func handle(_ event: Event, now: Timestamp) -> [Action] { handle([event], now: now) }

    /// What is known of one icon.
    func icon(_ url: IconURL) -> IconRecord? { book.catalog.icons[url] }

    /// The response that brought or confirmed the image on disk of an icon.
    func response(of url: IconURL) -> StoredResponse? { book.catalog.icons.response(of: url)?.unpacked }

    /// The image of an icon that is on disk.
    func image(of url: IconURL) -> AppListDocument.Image? { icon(url)?.image.map(book.catalog.images.image) }

    /// The names of renditions that wait to be published.
    var stagedRenditions: Set<String> { Set(book.renditions.staged.waitingImages.map(\.name)) }

    /// What goes and what stays.
    func evictionReport(on url: IconURL? = nil, now: Timestamp) -> EvictionReport {
        evictionSnapshot(of: url, now: now).report()
    }
}

extension FetchQueue {
    /// How many URLs wait for their turn, or for their origin.
    var queuedCount: Int { heldCount + readyCount }
}

extension IconRecord {
    /// Whether it is queued, and its origin has to wait.
    func isHeld(in queue: FetchQueue) -> Bool {
        if case .queued(_, let origin) = phase { queue.isHeld(origin: origin) } else { false }
    }
}
