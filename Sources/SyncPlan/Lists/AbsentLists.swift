// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// Lists missing from the folder; a missing list counts as removed only after a quiet time.
///
/// Editors and package managers make a file vanish for a moment, and a rename may remove the old name before the new
/// one exists.
package struct AbsentLists: Sendable {
    /// The shortest quiet time: a wrong removal costs more than a late one.
    package static let shortest: Duration = .milliseconds(500)

    var window: QuietWindow
    private var since: [ListName: Timestamp] = [:]

    /// Lists count as removed after `settle` without another one, or `settleMax` after the first; each is at least
    /// ``shortest``.
    package init(settle: Duration, settleMax: Duration) {
        window = QuietWindow(quiet: max(settle, Self.shortest), ceiling: max(settleMax, Self.shortest))
    }

    package var isEmpty: Bool { since.isEmpty }

    package var names: Set<ListName> { Set(since.keys) }

    /// When to list the folder again; `nil` if no list is missing.
    package var due: Timestamp? { window.end(of: since.values) }

    /// Records the known lists that a listing lacks; returns, together as one change, those that count as removed.
    package mutating func record(_ names: Set<ListName>, at time: Timestamp) -> Set<ListName> {
        since = Dictionary(uniqueKeysWithValues: names.map { ($0, since[$0] ?? time) })
        guard let due, due <= time else { return [] }
        let gone = since.filter { $0.value + min(window.quiet, window.ceiling) <= time }
        for name in gone.keys { since[name] = nil }
        return Set(gone.keys)
    }

    /// Forgets the missing lists, because the folder is unavailable or not trusted.
    package mutating func reset() {
        since = [:]
    }
}
