// SPDX-License-Identifier: Apache-2.0

/// The content that is refused in drawings, because showing it could run a script or send a request.
///
/// Browsers run and load nothing for an SVG in an `img`. Other readers of the cache may, and some insert a drawing's
/// text into a page. Drawings are refused, not cleaned (which would change their bytes), if they have:
/// - a document type, and with it entities; a style sheet instruction;
/// - elements for scripts, players or parts of pages, with any prefix, and the namespace of XHTML;
/// - script attributes (`on…`), and animations of those and of references;
/// - references (`href`, `src`, `url()` in styles) to anything but a part of the drawing (`#name`), or an embedded
///   bitmap or font (`data:`); `xml:base`, `@import`, and escapes in styles, which could hide one.
///
/// Embedded pictures are not inspected.
struct SVGPolicy {
    private static let elements = [
        "script", "foreignobject", "handler", "listener", "iframe", "object", "embed", "audio", "video", "animation",
        "img", "link", "meta", "base", "form",
    ]

    private var isFirst = true
    private var beginsStyle = false
    /// The scanner, while inside a `style` element.
    private var style: SVGStyle?

    mutating func check(_ token: XMLToken, in bytes: RawSpan) throws(ImageFault) {
        defer { isFirst = false }
        switch token {
        case .tag(let name):
            guard style == nil else { throw .malformed("an element is within a style") }
            let name = SVG.localName(of: name, in: bytes)
            for element in Self.elements where bytes.isEqualInAnyCase(name, element) {
                throw .forbidden("it has an element that can run or load something (\(element))")
            }
            beginsStyle = bytes.isEqualInAnyCase(name, "style")
        case .tagEnd(let isEmpty):
            if beginsStyle, !isEmpty { style = SVGStyle() }
            beginsStyle = false
        case .close:
            try style?.end()
            style = nil
        case .attribute(let name, let value):
            try SVGAttribute.check(name, value, in: bytes)
        case .text(let range):
            try checkText(XMLCharacters(range), in: bytes)
        case .literal(let range):
            try checkText(XMLCharacters(range, isLiteral: true), in: bytes)
        case .instruction(let target, let content):
            try checkInstruction(target, content, in: bytes)
        case .documentType:
            throw .forbidden("it has a document type (DOCTYPE)")
        case .comment:
            return
        }
    }

    /// Checks the references of text, and its safety inside a style.
    private mutating func checkText(_ characters: XMLCharacters, in bytes: RawSpan) throws(ImageFault) {
        var characters = characters
        while let character = try characters.next(in: bytes) { try style?.read(character) }
    }

    private func checkInstruction(
        _ target: Range<Int>, _ content: Range<Int>, in bytes: RawSpan
    ) throws(ImageFault) {
        if bytes.isEqualInAnyCase(target, "xml-stylesheet") { throw .forbidden("it has a style sheet elsewhere") }
        guard bytes.isEqualInAnyCase(target, "xml") else { return }
        guard isFirst, content.count < 256 else { throw .malformed("its XML declaration is out of place") }
        let text = try bytes.text(in: content).lowercased()
        // In ASCII, each byte is a Character.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .malformed("its XML declaration is not in ASCII") }
        guard !text.contains("encoding") || text.contains("utf-8") || text.contains("us-ascii") else {
            throw .malformed("it is not in UTF-8")
        }
    }
}
