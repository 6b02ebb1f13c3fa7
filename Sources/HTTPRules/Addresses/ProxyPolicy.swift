// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

package struct Proxy: Hashable, Sendable {
    package enum Kind: Sendable {
        case http, socks5
    }

    package var kind: Kind
    package var host: String
    package var port: Int
    /// The user name and password, separated by a colon.
    package var credentials: String?

    /// Parses `[scheme://][user:password@]host[:port]`, the form of curl.
    ///
    /// The default scheme is `http` and the default port is 1080, as in curl.
    package init?(_ text: String) {
        var rest = Substring(text)
        kind = .http
        if let mark = rest.firstRange(of: "://") {
            switch rest[..<mark.lowerBound].asciiLowercased {
            case "http": kind = .http
            case "socks5", "socks5h": kind = .socks5
            default: return nil
            }
            rest = rest[mark.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            // Credentials are supported for HTTP proxies only.
            guard kind == .http, let bytes = PercentEncoding.decode(rest[..<at].utf8),
                let decoded = String(validating: bytes, as: UTF8.self), decoded.contains(":")
            else { return nil }
            credentials = decoded
            rest = rest[rest.utf8.index(after: at)...]
        }
        guard let target = try? FetchTarget("http://\(rest)"), !rest.isEmpty else { return nil }
        host = target.host
        port = rest.last == ":" || rest.ends(withBytes: ":\(target.port)") ? target.port : 1080
    }
}

extension Proxy {
    /// Whether the text has a scheme or a port.
    ///
    /// curl accepts a bare host too, but in a setting that is more often a mistake than a proxy.
    package static func isExplicit(_ text: String) -> Bool {
        let host = text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text[...]
        return text.contains("://") || host.contains(":")
    }
}

extension Proxy: CustomStringConvertible {
    /// The host and port, without credentials.
    package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

    /// The text of a proxy without its user name and password.
    ///
    /// For an invalid proxy only the scheme is kept: any other part may be a password.
    package static func withoutPassword(_ text: String) -> String {
        guard Proxy(text) != nil || text.isEmpty else {
            let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] } ?? ""
            return schemes.contains(scheme.asciiLowercased) ? "\(scheme)://…" : "…"
        }
        return text.utf8.lastIndex(of: UInt8(ascii: "@")).map { "…\(text[$0...])" } ?? text
    }

    private static let schemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
}

/// Which requests use a proxy, by the environment variables of curl (`curl(1)`, “ENVIRONMENT”).
package struct ProxyPolicy: Equatable, Sendable {
    /// What `no_proxy` exempts.
    private enum Exception: Equatable, Sendable {
        case everything
        case network(AddressRange)
        case host(HostPattern)
    }

    private var http: Proxy?
    private var https: Proxy?
    private var exceptions: [Exception] = []

    package init() {}

    /// Uses `fetch.proxy` for all schemes if it is set, else the environment; `no_proxy` applies either way.
    ///
    /// `http_proxy` counts in lower case only: in a CGI program, `HTTP_PROXY` is a header field of the client.
    ///
    /// - Throws: A ``SettingError`` for an invalid proxy.
    package init(setting: String?, environment: (String) -> String?) throws(SettingError) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = environment(name), !text.isEmpty { return (name, text) }
            }
            return nil
        }
        if let setting {
            http = try Self.proxy(("fetch.proxy", setting))
            https = http
        } else {
            let all = value("all_proxy", "ALL_PROXY")
            http = try Self.proxy(value("http_proxy") ?? all)
            https = try Self.proxy(value("https_proxy", "HTTPS_PROXY") ?? all)
        }
        exceptions = (value("no_proxy", "NO_PROXY")?.text ?? "").split { ", \t".contains($0) }.map { word in
            let word = word.last == "." ? word.dropLast() : word
            if word == "*" { return .everything }
            if let range = AddressRange(String(word)) { return .network(range) }
            return .host(.domain(word.drop { $0 == "." }.asciiLowercased))
        }
    }

    private static func proxy(_ source: (name: String, text: String)?) throws(SettingError) -> Proxy? {
        guard let source else { return nil }
        guard let proxy = Proxy(source.text) else {
            throw SettingError(
                name: source.name, value: Proxy.withoutPassword(source.text),
                form: "an http or socks5 proxy such as http://proxy.example.com:3128")
        }
        return proxy
    }

    package var proxies: Set<Proxy> { Set([http, https].compactMap(\.self)) }

    /// The proxy for a request; `nil` for a direct connection.
    package func proxy(for target: FetchTarget) -> Proxy? {
        guard !target.isFile, let proxy = target.isSecure ? https : http else { return nil }
        return exceptions.contains { Self.matches($0, target.host) } ? nil : proxy
    }

    private static func matches(_ exception: Exception, _ host: String) -> Bool {
        switch exception {
        case .everything: true
        case .network(let range): IPAddress(host).map(range.contains) ?? false
        case .host(let pattern): pattern.matches(host)
        }
    }
}
