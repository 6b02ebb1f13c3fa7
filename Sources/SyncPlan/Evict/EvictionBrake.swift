// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat

/// Holds an eviction that looks like a mistake, until a user confirms it or it is old enough.
///
/// An emptied folder, an unmounted disk, or a program that wrote half of its lists looks like a request to remove most
/// of the cache. Held images stay on disk, so that lists that come back find them.
package struct EvictionBrake: Equatable, Sendable {
    /// A change that retired too much at once.
    package struct Hold: Codable, Equatable, Sendable {
        package var since: Timestamp
        /// The newest generation that may name the retired images; it and older ones are retained.
        package var generation: Int
        package var images: Int
        package var total: Int
        /// Whether a user confirmed the eviction, or the hold is old enough.
        package var isConfirmed = false

        package init(since: Timestamp, generation: Int, images: Int, total: Int, isConfirmed: Bool = false) {
            (self.since, self.generation, self.isConfirmed) = (since, generation, isConfirmed)
            (self.images, self.total) = (images, total)
        }
    }

    var settings: Settings.Eviction
    /// The last such change, while what it retired is on disk.
    private(set) var hold: Hold?
    /// When a change last became part of the hold; `nil` if none did since the start.
    private var lastChange: Timestamp?

    init(_ settings: Settings.Eviction, hold: Hold? = nil) { (self.settings, self.hold) = (settings, hold) }

    /// The unconfirmed hold; `nil` if there is none.
    var heldNow: Hold? { hold.flatMap { $0.isConfirmed ? nil : $0 } }

    /// When the hold ends by itself; `nil` if nothing is held.
    var end: Timestamp? { heldNow.map { $0.since + settings.holdFor } }

    /// Records a change of the lists that retired some of `total` images; `generation` is the newest before it.
    ///
    /// - Returns: Whether the change is held.
    @discardableResult
    mutating func recordChange(retiring images: Int, of total: Int, generation: Int, at now: Timestamp) -> Bool {
        guard settings.holdAbove.isExceeded(by: images, of: total) else { return false }
        hold = Hold(since: now, generation: generation, images: images, total: total)
        lastChange = now
        return true
    }

    /// Makes a smaller change part of the unconfirmed hold if it comes within `window` of the last one.
    ///
    /// A folder that is emptied file by file goes on losing lists. The hold ends as early as before.
    mutating func extend(by images: Int, generation: Int, within window: Duration, at now: Timestamp) {
        guard var held = heldNow, now - (lastChange ?? held.since) < window else { return }
        held.generation = generation
        held.images += images
        held.total = max(held.total, held.images)
        (hold, lastChange) = (held, now)
    }

    /// Ends a hold when the retired images are named again, or are gone.
    mutating func lift() {
        hold = nil
    }

    /// Extends the hold by a sleep of the system, during which no user could see it.
    mutating func recordSleep(_ time: Duration) {
        if let hold { self.hold?.since = hold.since + time }
        lastChange = lastChange.map { $0 + time }
    }

    mutating func advance(to now: Timestamp) {
        if let end, end <= now { confirm() }
    }

    mutating func confirm() {
        hold?.isConfirmed = true
    }
}
