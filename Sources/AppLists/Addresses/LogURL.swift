// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A URL for logs, tables and messages, without secrets.
///
/// Its user name, password and query are left out, and the image of a `data:` URL.
package struct LogURL: CustomStringConvertible {
    package let description: String

    package init(_ url: IconURL) { self.init(url.text) }

    package init(_ url: String) {
        description = DataURL(url).map { "\($0)" } ?? Self.withoutSecrets(url)
    }

    private static func withoutSecrets(_ url: String) -> String {
        func mayHide(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "@")
        }
        guard url.utf8.contains(where: mayHide) else { return url }
        // Search bytes: with a combining mark after it, “?” or “@” is another Character, but not to a server.
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
        let plain = url[..<end]
        let query = url.utf8[end...].first == UInt8(ascii: "?") ? "?…" : ""
        let scheme = plain.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = plain.utf8[scheme.endIndex...]
        if rest.starts(with: "://".utf8) {
            let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                return "\(Substring(scheme))://…\(plain[at...])\(query)"
            }
        }
        // In an invalid URL the password can be anywhere.
        if url.utf8.contains(UInt8(ascii: "@")), (try? FetchTarget(url)) == nil { return "…" }
        return plain + query
    }
}
