// SPDX-License-Identifier: Apache-2.0
package enum IconFlaw: Error, Equatable, CustomStringConvertible {
    case notAString
    case empty
    case tooLong(limit: Int)
    case controlCharacter
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
        case .controlCharacter: "has a control character in it"
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
    /// The URL must be absolute, without control characters and without spaces at its ends, as ``spelledIcon(_:)`` gives
    /// it. Whether it may be fetched is not checked here.
    package static func flaw(inIcon icon: String) -> IconFlaw? {
        let bytes = icon.utf8
        guard !bytes.isEmpty else { return .empty }
        let longest = DataURL(icon) == nil ? FetchTarget.maxLength : DataURL.maxLength
        guard bytes.count <= longest else { return .tooLong(limit: longest) }
        guard bytes.first != 0x20, bytes.last != 0x20, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return .controlCharacter
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), FetchTarget.isScheme(bytes[..<colon]) else {
            return .relative
        }
        guard bytes.index(after: colon) != bytes.endIndex else { return .schemeAlone }
        return nil
    }

    /// An icon URL as it is used, of one as a list spells it.
    ///
    /// Writers wrap long texts: white space at both ends is removed, and within the data of a `data:` URL (Fetch Standard,
    /// “data: URLs”). A space anywhere else stays, and is percent-encoded in requests.
    package static func spelledIcon(_ text: String) -> String {
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !$0.isWhiteSpace }),
            let last = bytes.lastIndex(where: { !$0.isWhiteSpace })
        else { return "" }
        let trimmed = text[first...last]
        let whole = first == bytes.startIndex && bytes.index(after: last) == bytes.endIndex ? text : String(trimmed)
        guard trimmed.utf8.contains(where: \.isWhiteSpace), DataURL(whole) != nil else { return whole }
        return DataURL.withoutWhiteSpace(whole)
    }

    /// Whether a text begins with an IPv4 address or a name in a common top-level domain, followed by a path.
    static func beginsWithHost(_ text: String) -> Bool {
        text.prefixMatch(of: /(\d+(\.\d+){3}|([A-Za-z0-9-]+\.)+(com|net|org|io|dev))(:\d+)?\//) != nil
    }
}
