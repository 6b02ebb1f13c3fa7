// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The lists that are missing from the folder, each with the time since when; a list is gone only after a quiet time.
///
/// Editors and package managers make a file vanish for a moment, and during a rename the old name may be gone before
/// the new one exists. The reason for the scan that missed it makes no difference.
package struct AbsentLists: Sendable {
    /// The shortest quiet time: a wrong removal costs more than a late one.
    package static let shortest: Duration = .milliseconds(500)

    private var quiet: Duration
    private var ceiling: Duration
    private var since: [ListName: Timestamp] = [:]

    /// Both times are at least ``shortest``.
    ///
    /// After `settle` without another vanished list, or `settleMax` after the first one, vanished lists are gone.
    package init(settle: Duration, settleMax: Duration) {
        quiet = max(settle, Self.shortest)
        ceiling = max(settleMax, Self.shortest)
    }

    mutating func configure(settle: Duration, settleMax: Duration) {
        quiet = max(settle, Self.shortest)
        ceiling = max(settleMax, Self.shortest)
    }

    package var isEmpty: Bool { since.isEmpty }

    package var names: Set<ListName> { Set(since.keys) }

    /// When to list the folder again to decide; `nil` if no list is missing.
    package var due: Timestamp? {
        guard let first = since.values.min(), let last = since.values.max() else { return nil }
        return min(last + quiet, first + ceiling)
    }

    /// Records which known lists a listing lacks, and returns the lists that are gone.
    ///
    /// Lists that vanish within a quiet time of each other are removed together, as one change.
    package mutating func note(_ names: Set<ListName>, at time: Timestamp) -> Set<ListName> {
        since = since.filter { names.contains($0.key) }
        for name in names where since[name] == nil { since[name] = time }
        guard let due, due <= time else { return [] }
        let gone = since.filter { $0.value + min(quiet, ceiling) <= time }
        for name in gone.keys { since[name] = nil }
        return Set(gone.keys)
    }

    /// Forgets the missing lists, because the folder itself is unavailable or in doubt.
    package mutating func reset() {
        since = [:]
    }
}
