// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat

/// Holds an eviction that looks like a mistake, until somebody confirms it or it is old.
///
/// A folder that was emptied, a disk that is not mounted, or a program that wrote half of its lists look like a wish to
/// remove most of the cache. What is held stays on disk, so that lists that come back find their images there.
package struct EvictionBrake: Equatable, Sendable {
    /// A change that retired too much at once.
    package struct Hold: Equatable, Sendable {
        /// When it was seen.
        package var since: Timestamp
        /// The newest generation that may name what it retired: this one and those before it are kept.
        package var generation: Int
        /// How many images it retired.
        package var images: Int
        /// How many images there were.
        package var total: Int
        /// Whether it is let through: somebody said so, or it is old enough.
        package var isConfirmed = false

        package init(since: Timestamp, generation: Int, images: Int, total: Int, isConfirmed: Bool = false) {
            self.since = since
            self.generation = generation
            self.images = images
            self.total = total
            self.isConfirmed = isConfirmed
        }
    }

    private var threshold: HoldThreshold
    private var holdFor: Duration
    /// The last such change, as long as what it retired is on disk.
    package private(set) var hold: Hold?

    /// - Parameters:
    ///   - threshold: How much a change may retire.
    ///   - holdFor: How old a change is when it counts as confirmed.
    ///   - hold: What an earlier run held.
    package init(threshold: HoldThreshold, holdFor: Duration, hold: Hold? = nil) {
        self.threshold = threshold
        self.holdFor = holdFor
        self.hold = hold
    }

    /// Goes on with other limits.
    mutating func configure(threshold: HoldThreshold, holdFor: Duration) {
        self.threshold = threshold
        self.holdFor = holdFor
    }

    /// What is held; `nil` if nothing is.
    package var heldNow: Hold? { hold.flatMap { $0.isConfirmed ? nil : $0 } }

    /// When the hold ends by itself; `nil` if nothing is held.
    package var end: Timestamp? { heldNow.map { $0.since + holdFor } }

    /// Takes note of a change of the lists.
    ///
    /// - Parameters:
    ///   - images: How many images it retired.
    ///   - total: How many images lists named before.
    ///   - generation: The newest generation before the change.
    ///   - now: The present time.
    package mutating func noteChange(retiring images: Int, of total: Int, generation: Int, at now: Timestamp) {
        guard threshold.isExceeded(by: images, of: total) else { return }
        hold = Hold(since: now, generation: generation, images: images, total: total)
    }

    /// Ends a hold of which nothing is left: lists name again what the change retired, or it is gone.
    package mutating func lift() {
        hold = nil
    }

    /// Notes that the system slept: the time is for people to see what is held, and nobody could.
    package mutating func noteSleep(_ time: Duration) {
        if let hold { self.hold?.since = hold.since + time }
    }

    /// Lets a change through that is old enough.
    package mutating func noteTime(_ now: Timestamp) {
        if let end, end <= now { confirm() }
    }

    /// Lets through what is held.
    package mutating func confirm() {
        hold?.isConfirmed = true
    }
}
