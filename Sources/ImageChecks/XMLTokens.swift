// SPDX-License-Identifier: Apache-2.0

enum XMLToken: Equatable {
    /// `<name`; attributes and a ``tagEnd(isEmpty:)`` follow.
    case tag(name: Range<Int>)
    /// The value has no quotes.
    case attribute(name: Range<Int>, value: Range<Int>)
    /// `>`, or `/>` if the element is empty.
    case tagEnd(isEmpty: Bool)
    case close(name: Range<Int>)
    /// Text between tags; references are not resolved.
    case text(Range<Int>)
    case literal(Range<Int>)
    case comment(Range<Int>)
    /// `<?target …?>`, without the marks.
    case instruction(target: Range<Int>, content: Range<Int>)
    /// `<!DOCTYPE`; its end is not searched for.
    case documentType(start: Int)
}

/// Splits XML 1.0 (W3C, Fifth Edition) in UTF-8 into tokens.
///
/// It checks the form of tokens and attributes strictly: after it, only the programs that show a drawing parse it. The
/// caller checks that tags match and references are known. `XMLPieces` of ListParse is separate: it must split
/// malformed files as the property list parser does, not reject them.
struct XMLTokens {
    private(set) var offset: Int
    private var isWithinTag = false

    init(_ bytes: RawSpan) {
        offset = bytes.has([0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next(in bytes: RawSpan) throws(ImageFault) -> XMLToken? {
        if isWithinTag { return try attributeOrEnd(in: bytes) }
        guard offset < bytes.byteCount else { return nil }
        guard try bytes.byte(at: offset) == UInt8(ascii: "<") else {
            return .text(range(to: bytes.nextOffset(of: UInt8(ascii: "<"), from: offset) ?? bytes.byteCount))
        }
        switch try bytes.byte(at: offset + 1) {
        case UInt8(ascii: "/"):
            offset += 2
            let name = try name(in: bytes)
            try passSpace(in: bytes)
            try pass(">", in: bytes)
            return .close(name: name)
        case UInt8(ascii: "?"):
            offset += 2
            let target = try name(in: bytes)
            return .instruction(target: target, content: try range(toAndPast: "?>", in: bytes))
        case UInt8(ascii: "!"):
            return try declaration(in: bytes)
        default:
            offset += 1
            isWithinTag = true
            return .tag(name: try name(in: bytes))
        }
    }

    private mutating func declaration(in bytes: RawSpan) throws(ImageFault) -> XMLToken {
        let start = offset
        if bytes.has("<!--", at: start) {
            offset += 4
            return .comment(try range(toAndPast: "-->", in: bytes))
        }
        if bytes.has("<![CDATA[", at: start) {
            offset += 9
            return .literal(try range(toAndPast: "]]>", in: bytes))
        }
        if bytes.has("<!DOCTYPE", at: start) {
            offset += 9
            return .documentType(start: start)
        }
        // Shorter than any of these declarations: perhaps truncated.
        throw bytes.byteCount - start < 9 ? .truncated : .malformed("it has a declaration of an unknown kind")
    }

    private mutating func attributeOrEnd(in bytes: RawSpan) throws(ImageFault) -> XMLToken {
        let hasSpace = try passSpace(in: bytes)
        switch try bytes.byte(at: offset) {
        case UInt8(ascii: ">"):
            offset += 1
            isWithinTag = false
            return .tagEnd(isEmpty: false)
        case UInt8(ascii: "/"):
            offset += 1
            try pass(">", in: bytes)
            isWithinTag = false
            return .tagEnd(isEmpty: true)
        default:
            guard hasSpace else { throw .malformed("a tag is malformed") }
        }
        let name = try name(in: bytes)
        try passSpace(in: bytes)
        try pass("=", in: bytes)
        try passSpace(in: bytes)
        let quote = try bytes.byte(at: offset)
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw .malformed("an attribute has no quotes")
        }
        offset += 1
        guard let end = bytes.nextOffset(of: quote, from: offset) else { throw .truncated }
        defer { offset += 1 }
        return .attribute(name: name, value: range(to: end))
    }

    /// A name of ASCII letters, digits, `:._-`, and any characters beyond ASCII.
    private mutating func name(in bytes: RawSpan) throws(ImageFault) -> Range<Int> {
        var end = offset
        while end < bytes.byteCount, Self.isOfName(try bytes.byte(at: end)) { end += 1 }
        guard end > offset else {
            throw end == bytes.byteCount ? .truncated : .malformed("a name is missing")
        }
        guard !(UInt8(ascii: "-")...UInt8(ascii: "9")).contains(try bytes.byte(at: offset)) else {
            throw .malformed("a name does not begin with a letter")
        }
        return range(to: end)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    @discardableResult
    private mutating func passSpace(in bytes: RawSpan) throws(ImageFault) -> Bool {
        let start = offset
        while try bytes.byte(at: offset).isXMLSpace { offset += 1 }
        return offset > start
    }

    private mutating func pass(_ character: Unicode.Scalar, in bytes: RawSpan) throws(ImageFault) {
        guard try bytes.byte(at: offset) == UInt8(ascii: character) else { throw .malformed("a tag is malformed") }
        offset += 1
    }

    /// The range up to a mark; skips the mark.
    private mutating func range(toAndPast mark: String, in bytes: RawSpan) throws(ImageFault) -> Range<Int> {
        let start = offset
        guard let first = mark.utf8.first else { return start..<start }
        while let candidate = bytes.nextOffset(of: first, from: offset) {
            offset = candidate + 1
            guard bytes.has(mark, at: candidate) else { continue }
            offset = candidate + mark.utf8.count
            return start..<candidate
        }
        throw .truncated
    }

    /// The range up to an offset, where the next token begins.
    private mutating func range(to end: Int) -> Range<Int> {
        defer { offset = end }
        return offset..<end
    }
}
