// SPDX-License-Identifier: Apache-2.0

extension FetchTarget {
    /// Reads a URL that needs no normalisation: scheme and host in lower case, nothing to encode, no dot segments.
    ///
    /// The fast path for most URLs; ``init(parsing:)`` has the same result.
    ///
    /// - Returns: `nil` for any other URL, whether or not it may be fetched.
    package init?(plain text: String) {
        isSecure = text.utf8.starts(with: "https://".utf8)
        guard isSecure || text.utf8.starts(with: "http://".utf8) else { return nil }
        let bytes = text.utf8Span.span
        let start = isSecure ? 8 : 7
        var end = start
        while end < bytes.count, bytes[end].isOfName, !(0x41...0x5A).contains(bytes[end]) { end += 1 }
        guard bytes.count <= Self.maxLength, (1...253).contains(end - start), bytes[end - 1] != UInt8(ascii: ".") else {
            return nil
        }
        var rest = end
        var number: Int?
        if rest < bytes.count, bytes[rest] == UInt8(ascii: ":") {
            rest += 1
            while rest < bytes.count, rest - end <= 5, bytes[rest].isDigit {
                number = 10 * (number ?? 0) + Int(bytes[rest] - 0x30)
                rest += 1
            }
            guard let number, (1...65_535).contains(number) else { return nil }
        }
        guard rest == bytes.count || bytes[rest] == UInt8(ascii: "/") else { return nil }
        while rest < bytes.count {
            guard Self.isPlainInPath(bytes[rest]) else { return nil }
            if bytes[rest] == UInt8(ascii: "."), bytes[rest - 1] == UInt8(ascii: "/"),
                rest + 1 == bytes.count || "/.?".utf8.contains(bytes[rest + 1])
            {
                return nil
            }
            rest += 1
        }
        url = text
        port = number ?? (isSecure ? 443 : 80)
        let first = text.utf8.index(text.startIndex, offsetBy: start)
        host = String(text[first..<text.utf8.index(first, offsetBy: end - start)])
    }

    /// Whether a byte needs no encoding in a path or query (RFC 3986, sections 3.3 and 3.4).
    private static func isPlainInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"):
            true
        default: false
        }
    }
}
