// SPDX-License-Identifier: Apache-2.0

/// Why a URL is refused before any request.
package enum URLRefusal: Error, Equatable, Sendable {
    /// A stable code for scripts.
    package enum Code: String, CaseIterable, Sendable {
        case badURL = "bad-url"
        case hostRefused = "host-refused"
        case portRefused = "port-refused"
        case schemeRefused = "scheme-refused"
        case userInfoRefused = "userinfo-refused"
    }

    /// Violates RFC 3986; the reason is a clause.
    case malformed(String)
    /// A `data:` URL that violates RFC 2397; the reason is a clause.
    case malformedData(String)
    case scheme(String)
    case userInfo
    /// Characters other than those of ASCII names and addresses.
    case hostCharacters
    /// Ends in a dot after a numeric label.
    case hostEnd
    case port

    package var code: Code {
        switch self {
        case .malformed, .malformedData: .badURL
        case .scheme: .schemeRefused
        case .userInfo: .userInfoRefused
        case .hostCharacters, .hostEnd: .hostRefused
        case .port: .portRefused
        }
    }
}

extension URLRefusal: CustomStringConvertible {
    /// A sentence without its full stop.
    package var description: String {
        switch self {
        case .malformed(let reason): "the URL is invalid: \(reason)"
        case .malformedData(let reason): "the data: URL is invalid: \(reason)"
        case .scheme(let scheme): "only http and https are supported, not “\(scheme)”"
        case .userInfo: "a URL that contains a user name is refused"
        case .hostCharacters:
            "its host has other characters than ASCII letters, digits, “-”, “.” and “_”: write it in Punycode"
        case .hostEnd: "its host ends in a dot and is not a name"
        case .port: "its port is not between 1 and 65535"
        }
    }
}
