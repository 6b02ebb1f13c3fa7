// SPDX-License-Identifier: Apache-2.0

/// Durations as written in settings: `100ms`, `2s`, `10m`, `24h`, `7d`.
package enum DurationText {
    private static let units: [(name: String, duration: Duration)] = [
        ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)),
        ("d", .seconds(86_400)),
    ]

    /// The longest duration: a hundred years.
    package static let longest = Duration.seconds(36_525 * 86_400)

    /// Parses a whole number with a unit; `nil` for any other form, or more than ``longest``.
    package static func parse(_ text: some StringProtocol) -> Duration? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let name = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int(digits), number <= longest.milliseconds,
            let unit = units.first(where: { $0.name == name })
        else { return nil }
        let duration = unit.duration * number
        return duration <= longest ? duration : nil
    }

    /// Formats a duration in the largest unit that divides it (`10m`, `1500ms`), truncated to milliseconds.
    package static func format(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds != 0,
            let unit = units.last(where: { milliseconds.isMultiple(of: $0.duration.milliseconds) })
        else { return "0s" }
        return "\(milliseconds / unit.duration.milliseconds)\(unit.name)"
    }
}

extension Duration {
    /// Whole milliseconds, truncated; clamped to the range of `Int64`.
    package var milliseconds: Int64 {
        let (seconds, isTooLarge) = components.seconds.multipliedReportingOverflow(by: 1000)
        let (sum, overflows) = seconds.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return isTooLarge || overflows ? (self < .zero ? .min : .max) : sum
    }
}
