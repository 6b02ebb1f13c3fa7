// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// How long a server asks to be left alone (RFC 9110, section 10.2.3).
package struct RetryAfter: Equatable, Sendable {
    /// The longest that is granted: 7 days, the longest that the agent waits of its own accord, after a `410`.
    ///
    /// A slip of one server must not keep an icon away for years.
    package static let longest = Duration.seconds(7 * 86_400)

    /// From the time the response was received, at least zero and at most ``longest``.
    package let delay: Duration

    /// Reads the field; `nil` if there is none, or it has neither of the two forms.
    ///
    /// A date is compared with the response's own `Date`, so that it does not matter whether the clocks agree.
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
