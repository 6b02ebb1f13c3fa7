// SPDX-License-Identifier: Apache-2.0

/// The content that is refused in drawings, because showing it could run a script or send a request.
///
/// Browsers run and load nothing for an SVG in an `img`. Other readers of the cache may, and some insert a drawing's
/// text into a page, where HTML ends comments, instructions and CDATA elsewhere than XML does. Drawings are refused, not
/// cleaned (which would change their bytes), if they have:
/// - a document type, and with it entities; an instruction besides the XML declaration and those of Adobe's metadata;
/// - elements for scripts, players or parts of pages, with any prefix, and the namespace of XHTML;
/// - a root with a prefix, or an element without a prefix whose name is not of SVG (``SVGElements``);
/// - script attributes (`on…`), and animations of those and of references;
/// - references (`href`, `src`, `url()` in styles) to anything but a part of the drawing (`#name`), or an embedded
///   bitmap or font (`data:`); `xml:base`, `@import`, and escapes in styles, which could hide one;
/// - comments that XML forbids or HTML ends early, `<` in CDATA, and anything but text in `title` and `desc`, whose
///   content is a page's.
///
/// Embedded pictures are not inspected.
struct SVGPolicy {
    private static let elements = [
        "script", "foreignobject", "handler", "listener", "iframe", "object", "embed", "audio", "video", "animation",
        "img", "link", "meta", "base", "form",
    ]

    private var isFirst = true
    private var hasRoot = false
    private var beginsStyle = false
    private var beginsDescription = false
    /// The scanner, while inside a `style` element.
    private var style: SVGStyle?
    /// Whether a `title` or `desc` is open.
    private var isDescription = false

    mutating func check(_ token: XMLToken, in bytes: RawSpan) throws(ImageFault) {
        defer { isFirst = false }
        switch token {
        case .tag(let name):
            guard style == nil else { throw .malformed("an element is within a style") }
            try checkElement(name, in: bytes)
        case .tagEnd(let isEmpty):
            if beginsStyle, !isEmpty { style = SVGStyle() }
            isDescription = beginsDescription && !isEmpty
            beginsStyle = false
            beginsDescription = false
        case .close:
            try style?.end()
            style = nil
            isDescription = false
        case .attribute(let name, let value):
            try SVGAttribute.check(name, value, in: bytes)
        case .text(let range):
            var characters = XMLCharacters(range)
            while let character = try characters.next(in: bytes) { try style?.read(character) }
        case .literal(let range):
            try checkDescription()
            for offset in range where bytes.has("<", at: offset) { throw .forbidden("it has a “<” in CDATA") }
            for offset in range { try style?.read(try bytes.byte(at: offset)) }
        case .instruction(let target, let content):
            try checkDescription()
            try checkInstruction(target, content, in: bytes)
        case .documentType:
            throw .forbidden("it has a document type (DOCTYPE)")
        case .comment(let range):
            try checkDescription()
            try checkComment(range, in: bytes)
        }
    }

    private mutating func checkElement(_ name: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        try checkDescription()
        let local = SVG.localName(of: name, in: bytes)
        for element in Self.elements where bytes.isEqualInAnyCase(local, element) {
            throw .forbidden("it has an element that can run or load something (\(element))")
        }
        beginsStyle = bytes.isEqualInAnyCase(local, "style")
        let hasPrefix = local != name
        guard hasRoot || !hasPrefix else { throw .forbidden("its root has a prefix") }
        hasRoot = true
        guard !hasPrefix else { return }
        try SVGElements.check(name, in: bytes)
        beginsDescription = bytes.isEqual(name, "title") || bytes.isEqual(name, "desc")
    }

    private func checkDescription() throws(ImageFault) {
        guard !isDescription else { throw .forbidden("its title or desc has more than text") }
    }

    /// Checks that a comment ends at the same place in XML and in HTML.
    private func checkComment(_ range: Range<Int>, in bytes: RawSpan) throws(ImageFault) {
        // With the first hyphen of its end, which must not continue one of its own.
        var isSound = !bytes.has(">", at: range.lowerBound) && !bytes.has("->", at: range.lowerBound)
        for offset in range where bytes.has("--", at: offset) { isSound = false }
        guard isSound else { throw .forbidden("it has a comment that ends early in HTML") }
    }

    private func checkInstruction(
        _ target: Range<Int>, _ content: Range<Int>, in bytes: RawSpan
    ) throws(ImageFault) {
        if bytes.isEqualInAnyCase(target, "xml-stylesheet") { throw .forbidden("it has a style sheet elsewhere") }
        for offset in content where bytes.has("<", at: offset) || bytes.has(">", at: offset) {
            throw .forbidden("it has an instruction that ends early in HTML")
        }
        guard bytes.isEqualInAnyCase(target, "xml") else {
            // Metadata of Adobe's.
            guard bytes.isEqual(target, "xpacket") || bytes.isEqual(target, "adobe-xap-filters") else {
                throw .forbidden("it has an instruction")
            }
            return
        }
        guard isFirst, content.count < 256 else { throw .malformed("its XML declaration is out of place") }
        let text = try bytes.text(in: content).lowercased()
        // In ASCII, each byte is a Character.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .malformed("its XML declaration is not in ASCII") }
        guard !text.contains("encoding") || text.contains("utf-8") || text.contains("us-ascii") else {
            throw .malformed("it is not in UTF-8")
        }
    }
}
