// SPDX-License-Identifier: Apache-2.0
package enum IconFlaw: Error, Equatable, CustomStringConvertible {
    case notAString
    case empty
    case tooLong(limit: Int)
    case notOneWord
    /// No scheme, and no base to resolve it against.
    case relative
    /// As ``relative``, but it begins with a host.
    case noScheme
    case schemeAlone
    /// Relative, and not resolvable against the base.
    case unresolvable

    /// A clause.
    package var description: String {
        switch self {
        case .notAString: "not a string"
        case .empty: "empty"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .notOneWord: "has a space or a control character in it"
        case .relative: "relative URL, and lists.iconBaseURL is not set"
        case .noScheme: "no http:// or https:// before the host"
        case .schemeAlone: "nothing follows the scheme"
        case .unresolvable: "relative URL that cannot be resolved"
        }
    }
}

extension AppEntry {
    /// The longest icon URL accepted, in UTF-8 bytes; the limit is lower for URLs other than `data:` ones.
    package static let maxIconBytes = DataURL.maxLength
    /// The longest `name` and `download` accepted, in UTF-8 bytes.
    package static let maxTextBytes = 4096

    /// Why a text is not an icon URL; `nil` if it is one.
    ///
    /// The URL must be absolute, without spaces and control characters. Whether it may be fetched is not checked here.
    package static func flaw(inIcon icon: String) -> IconFlaw? {
        let bytes = icon.utf8
        guard !bytes.isEmpty else { return .empty }
        let longest = DataURL(icon) == nil ? FetchTarget.maxLength : DataURL.maxLength
        guard bytes.count <= longest else { return .tooLong(limit: longest) }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return .notOneWord }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), FetchTarget.isScheme(bytes[..<colon]) else {
            return .relative
        }
        guard bytes.index(after: colon) != bytes.endIndex else { return .schemeAlone }
        return nil
    }

    /// Whether a text begins with an IPv4 address or a name in a common top-level domain, followed by a path.
    static func beginsWithHost(_ text: String) -> Bool {
        text.prefixMatch(of: /(\d+(\.\d+){3}|([A-Za-z0-9-]+\.)+(com|net|org|io|dev))(:\d+)?\//) != nil
    }
}
