// SPDX-License-Identifier: Apache-2.0

/// Searches a style for references, character by character.
struct SVGStyle {
    /// The last eight characters, in lower case.
    private var window: UInt64 = 0
    private var target: SVGTarget?

    mutating func read(_ character: UInt8) throws(ImageFault) {
        guard character != UInt8(ascii: "\\") else {
            throw .forbidden("a style has an escape, which could hide something")
        }
        if target != nil {
            try target?.read(character)
            if target?.isAccepted == true { target = nil }
            return
        }
        window = window << 8 | UInt64(character.lowercasedASCII)
        switch character {
        case UInt8(ascii: "("):
            if ends(with: Self.url) { target = SVGTarget(acceptsQuotes: true) }
            guard !ends(with: Self.source), !ends(with: Self.imageSet) else {
                throw .forbidden("a style refers elsewhere")
            }
        case UInt8(ascii: "t"), UInt8(ascii: "T"):
            guard !ends(with: Self.importRule) else { throw .forbidden("a style refers elsewhere (@import)") }
        default:
            return
        }
    }

    func end() throws(ImageFault) {
        try target?.end(acceptsEmpty: false)
    }

    private func ends(with text: UInt64) -> Bool {
        // Compares only the length of the text.
        window & (~0 >> UInt64(text.leadingZeroBitCount / 8 * 8)) == text
    }

    private static let url = packed("url(")
    private static let source = packed("src(")
    /// The last eight characters of `image-set(`.
    private static let imageSet = packed("age-set(")
    private static let importRule = packed("@import")

    private static func packed(_ text: String) -> UInt64 {
        text.utf8.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Checks a reference's target, character by character.
struct SVGTarget {
    /// Embedded bitmaps and fonts; these cannot refer to anything.
    private static let accepted: [[UInt8]] = [
        "data:image/png", "data:image/jpeg", "data:image/jpg", "data:image/gif", "data:image/webp", "data:font/",
        "data:application/font", "data:application/x-font",
    ].map { Array($0.utf8) }

    private(set) var isAccepted = false
    private var isQuoted = false
    private var beginning: [UInt8] = []
    /// Whether quotes may stand around the target, as in a style; in an attribute they are part of it.
    private let acceptsQuotes: Bool

    init(acceptsQuotes: Bool) {
        self.acceptsQuotes = acceptsQuotes
    }

    mutating func read(_ character: UInt8) throws(ImageFault) {
        guard !isAccepted else { return }
        let isQuote = character == UInt8(ascii: "\"") || character == UInt8(ascii: "'")
        if beginning.isEmpty, character <= 0x20 { return }
        // A second quote would be a part of the target.
        if beginning.isEmpty, acceptsQuotes, isQuote, !isQuoted {
            isQuoted = true
            return
        }
        if beginning.isEmpty, character == UInt8(ascii: "#") {
            isAccepted = true
            return
        }
        beginning.append(character.lowercasedASCII)
        guard let candidate = Self.accepted.first(where: { $0.starts(with: beginning) }) else {
            throw .forbidden("it refers elsewhere")
        }
        isAccepted = candidate == beginning
    }

    func end(acceptsEmpty: Bool) throws(ImageFault) {
        guard isAccepted || acceptsEmpty && beginning.isEmpty else { throw .forbidden("it refers elsewhere") }
    }
}
