// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The delay that a server asks for (RFC 9110, section 10.2.3).
package struct RetryAfter: Equatable, Sendable {
    /// The longest accepted delay: 7 days, like the agent's own longest delay, after a `410`.
    ///
    /// One server's mistake must not block an icon for years.
    package static let longest = Duration.seconds(7 * 86_400)

    /// The delay from the receipt of the response; at least zero and at most ``longest``.
    package let delay: Duration

    /// Parses the field; `nil` if it is missing or malformed.
    ///
    /// A date is compared with the response's own `Date`, so the clocks need not agree.
    package init?(_ fields: HTTPFields, receivedAt: Timestamp) {
        guard let value = fields.first("retry-after") else { return nil }
        if let seconds = DeltaSeconds.parse(value) {
            delay = min(seconds, Self.longest)
        } else if let date = HTTPDate.parse(value, now: receivedAt) {
            let sent = fields.first("date").flatMap { HTTPDate.parse($0, now: receivedAt) } ?? receivedAt
            delay = min(max(date - sent, .zero), Self.longest)
        } else {
            return nil
        }
    }
}
