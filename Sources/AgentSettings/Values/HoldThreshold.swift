// SPDX-License-Identifier: Apache-2.0

/// The part of the cache that changes may retire before their eviction is held: `50%`, or `50% and 20 images`.
package struct HoldThreshold: Hashable, Sendable {
    package var percent: Int
    /// Up to this number of retired images, no eviction is held, whatever their share.
    package var images: Int

    /// Whether the retired images exceed both limits.
    package func isExceeded(by retired: Int, of total: Int) -> Bool {
        retired > images && retired * 100 > total * percent
    }
}

extension HoldThreshold: CustomStringConvertible {
    /// Parses a percentage, optionally with a number of images (default 20); `nil` for any other form.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "and", omittingEmptySubsequences: false)
        guard parts.count <= 2, let percent = Self.number(parts[0], before: "%"), percent <= 100 else { return nil }
        guard let second = parts.dropFirst().first else {
            self.init(percent: percent, images: 20)
            return
        }
        guard let images = Self.number(second, before: "images") else { return nil }
        self.init(percent: percent, images: images)
    }

    private static func number(_ text: some StringProtocol, before unit: String) -> Int? {
        let words = text.drop { $0 == " " }
        let digits = words.prefix { ("0"..."9").contains($0) }
        let rest = words.dropFirst(digits.count).split(separator: " ", omittingEmptySubsequences: true)
        guard rest.count == 1, rest[0] == unit else { return nil }
        return Int(digits)
    }

    package var description: String { "\(percent)% and \(images) images" }
}
