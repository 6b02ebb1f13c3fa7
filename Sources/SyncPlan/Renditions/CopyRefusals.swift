// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The originals for which no renditions are taken from upstreams.
struct CopyRefusals: Sendable {
    private var originals: Set<Digest> = []
    /// The number of originals when all lists were last looked through.
    private var countAtReview = 0
    /// The originals whose renditions may be copies nevertheless.
    private var doubtful: Set<Digest> = []

    /// Whether most originals may be outdated: no list gives their digests any more.
    var isReviewDue: Bool { originals.count > 1000 + 2 * countAtReview }

    func contains(_ original: Digest) -> Bool { originals.contains(original) }

    /// Returns whether copies of the original were taken until now.
    mutating func insert(_ original: Digest) -> Bool { originals.insert(original).inserted }

    mutating func doubt(_ original: Digest) { doubtful.insert(original) }

    /// Removes and returns the originals whose renditions may be copies that are refused by now.
    mutating func drainDoubtful() -> Set<Digest> { exchange(&doubtful, with: []) }

    /// Removes all originals; what is doubtful stays so.
    mutating func beginReview() { originals = [] }

    mutating func endReview() { countAtReview = originals.count }
}
