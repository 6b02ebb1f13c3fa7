// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The pinned icons, which stay even if no list names their URLs.
package struct PinReport: Codable, Equatable, Sendable {
    /// The URLs of the pinned icons, in the order in which they were pinned.
    package var pins: [IconURL]
    /// Whether the pins are durable, as part of the newest manifest.
    package var isPublished: Bool
    package var error: String?

    package init(pins: [IconURL], isPublished: Bool, error: String? = nil) {
        (self.pins, self.isPublished, self.error) = (pins, isPublished, error)
    }

    package var json: JSON { .document(self) }
}
