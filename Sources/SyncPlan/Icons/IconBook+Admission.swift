// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules

/// The limits on the bytes of images that were reached: no icon without an image is requested before there is more room.
///
/// Images that are there stay, and are refreshed: to evict what lists name would only make room for what comes later.
struct Admission: Sendable {
    /// A limit: that of the cache, or of a list.
    enum Limit: Hashable, Sendable {
        case cache
        case list(ListName)
    }

    /// How many icons are requested at once after there was room again.
    static let batch = 64

    /// The room under each limit when an image did not fit.
    fileprivate(set) var closed: [Limit: Int] = [:]
}

extension IconBook {
    /// Why an icon without an image may not get one of this size (`nil`: unknown); `nil` if it may.
    ///
    /// A list has room or not; an icon needs room in one of its lists.
    mutating func refusal(of url: IconURL, bytes: Int? = nil) -> FetchFailure? {
        guard settings.cache.maxBytes != nil || settings.lists.maxBytesPerList != nil,
            let lists = catalog.icons[url]?.lists
        else { return nil }
        if let limit = settings.cache.maxBytes, isFull(.cache, for: bytes) {
            return FetchFailure(.overLimit, "the cache has reached cache.maxBytes (\(limit))")
        }
        guard let limit = settings.lists.maxBytesPerList, !lists.isEmpty else { return nil }
        for list in lists where !isFull(.list(list), for: bytes) { return nil }
        return FetchFailure(
            .overLimit,
            "\(lists.count == 1 ? "its list has" : "its lists have") reached lists.maxBytesPerList (\(limit))")
    }

    /// Whether a limit is reached; if the image does not fit, it is from then on.
    private mutating func isFull(_ limit: Admission.Limit, for bytes: Int?) -> Bool {
        guard let room = room(under: limit) else { return false }
        if bytes == nil, let last = admission.closed[limit], room <= last { return true }
        guard room < bytes ?? 1 else { return false }
        admission.closed[limit] = room
        return true
    }

    private func room(under limit: Admission.Limit) -> Int? {
        switch limit {
        case .cache:
            settings.cache.maxBytes.map {
                $0.bytes - retention.ledger.holdings.bytes - catalog.tally.all.stagedBytes
            }
        case .list(let list): settings.lists.maxBytesPerList.map { $0.bytes - (catalog.tallies[list]?.bytes ?? 0) }
        }
    }

    /// Requests some of the icons that waited for room, once there is more.
    mutating func admit(in turn: inout Turn) {
        guard let waiting = catalog.tally.failures[.fetch(.overLimit)], downloads.mayStart,
            downloads.queue.readyCount + downloads.queue.activeCount < Admission.batch
        else { return }
        for (limit, last) in admission.closed where room(under: limit).map({ $0 > last }) ?? true {
            admission.closed[limit] = nil
        }
        var count = 0
        for url in waiting.sorted where refusal(of: url) == nil {
            apply(.retried(turn.now), to: url, in: &turn)
            count += 1
            if count == Admission.batch { return }
        }
    }
}
