// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A pause of new downloads.
package struct Pause: Codable, Equatable, Sendable {
    /// Who or what paused them, as in `metered`; empty for a pause without a reason.
    package var reason: String
    /// When it ends by itself; `nil` if it does not.
    package var until: Timestamp?

    package init(reason: String = "", until: Timestamp? = nil) {
        (self.reason, self.until) = (reason, until)
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

    init(_ pauses: [Pause] = []) {
        for pause in pauses { add(pause) }
    }

    var isEmpty: Bool { all.isEmpty }

    /// When the next one ends by itself.
    var nextEnd: Timestamp? { all.compactMap(\.until).min() }

    /// Adds a pause, or replaces that with the same reason.
    mutating func add(_ pause: Pause) {
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
