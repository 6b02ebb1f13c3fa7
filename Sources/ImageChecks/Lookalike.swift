// SPDX-License-Identifier: Apache-2.0

/// Guesses the type of data that is not an accepted image, for messages.
enum Lookalike {
    private static let magic: [(name: String, bytes: [UInt8], offset: Int)] = [
        ("PDF", Array("%PDF-".utf8), 0),
        ("PostScript", Array("%!PS".utf8), 0),
        ("PostScript", [0xC5, 0xD0, 0xD3, 0xC6], 0),
        ("a Photoshop document", Array("8BPS".utf8), 0),
        ("an animated Windows cursor", Array("ACON".utf8), 8),
        ("MNG", [0x8A] + Array("MNG\r\n".utf8), 0),
        ("QOI", Array("qoif".utf8), 0),
        ("DDS", Array("DDS |".utf8), 0),
        ("XPM", Array("/* XPM */".utf8), 0),
        ("JPEG XL", Array("JXL ".utf8), 4),
        ("JPEG 2000", Array("jP  ".utf8), 4),
        ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51], 0),
        ("JPEG XR", [0x49, 0x49, 0xBC], 0),
        ("an ISO media file", Array("ftyp".utf8), 4),
        ("gzip", [0x1F, 0x8B], 0),
        ("ZIP", [0x50, 0x4B, 3, 4], 0),
    ]

    private static let reach = 1024

    /// A name for a message; `nil` if unknown.
    static func name(for bytes: RawSpan) -> String? {
        guard bytes.byteCount > 0 else { return "an empty file" }
        for candidate in magic where bytes.has(candidate.bytes, at: candidate.offset) {
            return candidate.name
        }
        if TGA.recognises(bytes) { return "TGA" }
        if isCursor(bytes) { return "a Windows cursor" }
        guard let text = text(in: bytes) else { return isPage(bytes) ? "HTML" : nil }
        switch text.first {
        case "<": return markup(in: text)
        case "{", "[": return "JSON"
        default: return "text"
        }
    }

    /// Whether the data begins like a directory of cursors, whose first picture comes after it; a TGA can begin so too.
    private static func isCursor(_ bytes: RawSpan) -> Bool {
        guard bytes.has([0, 0, 2, 0]), let count = try? bytes.uint16(at: 4, .little), count > 0,
            let length = try? bytes.uint32(at: 14, .little), let offset = try? bytes.uint32(at: 18, .little)
        else { return false }
        return length > 0 && offset >= 6 + 16 * count
    }

    private static func markup(in text: String) -> String {
        let text = text.lowercased()
        // A page can contain a drawing, but not the other way round.
        if text.contains("<!doctype html") || text.contains("<html") { return "HTML" }
        if text.contains("<svg") { return "SVG" }
        if text.contains("<?xml") { return "XML" }
        return "HTML"
    }

    /// Whether the data begins like an HTML page in another encoding than UTF-8, in which tags are ASCII all the same.
    private static func isPage(_ bytes: RawSpan) -> Bool {
        let units = (0..<reach).prefix(bytes.byteCount).compactMap { try? bytes.byte(at: $0) }
        guard units.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else { return false }
        let ascii = String(decoding: units.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self).lowercased()
        return ascii.contains("<!doctype html") || ascii.contains("<html")
    }

    /// The beginning of the data without leading white space; `nil` if it is not UTF-8 text.
    private static func text(in bytes: RawSpan) -> String? {
        var units: [UInt8] = []
        for offset in bytes.has([0xEF, 0xBB, 0xBF]) ? 3..<reach : 0..<reach {
            guard let unit = try? bytes.byte(at: offset) else { break }
            let isSpace = [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(unit)
            guard isSpace || unit > 0x20 && unit != 0x7F else { return nil }
            if !isSpace || !units.isEmpty { units.append(unit) }
        }
        let text = String(decoding: units, as: UTF8.self)
        // The last character may be cut off.
        return text.unicodeScalars.dropLast().contains("\u{FFFD}") ? nil : text
    }
}
