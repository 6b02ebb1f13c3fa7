// SPDX-License-Identifier: Apache-2.0
import CacheFormat

package enum IconFlaw: Error, Equatable, CustomStringConvertible {
    case notAString
    case empty
    case tooLong(limit: Int)
    case notOneWord
    /// A URL with quotes or brackets around it.
    case wrapped(in: URLWrapping)
    /// A URL within other text, as formulas and Markdown have it.
    case withinText
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
        case .wrapped(let wrapping): "remove the \(wrapping.rawValue) around the URL"
        case .withinText: "has a URL within other text"
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
    /// it; only http, https and data URLs may have spaces inside. Whether it may be fetched is not checked here.
    package static func flaw(inIcon icon: String) -> IconFlaw? {
        let bytes = icon.utf8
        guard !bytes.isEmpty else { return .empty }
        let longest = DataURL(icon) == nil ? FetchTarget.maxLength : DataURL.maxLength
        guard bytes.count <= longest else { return .tooLong(limit: longest) }
        if let wrapping = URLWrapping(of: icon) { return .wrapped(in: wrapping) }
        var isOneWord = true
        let span = icon.utf8Span.span
        for index in span.indices {
            guard span[index] >= 0x20, span[index] != 0x7F else { return .notOneWord }
            if span[index] == 0x20 { isOneWord = false }
        }
        // A sentence with a colon in it is no URL.
        guard isOneWord || mayHaveSpaces(icon) else { return .notOneWord }
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
        let trimmed = trimmed(text)
        guard DataURL(trimmed) != nil, trimmed.utf8.contains(where: \.isWhiteSpace) else { return trimmed }
        return DataURL.withoutWhiteSpace(trimmed)
    }

    /// A text without the white space at its ends: that of Unicode, and the invisible marks that copied texts have.
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.first?.isBlank == true || scalars.last?.isBlank == true else { return text }
        let end = scalars.lastIndex { !$0.isBlank }.map { scalars.index(after: $0) } ?? scalars.startIndex
        return String(Substring(scalars[..<end].drop { $0.isBlank }))
    }

    /// Whether spaces may be in a text, though not at its ends: it begins with `http://`, `https://` or `data:`.
    private static func mayHaveSpaces(_ text: String) -> Bool {
        text.utf8.first != 0x20 && text.utf8.last != 0x20 && beginsAsURL(text)
    }

    /// Whether a text begins with `http://`, `https://` or `data:`.
    static func beginsAsURL(_ text: String) -> Bool {
        let start = Substring(text.utf8.prefix(8)).asciiLowercased
        return start.starts(withBytes: "http://") || start.starts(withBytes: "https://") || DataURL(text) != nil
    }

    /// Whether a text of a list tells that it is one: an absolute URL without spaces.
    package static func isPlainURL(_ text: String) -> Bool {
        let spelled = spelledIcon(text)
        return flaw(inIcon: spelled) == nil && !spelled.utf8.contains(0x20)
    }

    /// Whether an absolute URL begins otherwise than those of icons, as `mailto:` and `urn:` do.
    package static func hasOtherScheme(_ url: String) -> Bool {
        let spelled = spelledIcon(url)
        return flaw(inIcon: spelled) == nil && !beginsAsURL(spelled)
    }

    /// Whether a text is the relative URL of a file with the suffix of an image, possibly with spaces.
    static func isImageFile(_ text: String) -> Bool {
        let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let dot = path.lastIndex(of: UInt8(ascii: ".")), !path.contains(UInt8(ascii: ":")),
            !path.starts(with: "//".utf8), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return false }
        return imageSuffixes.contains(Substring(path[dot...]).asciiLowercased)
    }

    private static let imageSuffixes: Set = [
        ".avif", ".bmp", ".gif", ".heic", ".heif", ".icns", ".ico", ".jpeg", ".jpg", ".jxl", ".png", ".svg", ".tif",
        ".tiff", ".webp",
    ]

    /// Whether a text of a list is a word or a sentence: neither a URL, nor a blank or damaged text in place of a URL.
    package static func isProse(_ text: String) -> Bool {
        let text = spelledIcon(text)
        return switch flaw(inIcon: text) {
        case .relative:
            !text.utf8.contains(UInt8(ascii: "/")) && !isImageFile(text)
                && !AppList.blanks.contains(IconURL(text.asciiLowercased))
        case .notOneWord, .tooLong: !beginsAsURL(text) && !isImageFile(text)
        default: false
        }
    }

    /// Whether a text without a scheme has a URL in its first segment, where a relative URL has no colon (RFC 3986,
    /// section 4.2).
    static func hasURLWithin(_ text: String) -> Bool {
        let start = text.utf8.prefix { !"/?#".utf8.contains($0) }
        return start.last == UInt8(ascii: ":") && text.utf8[start.endIndex...].starts(with: "//".utf8)
    }

    /// Whether a text begins with an IPv4 address or a name in a common top-level domain, followed by a path.
    static func beginsWithHost(_ text: String) -> Bool {
        text.prefixMatch(of: /(\d+(\.\d+){3}|([A-Za-z0-9-]+\.)+(com|net|org|io|dev))(:\d+)?\//) != nil
    }
}

extension Unicode.Scalar {
    /// Whether it is white space, a zero-width space or joiner of words, or a byte order mark.
    fileprivate var isBlank: Bool {
        switch self {
        case "\u{200B}", "\u{2060}", "\u{FEFF}": true
        default: isASCII ? UInt8(ascii: self).isWhiteSpace : properties.isWhitespace
        }
    }
}
