// SPDX-License-Identifier: Apache-2.0

/// The part of ``SVGPolicy`` for attributes.
enum SVGAttribute {
    private static let pages = Array("http://www.w3.org/1999/xhtml".utf8)
    /// Attributes of HTML that refer elsewhere, besides `href`, `src` and `srcset`.
    private static let references = [
        "action", "background", "codebase", "data", "formaction", "imagesrcset", "ping", "poster", "srcdoc",
    ]
    private static let longestName = 64

    static func check(_ name: Range<Int>, _ value: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        let local = SVG.localName(of: name, in: bytes)
        let hasPrefix = local != name
        if bytes.isEqualInAnyCase(local, "href") || bytes.isEqualInAnyCase(local, "src") {
            try checkReference(value, in: bytes)
        } else if bytes.isEqualInAnyCase(local, "srcset") {
            throw .forbidden("it refers elsewhere (srcset)")
        } else if bytes.hasInAnyCase("xmlns", at: name.lowerBound) {
            guard try beginning(of: value, in: bytes) != pages else { throw .forbidden("it has a page in it (XHTML)") }
        } else if hasPrefix {
            guard !bytes.isEqualInAnyCase(name, "xml:base") else { throw .forbidden("it refers elsewhere (xml:base)") }
            // Editors store any text there; only its character references are checked.
            _ = try beginning(of: value, in: bytes)
        } else {
            try checkPlain(local, value, in: bytes)
        }
    }

    /// Checks an attribute without a prefix, which can contain a style.
    private static func checkPlain(
        _ name: Range<Int>, _ value: Range<Int>, in bytes: RawSpan
    ) throws(ImageFault) {
        guard name.count < 2 || !bytes.hasInAnyCase("on", at: name.lowerBound) else {
            throw .forbidden("it has an attribute that can run something (on…)")
        }
        for reference in references where bytes.isEqualInAnyCase(name, reference) {
            throw .forbidden("it refers elsewhere (\(reference))")
        }
        if bytes.isEqualInAnyCase(name, "attributename") {
            guard value.count <= longestName else { throw .forbidden("it animates an attribute with a long name") }
            let animated = try beginning(of: value, in: bytes)
            guard !animated.suffix(4).elementsEqual("href".utf8), !animated.starts(with: "on".utf8) else {
                throw .forbidden("it animates a reference or a script")
            }
        }
        var style = SVGStyle()
        var characters = XMLCharacters(value)
        while let character = try characters.next(in: bytes) { try style.read(character) }
        try style.end()
    }

    private static func checkReference(_ value: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        var target = SVGTarget(acceptsQuotes: false)
        var characters = XMLCharacters(value)
        while let character = try characters.next(in: bytes) { try target.read(character) }
        // An empty reference means the drawing itself.
        try target.end(acceptsEmpty: true)
    }

    /// The first characters of a value, in lower case and without white space; the whole value is checked.
    private static func beginning(of value: Range<Int>, in bytes: RawSpan) throws(ImageFault) -> [UInt8] {
        var beginning: [UInt8] = []
        var characters = XMLCharacters(value)
        while let character = try characters.next(in: bytes) {
            if beginning.count < longestName, character > 0x20 { beginning.append(character.lowercasedASCII) }
        }
        return beginning
    }
}

extension UInt8 {
    /// The lower-case letter of an upper-case ASCII letter; other bytes unchanged.
    var lowercasedASCII: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}
