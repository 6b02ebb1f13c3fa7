// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A pause of new downloads.
package struct Pause: Codable, Equatable, Sendable {
    /// Who or what paused them, as in `metered`; empty for a pause without a reason.
    package var reason: String
    /// When it ends by itself; `nil` if it does not.
    package var until: Timestamp?
    /// When a pause that ends by itself began; `nil` if an agent of an older version stored it.
    package private(set) var since: Timestamp?

    package init(reason: String = "", until: Timestamp? = nil) {
        (self.reason, self.until) = (reason, until)
    }

    fileprivate func beginning(at now: Timestamp) -> Pause {
        var pause = self
        pause.since = until.map { _ in now }
        return pause
    }

    /// The pause by a clock that is ahead.
    fileprivate func moved(by offset: Duration) -> Pause {
        var pause = self
        pause.until = until.map { $0 + offset }
        pause.since = since.map { $0 + offset }
        return pause
    }

    /// The pause that an earlier run stored; if its begin is later than now, the clock was wrong, and it begins now.
    fileprivate func restored(at now: Timestamp) -> Pause {
        guard let since, let until, since > now else { return self }
        return Pause(reason: reason, until: now + (until - since)).beginning(at: now)
    }
}

extension Pause {
    package static let maxReasonLength = 64

    /// Whether text can be a reason: 1 to `maxReasonLength` Unicode scalars, none of them a control character.
    package static func isReason(_ text: String) -> Bool {
        (1...maxReasonLength).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

/// The pauses of new downloads, one for each reason: downloads go on once all are over.
struct Pauses: Equatable, Sendable {
    /// Sorted by reason.
    private(set) var all: [Pause] = []

    init() {}

    /// The pauses that an earlier run stored.
    init(restoring pauses: [Pause], at now: Timestamp) {
        for pause in pauses { add(pause.restored(at: now)) }
    }

    var isEmpty: Bool { all.isEmpty }

    /// The pauses by a clock that is ahead by this.
    func moved(by offset: Duration) -> [Pause] { all.map { $0.moved(by: offset) } }

    /// When the next one ends by itself.
    var nextEnd: Timestamp? { all.compactMap(\.until).min() }

    /// Begins a pause; it replaces that with the same reason.
    mutating func begin(_ pause: Pause, at now: Timestamp) { add(pause.beginning(at: now)) }

    private mutating func add(_ pause: Pause) {
        end(pause.reason)
        all.append(pause)
        all.sort { $0.reason.utf8.lexicographicallyPrecedes($1.reason.utf8) }
    }

    /// Ends the pause with this reason; `nil` ends all.
    mutating func end(_ reason: String?) {
        all.removeAll { pause in reason.map { $0.utf8.elementsEqual(pause.reason.utf8) } ?? true }
    }

    /// Ends those whose time is over.
    mutating func end(at now: Timestamp) {
        all.removeAll { pause in pause.until.map { $0 <= now } ?? false }
    }
}
