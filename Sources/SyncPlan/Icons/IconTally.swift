// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules

/// Counts of the icons of a list, or of all lists, updated with each change.
struct IconTally: Equatable, Sendable {
    /// Each icon once, by its status as readers see it.
    private(set) var icons = IconCounts()
    /// Each icon as often as the list names it.
    private(set) var entries = IconCounts()
    private(set) var staged = 0
    /// The bytes of the icons' images, staged ones in place of those on disk.
    private(set) var bytes = 0
    /// The bytes of staged images.
    private(set) var stagedBytes = 0
    /// Icons that are being downloaded, without routine refreshes.
    private(set) var fetching = 0
    /// Queued icons by origin, without routine refreshes.
    private(set) var queued: [String: Int] = [:]
    /// The number of additional entries of each icon that the list names several times.
    private(set) var repeats: [IconID: Int] = [:]

    /// Counts an icon in (`sign` is 1) or out (-1).
    mutating func count(_ icon: IconFacets, at id: IconID, _ sign: Int) {
        icons.add(icon.shownStanding, times: sign)
        entries.add(icon.shownStanding, times: sign * (1 + (repeats.isEmpty ? 0 : repeats[id] ?? 0)))
        // Documents on disk may say any size.
        bytes &+= sign &* icon.bytes
        if icon.hasStaged {
            staged += sign
            stagedBytes &+= sign &* icon.bytes
        }
        guard !icon.isRoutine else { return }
        switch icon.work {
        case .none, .blocked: break
        case .fetching: fetching += sign
        case .queued(let origin): queued.count(origin, sign)
        }
    }

    /// Counts an icon that has changed.
    mutating func recount(_ id: IconID, from before: IconFacets, to after: IconFacets) {
        count(before, at: id, -1)
        count(after, at: id, 1)
    }

    /// Counts icons that a new version names several times; `standing` gives the shown status of icons counted already,
    /// `nil` for others.
    mutating func setRepeats(in icons: [IconID], standing: (IconID) -> AppListDocument.Status?) {
        var seen: Set<IconID> = []
        seen.reserveCapacity(icons.count)
        var new: [IconID: Int] = [:]
        for icon in icons where !seen.insert(icon).inserted { new[icon, default: 0] += 1 }
        for icon in Set(new.keys).union(repeats.keys) {
            guard let standing = standing(icon) else { continue }
            entries.add(standing, times: (new[icon] ?? 0) - (repeats[icon] ?? 0))
        }
        repeats = new
    }
}

/// Counts of all icons, updated with each change.
struct CatalogTally: Equatable, Sendable {
    /// The referenced icons, each once.
    private(set) var all = IconTally()
    private(set) var stale = 0
    /// Failed icons with a retry due later.
    private(set) var retried = 0
    /// Icons without an image that wait for disk space.
    private(set) var waitingForSpace = 0
    /// Queued icons without an image, by origin.
    private(set) var blank: [String: Int] = [:]
    /// Icons without an image that wait for a source.
    private(set) var awaited = 0
    /// Icons with a due time, whether referenced or not.
    private(set) var scheduled = 0
    /// Icons without an image that failed, by code.
    private(set) var failures: [FetchFailure.Code: IconGroup] = [:]
    /// Icons whose last refresh failed, by code.
    private(set) var refreshFailures: [FetchFailure.Code: IconGroup] = [:]
    /// Icons without an image that no source will have soon, by reason.
    private(set) var sourceLacks: [SourceLack: IconGroup] = [:]

    /// Counts an icon that has changed.
    mutating func recount(_ id: IconID, from before: IconFacets, to after: IconFacets) {
        count(before, at: id, -1)
        count(after, at: id, 1)
    }

    /// Moves an icon between the groups of those that failed for one reason.
    mutating func regroup(_ url: IconURL, from before: IconFacets, to after: IconFacets) {
        Self.move(url, from: before.missingFailure, to: after.missingFailure, in: &failures)
        Self.move(url, from: before.refreshFailure, to: after.refreshFailure, in: &refreshFailures)
        Self.move(url, from: before.sourceLack, to: after.sourceLack, in: &sourceLacks)
    }

    private static func move<Key: Hashable>(
        _ url: IconURL, from before: Key?, to after: Key?, in groups: inout [Key: IconGroup]
    ) {
        guard before != after else { return }
        if let before {
            groups[before]?.remove(url)
            if groups[before]?.count == 0 { groups[before] = nil }
        }
        if let after { groups[after, default: IconGroup()].insert(url) }
    }

    private mutating func count(_ icon: IconFacets, at id: IconID, _ sign: Int) {
        if icon.isScheduled { scheduled += sign }
        guard icon.isReferenced else { return }
        all.count(icon, at: id, sign)
        if icon.isStale { stale += sign }
        if icon.isRetried { retried += sign }
        guard icon.standing == .pending else { return }
        switch icon.work {
        case .none: awaited += sign
        case .fetching: break
        case .blocked: waitingForSpace += sign
        case .queued(let origin): blank.count(origin, sign)
        }
    }
}

/// Icons that have something in common, such as a failure code.
struct IconGroup: Equatable, Sendable {
    private(set) var urls: Set<IconURL> = []
    /// The first URL in order; `nil` once that icon has left the group.
    private var first: IconURL?

    /// The first of them by URL: the same one for each process that is asked, as long as it is in the group.
    ///
    /// - Complexity: O(*n*) in the number of icons after the first one has left, O(1) before.
    var example: IconURL { first ?? urls.min() ?? IconURL("") }

    var count: Int { urls.count }

    /// All icons of the group, sorted.
    var sorted: [IconURL] { urls.sorted() }

    mutating func insert(_ url: IconURL) {
        if urls.isEmpty { first = url } else if let known = first { first = min(known, url) }
        urls.insert(url)
    }

    mutating func remove(_ url: IconURL) {
        urls.remove(url)
        if url == first { first = nil }
    }
}

extension [String: Int] {
    /// Adds to a count; removes it at zero.
    fileprivate mutating func count(_ key: String, _ number: Int) {
        let sum = self[key, default: 0] + number
        self[key] = sum == 0 ? nil : sum
    }
}
