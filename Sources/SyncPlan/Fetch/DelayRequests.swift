// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The URLs for which an origin recently asked for a delay (`Retry-After`).
///
/// A delay applies to its URL: an origin can serve many owners, and one of them must not delay the others. Delays for
/// three different URLs within a minute apply to the origin.
struct DelayRequests: Sendable {
    private struct Entry: Sendable {
        var url: IconURL
        var delay: Duration
        var time: Timestamp
    }

    static let threshold = 3
    static let window: Duration = .seconds(60)

    private var entries: [Entry] = []

    /// Records a delay for a URL.
    ///
    /// Returns the delay of the whole origin: the shortest of the last three.
    ///
    /// `nil` while fewer than three URLs have one.
    mutating func record(_ delay: Duration, for url: IconURL, at now: Timestamp) -> Duration? {
        entries.removeAll { $0.url == url || !Self.isRecent($0.time, at: now) }
        entries.append(Entry(url: url, delay: delay, time: now))
        entries.removeFirst(max(0, entries.count - Self.threshold))
        return entries.count < Self.threshold ? nil : entries.lazy.map(\.delay).min()
    }

    /// Whether a time is within the last minute; one in the future was set by another clock.
    private static func isRecent(_ time: Timestamp, at now: Timestamp) -> Bool {
        let age = now - time
        return age >= .zero && age < window
    }
}
