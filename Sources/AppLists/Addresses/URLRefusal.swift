// SPDX-License-Identifier: Apache-2.0

/// Why a URL is refused for what it says, before any request.
package enum URLRefusal: Error, Equatable, Sendable {
    /// A stable word for scripts.
    package enum Code: String, CaseIterable, Sendable {
        case badURL = "bad-url"
        case hostRefused = "host-refused"
        case portRefused = "port-refused"
        case schemeRefused = "scheme-refused"
        case userInfoRefused = "userinfo-refused"
    }

    /// The text does not follow RFC 3986; the reason is a clause.
    case malformed(String)
    /// A `data:` URL does not follow RFC 2397; the reason is a clause.
    case malformedData(String)
    /// The scheme is neither http nor https.
    case scheme(String)
    case userInfo
    /// The host has other characters than names and addresses in ASCII have.
    case hostCharacters
    /// The host ends in a dot, and its last label is a number.
    case hostEnd
    /// The port is not between 1 and 65535.
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
