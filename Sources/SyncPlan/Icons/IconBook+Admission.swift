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

    /// The least room that would have let an image in, for each limit under which one did not fit since it opened last.
    fileprivate var closed: [Limit: Int] = [:]
    /// Whether a limit opened again since ``rest`` was filled.
    fileprivate var isOpened = false
    /// The icons that waited when a limit opened last and were not tried since, the next one last.
    fileprivate var rest: [IconURL] = []
}

extension IconBook {
    /// Why an icon without an image may not get one of this size (`nil`: not downloaded yet); `nil` if it may.
    ///
    /// An icon needs room in one of its lists. An image that is on disk already needs no room in the cache; nor does one
    /// in whose place an app shows a last image that leaves once the new one is there.
    mutating func refusal(of url: IconURL, bytes: Int? = nil, isOnDisk: Bool = false) -> FetchFailure? {
        guard settings.cache.maxBytes != nil || settings.lists.maxBytesPerList != nil,
            let lists = catalog.icons[url]?.lists
        else { return nil }
        let limits: [Admission.Limit] = (isOnDisk ? [] : [.cache]) + lists.map { .list($0) }
        if let bytes, let limit = limits.compactMap(self.bytes(of:)).min(), bytes > limit {
            // No room would be enough: a later attempt is to see whether the image is still as large.
            return FetchFailure(
                .tooLarge,
                "the image (\(ByteCount(bytes).rounded)) is larger than cache.maxBytes or lists.maxBytesPerList")
        }
        let known = bytes ?? catalog.icons[url]?.failure?.imageBytes
        if !isOnDisk, !catalog.isReplacedAlone(url), isFull(.cache, for: known) {
            return overLimit(.cache, "the cache", "cache.maxBytes", known)
        }
        for list in lists where !isFull(.list(list), for: known) { return nil }
        return lists.first.map { overLimit(.list($0), "\($0)", "lists.maxBytesPerList", known) }
    }

    /// The size of the largest image for which an icon without one has room, in bytes; `nil` if that is not limited.
    func room(for id: IconID) -> Int? {
        let icon = catalog.icons[id].icon
        guard settings.cache.maxBytes != nil || settings.lists.maxBytesPerList != nil, !icon.hasImage else {
            return nil
        }
        let cache = catalog.isReplacedAlone(catalog.icons.url(of: id)) ? nil : room(under: .cache)
        let lists = icon.lists.map { room(under: .list($0)) ?? .max }.max()
        return [cache, lists].compactMap(\.self).min()
    }

    private func overLimit(_ limit: Admission.Limit, _ what: String, _ key: String, _ bytes: Int?) -> FetchFailure {
        let total = self.bytes(of: limit) ?? 0
        let image = bytes.map { "\(ByteCount($0).rounded) more do" } ?? "more does"
        return .overLimit("\(image) not fit into \(what): \(key) is \(ByteCount(total))", imageBytes: bytes)
    }

    /// Whether an image does not fit; while its size is unknown, a part of the limit must be free.
    private mutating func isFull(_ limit: Admission.Limit, for bytes: Int?) -> Bool {
        guard let room = room(under: limit), let total = self.bytes(of: limit) else { return false }
        let need = bytes ?? min(DiskSpace.usual, total / 16)
        guard room < need else { return false }
        admission.closed[limit] = min(admission.closed[limit] ?? need, need)
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
        guard !admission.closed.isEmpty || admission.isOpened || !admission.rest.isEmpty,
            catalog.tally.failures[.fetch(.overLimit)] != nil
        else { return }
        for (limit, need) in admission.closed where room(under: limit).map({ $0 >= need }) ?? true {
            admission.closed[limit] = nil
            admission.isOpened = true
        }
        guard admission.isOpened || !admission.rest.isEmpty, downloads.mayStart,
            downloads.queue.readyCount + downloads.queue.activeCount < Admission.batch
        else { return }
        if admission.isOpened {
            admission.rest = catalog.tally.failures[.fetch(.overLimit)]?.sorted.reversed() ?? []
            admission.isOpened = false
        }
        var places = Admission.batch
        while places > 0, let url = admission.rest.popLast() {
            // One with a next attempt was requested already, and waits for its origin or a source.
            guard let icon = catalog.icons[url], icon.failure?.code == .fetch(.overLimit), icon.phase == .idle,
                icon.failure?.nextAttempt == nil, isRequested(url), refusal(of: url) == nil
            else { continue }
            apply(.retried(turn.now), to: url, in: &turn)
            places -= 1
        }
    }
}
