// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Relative times: `3 min ago`, `in 2 h`.
enum RelativeTime {
    static func text(_ time: Timestamp, now: Timestamp) -> String {
        let seconds = (time - now).components.seconds
        if seconds.magnitude < 1 { return "now" }
        return seconds > 0 ? "in \(length(seconds))" : "\(length(-seconds)) ago"
    }

    /// How many seconds ahead a past event may seem to be, because clocks of machines differ a little.
    private static let tolerance: Int64 = 60

    /// Whether a past event has a time in the future: the clock was ahead then, or is behind now.
    static func isAhead(_ time: String, of now: Timestamp) -> Bool {
        Timestamp(time).map { ($0 - now).components.seconds > tolerance } ?? false
    }

    /// The time of a past event, relative to now.
    static func past(_ time: String, now: Timestamp) -> String {
        guard let exact = Timestamp(time) else { return time }
        return isAhead(time, of: now) ? "in the future: the clock was ahead" : text(min(exact, now), now: now)
    }

    /// Replaces the times in a sentence by times relative to now.
    ///
    /// `until …Z` becomes `for another 2 h`, `since …Z` becomes `for 2 h`, and any other time `in 2 h` or `2 h ago`.
    static func text(in sentence: String, now: Timestamp) -> String {
        sentence.replacing(/(\b(?:at|until|since) )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/) { match in
            guard let time = Timestamp(match.output.2) else { return String(match.output.0) }
            let seconds = (time - now).components.seconds
            return switch match.output.1 {
            case "until " where seconds > 0: "for another \(length(seconds))"
            case "since " where seconds <= tolerance: "for \(length(max(-seconds, 0)))"
            case "since ": "since a time in the future (the clock was ahead)"
            case "until ": "until \(text(time, now: now))"
            default: text(time, now: now)
            }
        }
    }

    static func length(_ seconds: Int64) -> String {
        switch seconds {
        case ..<100: "\(seconds) s"
        case ..<(100 * 60): "\((seconds + 30) / 60) min"
        case ..<(48 * 3600): "\((seconds + 1800) / 3600) h"
        default: "\((seconds + 43_200) / 86_400) days"
        }
    }
}
