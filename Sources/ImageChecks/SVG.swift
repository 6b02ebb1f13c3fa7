// SPDX-License-Identifier: Apache-2.0

/// Scalable Vector Graphics (SVG 1.1 and 2): XML with an `svg` root; accepted only if the limits allow it.
///
/// The document must be well-formed UTF-8: tags match, references are known, and only comments follow the root. It must
/// have no document type, so it declares no entities. Undeclared prefixes and duplicate attributes are not detected.
/// ``SVGPolicy`` lists the refused content; ``SVGUses`` limits what `use` elements stand for.
enum SVG: ImageFormat {
    private static let namespace = "http://www.w3.org/2000/svg"
    private static let deepest = 256

    /// Whether the first element, or the document type before it, is `svg`.
    static func recognises(_ bytes: RawSpan) -> Bool {
        var tokens = XMLTokens(bytes)
        while let token = try? tokens.next(in: bytes) {
            switch token {
            case .tag(let name):
                return bytes.isEqual(localName(of: name, in: bytes), "svg")
            case .documentType(let start):
                return bytes.has(" svg", at: start + "<!DOCTYPE".utf8.count)
            case .text(let range):
                guard isSpace(range, in: bytes) else { return false }
            case .comment, .instruction:
                continue
            case .attribute, .tagEnd, .close, .literal:
                return false
            }
        }
        return false
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var tokens = XMLTokens(bytes)
        var size = SVGSize()
        var isInNamespace = false
        while let token = try tokens.next(in: bytes) {
            switch token {
            case .attribute(let name, let value):
                if bytes.has("xmlns", at: name.lowerBound), bytes.isEqual(value, namespace) { isInNamespace = true }
                try size.read(name, value, in: bytes)
            case .tagEnd:
                guard isInNamespace else { throw .malformed("its root is not in the namespace of SVG") }
                return try size.pixels()
            case .documentType:
                throw .forbidden("it has a document type (DOCTYPE)")
            default:
                continue
            }
        }
        throw .truncated
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        try bytes.checkXML()
        var tokens = XMLTokens(bytes)
        var policy = SVGPolicy()
        var open: [Range<Int>] = []
        var hasRoot = false
        while let token = try tokens.next(in: bytes) {
            try policy.check(token, in: bytes)
            switch token {
            case .tag(let name):
                guard !hasRoot || !open.isEmpty else { throw .malformed("it has two roots") }
                guard open.count < deepest else { throw .malformed("its elements nest deeper than \(deepest)") }
                hasRoot = true
                open.append(name)
            case .tagEnd(isEmpty: true):
                _ = open.popLast()
            case .close(let name):
                guard let last = open.popLast(), try bytes.isEqual(last, name) else {
                    throw .malformed("its tags do not match")
                }
            case .text(let range), .literal(let range):
                guard !open.isEmpty || isSpace(range, in: bytes) else { throw .malformed("text is outside its root") }
            case .attribute, .tagEnd, .comment, .instruction, .documentType:
                continue
            }
        }
        guard open.isEmpty else { throw .truncated }
        try SVGUses.check(bytes)
        return ImageContent(largest: size)
    }

    /// A name without its namespace prefix.
    static func localName(of name: Range<Int>, in bytes: RawSpan) -> Range<Int> {
        let colon = bytes.nextOffset(of: UInt8(ascii: ":"), from: name.lowerBound, before: name.upperBound)
        return colon.map { $0 + 1..<name.upperBound } ?? name
    }

    private static func isSpace(_ range: Range<Int>, in bytes: RawSpan) -> Bool {
        range.allSatisfy { (try? bytes.byte(at: $0).isXMLSpace) ?? false }
    }
}
