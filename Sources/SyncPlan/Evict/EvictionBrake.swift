// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat

/// Holds an eviction that looks like a mistake, until a user confirms it or it is old enough.
///
/// An emptied folder, an unmounted disk, or a program that wrote half of its lists looks like a request to remove most
/// of the cache. Held images stay on disk, so that lists that come back find them.
package struct EvictionBrake: Equatable, Sendable {
    /// A change that retired too much at once, or after others.
    package struct Hold: Codable, Equatable, Sendable {
        package var since: Timestamp
        /// The newest generation that may name the retired images; it and older ones are retained.
        package var generation: Int
        package var images: Int
        package var total: Int
        /// Whether a user confirmed the eviction, or the hold is old enough.
        package var isConfirmed = false
        /// Whether it took the place of an earlier hold, which lasts longer for that: no later one takes its place.
        fileprivate(set) var isProlonged: Bool?

        package init(since: Timestamp, generation: Int, images: Int, total: Int, isConfirmed: Bool = false) {
            (self.since, self.generation, self.isConfirmed) = (since, generation, isConfirmed)
            (self.images, self.total) = (images, total)
        }
    }

    private(set) var settings: Settings.Eviction
    /// The holds, the oldest first, each while images that were retired by then are on disk; the first one may be
    /// confirmed.
    private(set) var holds: [Hold]
    /// The most images that were shown at once since the last change that was held, less those that are not on disk any
    /// more, or that a user unpinned; 0 if no change has retired an image.
    private(set) var peak: Int

    init(_ settings: Settings.Eviction, holds: [Hold] = [], peak: Int = 0) {
        (self.settings, self.holds, self.peak) = (settings, holds, peak)
        configure(settings)
    }

    /// Applies settings; a change that they would not hold is not held any more, as if it were confirmed.
    mutating func configure(_ settings: Settings.Eviction) {
        self.settings = settings
        let last = unconfirmed.last
        holds.removeAll { !$0.isConfirmed && !settings.holdAbove.isExceeded(by: $0.images, of: $0.total) }
        guard var last, unconfirmed.isEmpty else { return }
        last.isConfirmed = true
        holds = [last]
    }

    private var unconfirmed: ArraySlice<Hold> { holds.drop(while: \.isConfirmed) }

    /// One hold with the images of all unconfirmed holds, and the time of the last one; `nil` if there is none.
    var heldNow: Hold? {
        guard var hold = unconfirmed.last else { return nil }
        hold.add(unconfirmed.dropLast())
        return hold
    }

    /// When the first hold ends by itself; `nil` if nothing is held.
    var end: Timestamp? { unconfirmed.first.map { $0.since + settings.holdFor } }

    /// The generations that are held; `nil` if there are none.
    var held: ClosedRange<Int>? {
        guard let last = unconfirmed.last else { return nil }
        return Self.first(after: holds.first { $0.isConfirmed }, before: last)...last.generation
    }

    /// When the hold of a generation ends by itself; `nil` if the generation is not held.
    func end(of generation: Int) -> Timestamp? {
        guard held?.contains(generation) == true else { return nil }
        return unconfirmed.first { generation <= $0.generation }.map { $0.since + settings.holdFor }
    }

    /// Records a change of the lists that retired some of `total` images, and left `shown`.
    ///
    /// `generation` is the newest before it, and `published` the newest that is on disk, if a publication failed or is in
    /// flight. Returns whether the change is held. What comes after it is judged by what is shown then.
    @discardableResult
    mutating func recordChange(
        retiring images: Int, of total: Int, leaving shown: Int, generation: Int, published: Int? = nil,
        at now: Timestamp
    ) -> Bool {
        guard settings.holdAbove.isExceeded(by: images, of: total) else { return false }
        let hold = Hold(since: now, generation: generation, images: images, total: total)
        append(hold, first: min(published ?? generation, generation))
        peak = shown
        return true
    }

    /// Appends a hold of all generations from the first one on; an earlier hold of some of them is part of it.
    private mutating func append(_ hold: Hold, first: Int) {
        var hold = hold
        let joined = unconfirmed.drop { $0.generation < first }
        hold.add(joined)
        if joined.contains(where: { $0.isProlonged == true }) { hold.isProlonged = true }
        holds.removeAll { $0.generation >= first }
        holds.append(hold)
    }

    /// Records that a change lowered the number of images shown: several small changes may be one mistake.
    ///
    /// Each new image that is shown makes up for a retired one: a list whose apps come and go does not decline. The hold
    /// takes the place of the one before it, because the generations between the changes may be gone already: only those
    /// that are held name their images. That one is prolonged once.
    ///
    /// - Parameters:
    ///   - before: How many images were shown before the change.
    ///   - shown: How many are shown now.
    ///   - retired: How many images are on disk that were retired without a replacement.
    ///   - generation: The newest generation, which names all images that are shown when the hold begins.
    ///   - published: The newest generation that is on disk, if it is an earlier one.
    ///   - now: The current time.
    mutating func recordDecline(
        from before: Int, to shown: Int, retired: Int, generation: Int, published: Int? = nil, at now: Timestamp
    ) {
        peak = min(max(peak, before), shown + retired)
        guard settings.holdAbove.isExceeded(by: peak - shown, of: peak) else { return }
        var hold = Hold(since: now, generation: generation, images: peak - shown, total: peak)
        let last = unconfirmed.last.flatMap { $0.isProlonged == true ? nil : $0.generation }
        if last != nil { hold.isProlonged = true }
        append(hold, first: min(last ?? generation, published ?? generation))
        peak = shown
    }

    /// Lowers the peak by images that a user unpinned; `shown` and `retired` are as for a decline.
    mutating func recordUnpinned(_ images: Int, shown: Int, retired: Int) {
        peak = max(min(peak, shown + retired) - images, 0)
    }

    /// Ends each hold whose retired images are named again, or are gone: `isOver` says so of those that some generations
    /// name.
    ///
    /// - Returns: For each hold that ended without a confirmation, its generations, and a time that is not after the hold's
    ///   beginning.
    mutating func review(isOver: (ClosedRange<Int>) -> Bool) -> [(generations: ClosedRange<Int>, since: Timestamp)] {
        var ended: [(ClosedRange<Int>, Timestamp)] = []
        holds = holds.reduce(into: []) { kept, hold in
            let generations = Self.first(after: kept.last, before: hold)...hold.generation
            if !isOver(generations) {
                kept.append(hold)
            } else if !hold.isConfirmed {
                // The hold before a prolonged one began up to so much earlier.
                let began = hold.isProlonged == true ? hold.since + (.zero - settings.holdFor) : hold.since
                ended.append((generations, began))
            }
        }
        return ended
    }

    /// The first generation that a hold retains if there was another one before it.
    private static func first(after last: Hold?, before hold: Hold) -> Int {
        last.map { min($0.generation + 1, hold.generation) } ?? 0
    }

    /// Extends the holds by a sleep of the system, during which no user could see them.
    mutating func recordSleep(_ time: Duration) {
        for index in holds.indices { holds[index].since = holds[index].since + time }
    }

    mutating func advance(to now: Timestamp) {
        while let end, end <= now { confirm(unconfirmed.startIndex) }
    }

    /// Confirms all that is held, for a user.
    mutating func confirm() {
        if !unconfirmed.isEmpty { confirm(holds.count - 1) }
        peak = 0
    }

    /// Confirms a hold, and those before it.
    private mutating func confirm(_ index: Int) {
        holds[index].isConfirmed = true
        holds.removeFirst(index)
    }
}

extension EvictionBrake.Hold {
    /// Adds what other changes retired before.
    fileprivate mutating func add(_ others: some Sequence<Self>) {
        for other in others { (images, total) = (images + other.images, total + other.images) }
    }
}
