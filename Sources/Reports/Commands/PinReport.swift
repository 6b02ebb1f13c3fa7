// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The icons that stay although no list names them.
package struct PinReport: Codable, Equatable, Sendable {
    /// Their URLs, in the order in which they were pinned.
    package var pins: [IconURL]
    /// Whether that is durable: the newest manifest has it.
    package var isPublished: Bool
    /// Why it could not be published.
    package var error: String?

    package init(pins: [IconURL], isPublished: Bool, error: String? = nil) {
        (self.pins, self.isPublished, self.error) = (pins, isPublished, error)
    }

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        [
            "format": 1, "pins": .array(pins.map(JSON.text)), "isPublished": .bool(isPublished),
            "error": .string(orNull: error),
        ]
    }
}
