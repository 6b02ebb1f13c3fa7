// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HTTPRules

extension HTTPDate {
    /// The date in the preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Parts of a second are cut off.
    package static func format(_ time: Timestamp) -> String {
        let text = "\(time)"
        guard let written = Timestamp(text), let month = Int(text.dropFirst(5).prefix(2)) else { return text }
        // The epoch was a Thursday.
        let seconds = written.sinceEpoch.components.seconds
        let days = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
        let weekday = weekdays[Int((days % 7 + 11) % 7)]
        return "\(weekday), \(text.dropFirst(8).prefix(2)) \(months[month - 1]) \(text.prefix(4)) "
            + "\(text.dropFirst(11).prefix(8)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
