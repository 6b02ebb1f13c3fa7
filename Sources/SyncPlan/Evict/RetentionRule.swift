// SPDX-License-Identifier: Apache-2.0

struct RetentionRule: Equatable, Sendable {
    /// The grace period after a generation was superseded.
    var grace: Duration
    /// How long after that moment a lease retains it.
    var leaseMax: Duration
    /// How long a generation whose grace period was waived is retained anyway, unless the grace period is shorter.
    ///
    /// A reader without a lease opens the manifest, then a document, then an image; the generation must not go in
    /// between. That takes milliseconds, or a second or two for a script on a busy machine.
    static let shortest: Duration = .seconds(5)

    /// The generations retained by holds on eviction; `nil` if there are none.
    var held: ClosedRange<Int>?

    func isHeld(_ generation: Int) -> Bool { held?.contains(generation) ?? false }
}

/// A superseded generation whose grace period is over.
package struct GenerationRelease: Hashable, Sendable {
    package var generation: Int
    /// Whether the generation is too old for any lease to count.
    package var ignoresLeases = false
    /// Whether its full grace period is over, regardless of waivers.
    package var isPastGrace = false

    package init(generation: Int, ignoresLeases: Bool = false, isPastGrace: Bool = false) {
        (self.generation, self.ignoresLeases, self.isPastGrace) = (generation, ignoresLeases, isPastGrace)
    }
}

package struct ReleaseResult: Equatable, Sendable {
    package var removed: [Int]
    /// The generations with a lease, or with a possible lease that is invisible.
    package var kept: [Int]
    package var failed: Set<Int>
    package var failure: String?

    package init(removed: [Int] = [], kept: [Int] = [], failed: Set<Int> = []) {
        (self.removed, self.kept, self.failed) = (removed, kept, failed)
    }
}
