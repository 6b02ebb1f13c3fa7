// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The lists that are missing from the folder, and since when: each counts as gone only after a quiet time of its own.
///
/// Editors and package managers make a file vanish for a moment, and a rename may show as a file that is gone before the
/// other one is there. Who asked for the look that missed it makes no difference.
package struct AbsentLists: Sendable {
    /// The shortest quiet time: a removal that is a mistake costs more than one that is late.
    package static let shortest: Duration = .milliseconds(500)

    private var quiet: Duration
    private var ceiling: Duration
    private var since: [ListName: Timestamp] = [:]

    /// - Parameters:
    ///   - settle: How long no other list may have vanished (`lists.settle`); at least ``shortest``.
    ///   - settleMax: How long the first one waits for that at most (`lists.settleMax`); at least ``shortest``.
    package init(settle: Duration, settleMax: Duration) {
        quiet = max(settle, Self.shortest)
        ceiling = max(settleMax, Self.shortest)
    }

    /// Goes on with other times.
    mutating func configure(settle: Duration, settleMax: Duration) {
        quiet = max(settle, Self.shortest)
        ceiling = max(settleMax, Self.shortest)
    }

    package var isEmpty: Bool { since.isEmpty }

    package var names: Set<ListName> { Set(since.keys) }

    /// When the folder must be listed again to decide; `nil` if no list is missing.
    package var due: Timestamp? {
        guard let first = since.values.min(), let last = since.values.max() else { return nil }
        return min(last + quiet, first + ceiling)
    }

    /// Notes which lists a listing lacks.
    ///
    /// Lists that vanish within a quiet time of each other go together, as one change.
    ///
    /// - Parameters:
    ///   - names: The known lists that it lacks.
    ///   - time: When the folder was listed.
    /// - Returns: Those that are gone.
    package mutating func note(_ names: Set<ListName>, at time: Timestamp) -> Set<ListName> {
        since = since.filter { names.contains($0.key) }
        for name in names where since[name] == nil { since[name] = time }
        guard let due, due <= time else { return [] }
        let gone = since.filter { $0.value + min(quiet, ceiling) <= time }
        for name in gone.keys { since[name] = nil }
        return Set(gone.keys)
    }

    /// Forgets what was missed: what is at the folder's path says nothing of the lists.
    package mutating func reset() {
        since = [:]
    }
}
