// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules

/// The limits on the bytes of images that were reached: an image that did not fit is requested when there is more room.
///
/// Images on disk stay, and are refreshed: evicting referenced images would only make room for later ones.
struct Admission: Sendable {
    /// The limit of the cache, or of a list.
    enum Limit: Hashable, Sendable {
        case cache
        case list(ListName)
    }

    /// How many icons are requested at once when there is room again.
    static let batch = 64

    /// The room under each limit when an image did not fit last.
    fileprivate(set) var closed: [Limit: Int] = [:]
    /// The sizes of images that did not fit, which are not downloaded again before they do.
    fileprivate var needs: [IconURL: Int] = [:]
    /// Whether icons that wait may be requested: a limit opened again, or there were more than one batch.
    fileprivate var isDue = false
}

extension IconBook {
    /// Why an icon without an image may not get one of this size (`nil`: not downloaded yet); `nil` if it may.
    ///
    /// An icon needs room in one of its lists. An image that is on disk already needs no room in the cache.
    mutating func refusal(of url: IconURL, bytes: Int? = nil, isOnDisk: Bool = false) -> FetchFailure? {
        guard settings.cache.maxBytes != nil || settings.lists.maxBytesPerList != nil,
            let lists = catalog.icons[url]?.lists
        else { return nil }
        if let bytes { admission.needs[url] = bytes }
        let limits: [Admission.Limit] = (isOnDisk ? [] : [.cache]) + lists.map { .list($0) }
        if let bytes, let limit = limits.compactMap(self.bytes(of:)).min(), bytes > limit {
            return FetchFailure(
                .tooLarge,
                "the image (\(ByteCount(bytes).rounded)) is larger than cache.maxBytes or lists.maxBytesPerList")
        }
        let known = bytes ?? admission.needs[url]
        if !isOnDisk, isFull(.cache, for: known) { return overLimit(.cache, "the cache", "cache.maxBytes", known) }
        for list in lists where !isFull(.list(list), for: known) {
            if bytes != nil { admission.needs[url] = nil }
            return nil
        }
        return lists.first.map { overLimit(.list($0), "\($0)", "lists.maxBytesPerList", known) }
    }

    private func overLimit(_ limit: Admission.Limit, _ what: String, _ key: String, _ bytes: Int?) -> FetchFailure {
        let total = self.bytes(of: limit) ?? 0
        let used = ByteCount(max(total &- (room(under: limit) ?? 0), 0)).rounded
        let image = bytes.map { "\(ByteCount($0).rounded) more do" } ?? "more does"
        return FetchFailure(
            .overLimit, "\(image) not fit into \(what): its images have \(used), and \(key) is \(ByteCount(total))")
    }

    /// Whether an image does not fit; while its size is unknown, a part of the limit must be free.
    private mutating func isFull(_ limit: Admission.Limit, for bytes: Int?) -> Bool {
        guard let room = room(under: limit), let total = self.bytes(of: limit) else { return false }
        guard room < bytes ?? min(DiskSpace.usual, total / 16) else { return false }
        admission.closed[limit] = room
        return true
    }

    private func bytes(of limit: Admission.Limit) -> Int? {
        switch limit {
        case .cache: settings.cache.maxBytes?.bytes
        case .list: settings.lists.maxBytesPerList?.bytes
        }
    }

    private func room(under limit: Admission.Limit) -> Int? {
        guard let bytes = bytes(of: limit) else { return nil }
        switch limit {
        case .cache: return bytes &- catalog.images.holdings.bytes &- catalog.tally.all.stagedBytes
        case .list(let list): return bytes &- (catalog.tallies[list]?.bytes ?? 0)
        }
    }

    /// Requests some of the icons that waited for room, once there is more.
    mutating func admit(in turn: inout Turn) {
        guard !admission.closed.isEmpty || admission.isDue, let waiting = catalog.tally.failures[.fetch(.overLimit)]
        else { return }
        if admission.needs.count > waiting.count + Admission.batch {
            admission.needs = admission.needs.filter { waiting.contains($0.key) }
        }
        for (limit, last) in admission.closed where room(under: limit).map({ $0 > last }) ?? true {
            admission.closed[limit] = nil
            admission.isDue = true
        }
        guard admission.isDue, downloads.mayStart,
            downloads.queue.readyCount + downloads.queue.activeCount < Admission.batch
        else { return }
        admission.isDue = false
        var count = 0
        for url in waiting.sorted {
            // An icon with a next attempt was requested already, and waits for its origin or a source.
            guard let icon = catalog.icons[url], icon.phase == .idle, icon.failure?.nextAttempt == nil,
                refusal(of: url) == nil
            else { continue }
            apply(.retried(turn.now), to: url, in: &turn)
            count += 1
            guard count == Admission.batch else { continue }
            admission.isDue = true
            return
        }
    }
}
