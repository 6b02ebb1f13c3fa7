// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A pause of new downloads.
package struct Pause: Codable, Equatable, Sendable {
    /// The pause's cause, such as `metered`; empty for a pause without a reason.
    package var reason: String
    /// When the pause ends by itself; `nil` if it does not.
    package var until: Timestamp?
    /// When a pause that ends by itself began; `nil` if an agent of an older version stored it.
    package internal(set) var since: Timestamp?

    package init(reason: String = "", until: Timestamp? = nil) {
        (self.reason, self.until) = (reason, until)
    }
}

/// The pauses of new downloads, one for each reason: downloads continue once all pauses are over.
typealias Pauses = LapsingTable<Pause>

extension Pause: Lapsing {
    struct Reason: Identity {
        let text: String
        init(_ text: String) { self.text = text }
    }

    var key: Reason { Reason(reason) }
}

extension Pause {
    package static let maxReasonLength = 64

    /// Whether text can be a reason: 1 to `maxReasonLength` Unicode scalars, none of them a control character.
    package static func isReason(_ text: String) -> Bool {
        (1...maxReasonLength).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
