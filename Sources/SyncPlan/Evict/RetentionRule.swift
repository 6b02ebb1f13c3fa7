// SPDX-License-Identifier: Apache-2.0

/// How long superseded generations are kept.
package struct RetentionRule: Equatable, Sendable {
    /// How long after it was superseded.
    package var grace: Duration
    /// How long a lease keeps it after that moment.
    package var leaseMax: Duration
    /// How long a generation is kept after it was superseded although its grace was ended by hand, if its grace is longer.
    ///
    /// A reader without a lease opens the manifest, then a document, then an image: a generation that it began with must
    /// not go in between. That takes milliseconds; a script on a busy machine may take a second or two.
    package static let shortest: Duration = .seconds(5)

    /// The newest generation that is kept because the eviction of what it names is held; `nil` if none is.
    package var heldThrough: Int?

    package init(grace: Duration, leaseMax: Duration, heldThrough: Int? = nil) {
        self.grace = grace
        self.leaseMax = leaseMax
        self.heldThrough = heldThrough
    }

    func isHeld(_ generation: Int) -> Bool { heldThrough.map { generation <= $0 } ?? false }
}

/// A superseded generation whose grace is over.
package struct GenerationRelease: Hashable, Sendable {
    package var generation: Int
    /// Whether it goes although a reader may hold a lease on it: no lease is that old.
    package var ignoresLeases = false
    /// Whether its whole grace is over, and was not ended by hand before.
    package var isPastGrace = false

    package init(generation: Int, ignoresLeases: Bool = false, isPastGrace: Bool = false) {
        self.generation = generation
        self.ignoresLeases = ignoresLeases
        self.isPastGrace = isPastGrace
    }
}

/// What came of releasing generations.
package struct ReleaseResult: Equatable, Sendable {
    /// The generations whose files are gone.
    package var removed: [Int]
    /// Those that readers hold a lease on, or may hold one on that cannot be seen.
    package var kept: [Int]
    /// Those whose files could not be removed.
    package var failed: Set<Int>
    /// Why one of these could not be removed.
    package var failure: String?

    package init(removed: [Int] = [], kept: [Int] = [], failed: Set<Int> = []) {
        self.removed = removed
        self.kept = kept
        self.failed = failed
    }
}
