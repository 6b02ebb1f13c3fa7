// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials

/// A URL that may be fetched: http or https, plain host, valid port, no user name.
///
/// URLs from lists and servers are untrusted: a client could read some in another way, or switch its transport. Every URL
/// and every redirect target is checked here first.
package struct FetchTarget: Hashable, Sendable {
    package static let maxLength = 8192

    /// The URL as sent: no fragment, no dot segments, characters that RFC 3986 forbids percent-encoded.
    package let url: String
    package let isSecure: Bool
    /// The host in lower case; an IPv6 address without its brackets.
    package let host: String
    package let port: Int

    init(fileURL: String) {
        (url, isSecure, host, port) = (fileURL, true, "", 0)
    }

    /// Scheme, host and port; requests are queued by origin.
    package var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

    /// Whether the URL as sent equals another byte for byte.
    package func isSent(as other: String) -> Bool { url.utf8.elementsEqual(other.utf8) }

    /// Reads an absolute URL.
    package init(_ text: String) throws(URLRefusal) {
        if let plain = FetchTarget(plain: text) {
            self = plain
        } else {
            try self.init(parsing: text)
        }
    }

    /// The slow path: reads any URL, with the URL parser.
    package init(parsing text: String) throws(URLRefusal) {
        guard text.utf8.count <= Self.maxLength else {
            throw .malformed("it is longer than \(Self.maxLength) bytes")
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed("it has no scheme") }
        let scheme = text[..<colon].asciiLowercased
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme.prefix(bytes: 20)) }
        let rest = text[text.utf8.index(after: colon)...]
        guard rest.starts(withBytes: "//") else { throw .malformed("“//” does not follow its scheme") }
        let authority = Substring(rest.utf8.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) })
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw .userInfo }
        // Percent-encoded, it would become part of the authority.
        guard rest.utf8.dropFirst(2 + authority.utf8.count).first != UInt8(ascii: "\\") else { throw .hostCharacters }
        isSecure = scheme == "https"
        (host, port) = try Self.hostAndPort(authority, defaultPort: isSecure ? 443 : 80)
        guard let parsed = URL(string: Self.encoded(Substring(text.utf8.prefix { $0 != UInt8(ascii: "#") }))),
            parsed.scheme?.asciiLowercased == scheme,
            let parsedHost = parsed.host(percentEncoded: true)?.asciiLowercased,
            parsedHost == host || parsedHost == "[\(host)]", parsed.port == nil || parsed.port == port
        else { throw .malformed("it does not follow RFC 3986") }
        url = Self.removingDotSegments(of: parsed.absoluteString, afterScheme: isSecure ? 8 : 7)
    }

    /// Removes the segments `.` and `..` of the path, percent-encoded or not, as browsers do (RFC 3986, section 5.2.4).
    private static func removingDotSegments(of url: String, afterScheme start: Int) -> String {
        let path = url.utf8.dropFirst(start).drop { !"/?".utf8.contains($0) }.prefix { $0 != UInt8(ascii: "?") }
        var kept: [String] = []
        var (hasDots, endsInDots) = (false, false)
        for segment in Substring(path).split(atByte: "/", omittingEmpty: false).dropFirst() {
            let plain = segment.asciiLowercased.replacing(bytes: "%2e", with: ".")
            endsInDots = plain == "." || plain == ".."
            if endsInDots { hasDots = true } else { kept.append(segment) }
            if plain == ".." { _ = kept.popLast() }
        }
        guard hasDots else { return url }
        if endsInDots { kept.append("") }
        let (head, tail) = (url.utf8[..<path.startIndex], url.utf8[path.endIndex...])
        return "\(Substring(head))/\(kept.joined(separator: "/"))\(Substring(tail))"
    }

    /// Resolves a reference against this URL (RFC 3986, section 5.2), such as a redirect's `Location`.
    ///
    /// - Returns: `nil` if the text is not a reference.
    /// - Throws: ``URLRefusal`` if the resolved URL may not be fetched.
    package func resolving(_ reference: String) throws(URLRefusal) -> FetchTarget? {
        guard reference.utf8.count <= Self.maxLength, let base = URL(string: url),
            let target = URL(string: Self.encoded(Substring(reference)), relativeTo: base)
        else { return nil }
        return try FetchTarget(target.absoluteString)
    }

    /// Percent-encodes what RFC 3986 forbids after the authority.
    ///
    /// `URL` would encode a whole component that has such a character, including escapes already in it.
    static func encoded(_ reference: Substring) -> String {
        var rest = reference.utf8
        let scheme = rest.prefix { !":/?#".utf8.contains($0) }
        if isScheme(scheme), rest[scheme.endIndex...].first == UInt8(ascii: ":") {
            rest = rest[scheme.endIndex...].dropFirst()
        }
        if rest.starts(with: "//".utf8) { rest = rest.dropFirst(2).drop { !"/?#\\".utf8.contains($0) } }
        return String(reference[..<rest.startIndex]) + PercentEncoding.encodeForbidden(rest)
    }

    /// Whether a text has the syntax of a scheme (RFC 3986, section 3.1).
    package static func isScheme(_ text: Substring.UTF8View) -> Bool {
        text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private static func hostAndPort(
        _ authority: Substring, defaultPort: Int
    ) throws(URLRefusal) -> (host: String, port: Int) {
        let host: Substring
        let port: Substring
        if authority.starts(withBytes: "[") {
            guard let end = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else {
                throw .malformed("the bracket of its host is not closed")
            }
            host = authority[authority.utf8.index(after: authority.startIndex)..<end]
            port = authority[authority.utf8.index(after: end)...]
            guard host.utf8.contains(UInt8(ascii: ":")), IPAddress(host) != nil else {
                throw .malformed("its host is not an IPv6 address")
            }
        } else {
            host = Substring(authority.utf8.prefix { $0 != UInt8(ascii: ":") })
            port = authority[host.endIndex...]
            guard !host.isEmpty else { throw .malformed("it has no host") }
            guard isHost(host) else { throw .hostCharacters }
            guard host.utf8.last != UInt8(ascii: ".") || !endsInNumber(host) else { throw .hostEnd }
        }
        let digits = Substring(port.utf8.dropFirst())
        guard port.isEmpty || port.utf8.first == UInt8(ascii: ":"), digits.utf8.allSatisfy(\.isDigit) else {
            throw .malformed("its host is not followed by a valid port")
        }
        if digits.isEmpty { return (host.asciiLowercased, defaultPort) }
        guard digits.utf8.count <= 5, let number = Int(digits), (1...65_535).contains(number) else { throw .port }
        return (host.asciiLowercased, number)
    }

    /// Whether the last label is a number or missing: the host is then an IPv4 address or invalid, never a name.
    package static func endsInNumber(_ host: some StringProtocol) -> Bool {
        let bytes = Substring(host).utf8
        let dot = UInt8(ascii: ".")
        guard let last = bytes.lastIndex(where: { $0 != dot }) else { return true }
        let start = bytes[...last].lastIndex(of: dot).map(bytes.index(after:)) ?? bytes.startIndex
        let label = bytes[start...last]
        let isHexadecimal = label.starts(with: "0x".utf8) || label.starts(with: "0X".utf8)
        guard isHexadecimal else { return label.allSatisfy(\.isDigit) }
        return label.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    /// Whether a host is an address or invalid, not a name.
    package static func isNoName(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":")) || endsInNumber(host)
    }

    package static func isHost(_ text: some StringProtocol) -> Bool {
        (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfName)
    }
}
