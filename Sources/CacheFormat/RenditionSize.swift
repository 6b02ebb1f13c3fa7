// SPDX-License-Identifier: Apache-2.0

/// The size that an image is rendered in, such as `64` or `64@2`: a length on the screen, and a scale.
///
/// The picture is made for ``pixels`` × ``pixels``, the length times the scale, as icon themes have it (Icon Theme
/// Specification, “Directory Layout”).
public struct RenditionSize: Hashable, Sendable, CustomStringConvertible {
    /// The length of the longer side, in units of the screen: 8 to 1024.
    public let length: Int
    /// The number of pixels of a unit: 1 to 4.
    public let scale: Int

    /// The length of the longer side, in pixels.
    public var pixels: Int { length * scale }

    /// Reads a size: `64`, or with a scale `64@2`; `nil` if the text is not a size.
    public init?(_ text: some StringProtocol) {
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = Self.number(parts[0]), Self.lengths.contains(first) else { return nil }
        length = first
        guard parts.count == 2 else {
            scale = 1
            return
        }
        guard let second = Self.number(parts[1]), (2...4).contains(second) else { return nil }
        scale = second
    }

    package static let lengths = 8...1024

    /// A number in its only spelling: digits, without a leading zero.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...4).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return digits.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The text that ``init(_:)`` reads.
    public var description: String { scale == 1 ? "\(length)" : "\(length)@\(scale)" }
}

extension RenditionSize: Comparable {
    /// Sizes are ordered by pixels, then by scale.
    public static func < (one: RenditionSize, other: RenditionSize) -> Bool {
        (one.pixels, one.scale) < (other.pixels, other.scale)
    }
}
