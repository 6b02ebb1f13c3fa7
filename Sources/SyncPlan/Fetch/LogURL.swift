// SPDX-License-Identifier: Apache-2.0

/// A URL as logs, tables and messages show it: without what may hold secrets, its user name, password and query, and
/// without the image of a `data:` URL.
package struct LogURL: CustomStringConvertible {
    package let description: String

    package init(_ url: String) {
        description = DataURL(url).map { "\($0)" } ?? Self.withoutSecrets(url)
    }

    private static func withoutSecrets(_ url: String) -> String {
        let plain = url.prefix { $0 != "?" && $0 != "#" }
        let query = url[plain.endIndex...].first == "?" ? "?…" : ""
        let scheme = plain.prefix { $0 != ":" }
        if plain[scheme.endIndex...].hasPrefix("://") {
            let authority = plain[scheme.endIndex...].dropFirst(3).prefix { $0 != "/" && $0 != "\\" }
            if let at = authority.lastIndex(of: "@") { return "\(scheme)://…\(plain[at...])\(query)" }
        }
        // In what is no URL the password can be anywhere.
        if url.contains("@"), (try? FetchTarget(url)) == nil { return "…" }
        return plain + query
    }
}
