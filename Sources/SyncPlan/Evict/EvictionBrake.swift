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

        package init(since: Timestamp, generation: Int, images: Int, total: Int, isConfirmed: Bool = false) {
            (self.since, self.generation, self.isConfirmed) = (since, generation, isConfirmed)
            (self.images, self.total) = (images, total)
        }
    }

    var settings: Settings.Eviction
    /// The last such change, while what was retired by then is on disk.
    private(set) var hold: Hold?
    /// The most images that were shown at once since the last hold was confirmed, less those that are not on disk any
    /// more, or that a user unpinned; 0 if no change has retired an image.
    private(set) var peak: Int

    init(_ settings: Settings.Eviction, hold: Hold? = nil, peak: Int = 0) {
        (self.settings, self.hold, self.peak) = (settings, hold, peak)
    }

    /// The unconfirmed hold; `nil` if there is none.
    var heldNow: Hold? { hold.flatMap { $0.isConfirmed ? nil : $0 } }

    /// When the hold ends by itself; `nil` if nothing is held.
    var end: Timestamp? { heldNow.map { $0.since + settings.holdFor } }

    /// Records a change of the lists that retired some of `total` images; `generation` is the newest before it.
    mutating func recordChange(retiring images: Int, of total: Int, generation: Int, at now: Timestamp) {
        guard settings.holdAbove.isExceeded(by: images, of: total) else { return }
        hold = Hold(since: now, generation: generation, images: images, total: total)
    }

    /// Records that a change lowered the number of images shown: several small changes may be one mistake.
    ///
    /// Each new image that is shown makes up for a retired one: a list whose apps come and go does not decline.
    ///
    /// - Parameters:
    ///   - before: How many images were shown before the change.
    ///   - shown: How many are shown now.
    ///   - retired: How many images are on disk that were retired without a replacement.
    ///   - generation: The newest generation, which names all images that are shown when the hold begins.
    ///   - now: The current time.
    mutating func recordDecline(from before: Int, to shown: Int, retired: Int, generation: Int, at now: Timestamp) {
        peak = min(max(peak, before), shown + retired)
        if heldNow == nil { recordChange(retiring: peak - shown, of: peak, generation: generation, at: now) }
    }

    /// Lowers the peak by images that a user unpinned; `shown` and `retired` are as for a decline.
    mutating func recordUnpinned(_ images: Int, shown: Int, retired: Int) {
        peak = max(min(peak, shown + retired) - images, 0)
    }

    /// Ends a hold when the retired images are named again, or are gone.
    mutating func lift() {
        hold = nil
    }

    /// Extends the hold by a sleep of the system, during which no user could see it.
    mutating func recordSleep(_ time: Duration) {
        if let hold { self.hold?.since = hold.since + time }
    }

    mutating func advance(to now: Timestamp) {
        if let end, end <= now { confirm() }
    }

    mutating func confirm() {
        hold?.isConfirmed = true
        peak = 0
    }
}
