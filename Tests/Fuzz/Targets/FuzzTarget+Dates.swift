// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

extension FuzzTarget {
    /// Dates: eight bytes are the present in milliseconds, and the rest is the text of one.
    static let dates = FuzzTarget(name: "dates", isText: true) { bytes in
        let milliseconds = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let now = Timestamp(sinceEpoch: .milliseconds(milliseconds))
        let written = HTTPDate.format(now)
        let whole = try read(written, now: now)
        try hold(whole == now.inWholeSeconds, "\(written) for \(now)")
        try hold(Timestamp("\(now)")?.description == "\(now)", "\(now) is another when read again")
        try hold(now.inWholeSeconds.inWholeSeconds == now.inWholeSeconds, "\(now) in whole seconds of whole seconds")
        let text = String(decoding: bytes.dropFirst(8), as: UTF8.self)
        if let time = Timestamp(text) {
            try hold("\(time)" == text, "“\(text)” is read as \(time)")
        }
        if let time = HTTPDate.parse(text, now: now) {
            // A leap second at the end of the year 9999 leads out of what can be written.
            let canonical = HTTPDate.format(time)
            let again = try read(canonical, now: now)
            try hold(again == time || canonical.contains("9999"), "“\(text)”, \(canonical), \(again)")
        }
    }

    private static func read(_ text: String, now: Timestamp) throws -> Timestamp {
        guard let time = HTTPDate.parse(text, now: now) else {
            throw BrokenInvariant(description: "“\(text)” was written, and cannot be read")
        }
        return time
    }
}
