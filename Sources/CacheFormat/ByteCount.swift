// SPDX-License-Identifier: Apache-2.0

/// A number of bytes; its text can have a unit: `5MiB`, `64 KiB`, `1000`.
package struct ByteCount: Hashable, Comparable, Sendable {
    package var bytes: Int

    package init(_ bytes: Int) { self.bytes = bytes }

    package static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }

    package static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }

    private static let units = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]

    /// Reads a whole number of bytes, or one with a unit (B, KiB, MiB, GiB); `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int(digits),
            let factor = digits.count == text.count ? 1 : Self.units.first(where: { $0.0 == unit })?.1
        else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        self.bytes = bytes
    }
}

extension ByteCount: CustomStringConvertible {
    /// The exact number, in the largest unit that divides it: `5 MiB`, `1500 B`.
    package var description: String {
        guard let unit = Self.units.last(where: { bytes.isMultiple(of: $0.1) }), bytes != 0 else { return "0 B" }
        return "\(bytes / unit.1) \(unit.0)"
    }

    /// The number in the largest unit not above it, truncated: to tenths below 10 units, else to whole ones: `3.1 MiB`.
    package var rounded: String {
        guard let unit = Self.units.last(where: { bytes >= $0.1 }), unit.1 > 1 else { return "\(bytes) B" }
        let whole = bytes / unit.1
        let tenths = bytes % unit.1 * 10 / unit.1
        return whole < 10 && tenths > 0 ? "\(whole).\(tenths) \(unit.0)" : "\(whole) \(unit.0)"
    }
}
