// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Quotes or brackets that were left around a copied URL.
package enum URLWrapping: String, CaseIterable, Sendable {
    case quotes
    case angleBrackets = "angle brackets"
    case squareBrackets = "square brackets"
    case parentheses

    /// `nil` if a text is not a wrapped URL.
    ///
    /// A sentence that begins with a quoted URL is none: with white space inside, the end must be wrapped, too.
    init?(of text: String) {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, let wrapping = Self(opening: first) else {
            return nil
        }
        let rest = String(Substring(scalars.drop { $0 == " " || Self(opening: $0) != nil }))
        guard AppEntry.beginsAsURL(rest), Self.isEnd(last) || !rest.utf8.contains(where: { $0 <= 0x20 }) else {
            return nil
        }
        self = wrapping
    }

    /// What a URL ends in that is hardly meant, such as `a comma`; `nil` for most.
    package static func end(of url: IconURL) -> String? {
        guard let last = url.text.unicodeScalars.last, isEnd(last), DataURL(url.text) == nil else { return nil }
        return switch last {
        case ",": "a comma"
        case ";": "a semicolon"
        case ">": "an angle bracket"
        // They are part of names.
        case ")", "]": nil
        default: "a quote"
        }
    }

    private init?(opening: Unicode.Scalar) {
        switch opening {
        case "\"", "'", "`", "“", "”", "„", "‘", "’", "‚", "«", "»", "‹", "›": self = .quotes
        case "<": self = .angleBrackets
        case "[": self = .squareBrackets
        case "(": self = .parentheses
        default: return nil
        }
    }

    /// Whether a wrapped URL can end with it; a separator can follow what closes.
    private static func isEnd(_ scalar: Unicode.Scalar) -> Bool {
        ">]),;".unicodeScalars.contains(scalar) || Self(opening: scalar) == .quotes
    }
}
