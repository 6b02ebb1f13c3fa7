// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
import FoundationEssentials

/// An entry of `auth.toml`: what proves to a server that the agent may read its icons, and where it may be sent.
package struct Credential: Equatable, Sendable {
    package enum Proof: Equatable, Sendable {
        /// A user name and a password (RFC 7617).
        case basic(user: String, password: Secret)
        /// A bearer token (RFC 6750).
        case bearer(Secret)
        /// A header field of the server's own.
        case header(name: String, value: Secret)
        case certificate(ClientCertificate)
    }

    /// The only host that the credential is sent to, in lower case.
    package var host: String
    /// The port; `nil` for the default port of the URL's scheme.
    package var port: Int?
    /// The path below which URLs need the credential, such as `/private`; `nil` for all URLs of the host.
    package var path: String?
    /// The lists for whose icons it may be used.
    package var lists: Set<ListName>
    /// Whether icons behind the credential may be in a cache that everyone can read.
    package var isPublic: Bool
    /// Whether the credential may be sent over http, to a host in `network.allowHosts`.
    package var allowsHTTP: Bool
    package var proof: Proof

    package init(
        host: String, port: Int? = nil, path: String? = nil, lists: Set<ListName>, isPublic: Bool = false,
        allowsHTTP: Bool = false, proof: Proof
    ) {
        (self.host, self.port, self.path) = (host, port, path)
        (self.lists, self.isPublic, self.allowsHTTP, self.proof) = (lists, isPublic, allowsHTTP, proof)
    }

    /// Whether a URL needs the credential.
    ///
    /// A path with dot segments or empty segments is below no path: servers disagree on what it means.
    package func matches(_ target: FetchTarget) -> Bool {
        guard target.host == host, target.port == port ?? (target.isSecure ? 443 : 80) else { return false }
        guard let path else { return true }
        let rest = target.pathAndQuery.path
        guard rest.starts(withBytes: path), !Self.isAmbiguous(rest) else { return false }
        let next = rest.utf8.dropFirst(path.utf8.count).first
        return path.utf8.last == UInt8(ascii: "/") || next == nil || next == UInt8(ascii: "/")
    }

    /// Whether servers disagree on the meaning of a path's segments.
    package static func isAmbiguous(_ path: String) -> Bool {
        let segments = path.asciiLowercased.split(atByte: "/", omittingEmpty: false).dropFirst()
        return segments.dropLast().contains("") || path.utf8.contains(UInt8(ascii: "\\"))
            || segments.contains { segment in
                let plain = segment.replacing(bytes: "%2e", with: ".")
                // Some servers cut parameters off, or decode twice.
                let name = plain.split(atByte: ";", omittingEmpty: false).first ?? ""
                return name == "." || name == ".." || ["%2f", "%5c", "%25"].contains { segment.contains(bytes: $0) }
            }
    }

    /// The header field with the credential; `nil` for a certificate.
    package var field: (name: String, value: String)? {
        switch proof {
        case .basic(let user, let password):
            ("Authorization", "Basic " + Data("\(user):\(password.text)".utf8).base64EncodedString())
        case .bearer(let token): ("Authorization", "Bearer \(token.text)")
        case .header(let name, let value): (name, value.text)
        case .certificate: nil
        }
    }

    package var certificate: ClientCertificate? {
        if case .certificate(let certificate) = proof { certificate } else { nil }
    }
}

/// A certificate and its private key, as paths of PEM files.
package struct ClientCertificate: Hashable, Sendable {
    package var file: String
    package var key: String

    package init(file: String, key: String) {
        (self.file, self.key) = (file, key)
    }
}

extension Credential: CustomStringConvertible {
    /// The kind of credential and where it is used, without its secret: `bearer for icons.example.com/private`.
    package var description: String { "\(kind) for \(origin)" }

    /// The URLs that need the credential: `icons.example.com/private`.
    var origin: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(host)\(port.map { ":\($0)" } ?? "")\(path ?? "")"
    }

    private var kind: String {
        switch proof {
        case .basic: "basic"
        case .bearer: "bearer"
        case .header(let name, _): name
        case .certificate: "certificate"
        }
    }
}

extension FetchTarget {
    /// The path of the URL as sent, `/` if it has none; and its query, `nil` if it has none.
    var pathAndQuery: (path: String, query: Substring?) {
        let bytes = url.utf8
        let rest = bytes.dropFirst(isSecure ? 8 : 7).drop { !"/?".utf8.contains($0) }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        let query = rest.count > path.count ? Substring(rest.dropFirst(path.count + 1)) : nil
        return (path.isEmpty ? "/" : String(Substring(path)), query)
    }
}
