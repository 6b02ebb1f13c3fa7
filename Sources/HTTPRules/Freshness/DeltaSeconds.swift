// SPDX-License-Identifier: Apache-2.0

/// A whole number of seconds (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
    /// Parses digits and nothing else; `nil` for any other form.
    ///
    /// Larger numbers are limited to 2^31 seconds (68 years).
    package static func parse(_ text: some StringProtocol) -> Duration? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text.utf8 {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), 1 << 31)
        }
        return .seconds(seconds)
    }
}
