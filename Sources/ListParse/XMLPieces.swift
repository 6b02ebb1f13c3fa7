// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Splits an XML property list into tags, texts and marked sections.
///
/// It splits as the underlying parser does: a tag ends at the first `>`, and attributes are not read. It accepts any
/// bytes, so that no array or dictionary that the parser sees goes uncounted. `XMLTokens` of ImageChecks is a separate
/// scanner for the opposite purpose: it reads attributes, and rejects what is not well-formed.
struct XMLPieces {
    enum Piece {
        case text
        /// `<name …>`, `<name …/>` or `</name>`; the name is given by its offset.
        case tag(name: Int, isEnd: Bool, isEmpty: Bool, isClosed: Bool)
        /// A comment, a CDATA section, an instruction or a declaration.
        case section(begin: StaticString, end: StaticString, isClosed: Bool)
    }

    private static let sections: [(begin: StaticString, end: StaticString)] = [
        ("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"),
    ]

    private let bytes: [UInt8]
    /// The offset of the next piece.
    private(set) var offset: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = bytes.textStart
    }

    /// The next piece; `nil` at the end.
    mutating func next() -> Piece? {
        guard offset < bytes.count else { return nil }
        let start = offset
        guard bytes[start] == UInt8(ascii: "<") else {
            offset = position(of: "<", from: start) ?? bytes.count
            return .text
        }
        let second = start + 1 < bytes.count ? bytes[start + 1] : 0
        if second == UInt8(ascii: "!") || second == UInt8(ascii: "?"),
            let (begin, end) = Self.sections.first(where: { has($0.begin, at: start) })
        {
            // To the parser, `<?>` is a complete instruction, but `<!-->` is not a complete comment.
            let found = position(of: end, from: start + (begin.utf8CodeUnitCount > 2 ? begin.utf8CodeUnitCount : 1))
            offset = found.map { $0 + end.utf8CodeUnitCount } ?? bytes.count
            return .section(begin: begin, end: end, isClosed: found != nil)
        }
        let isEnd = second == UInt8(ascii: "/")
        let close = position(of: ">", from: start + 1)
        offset = close.map { $0 + 1 } ?? bytes.count
        let isEmpty = close.map { bytes[$0 - 1] == UInt8(ascii: "/") } ?? false
        return .tag(name: start + (isEnd ? 2 : 1), isEnd: isEnd, isEmpty: isEmpty, isClosed: close != nil)
    }

    func has(_ text: StaticString, at offset: Int) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount, bytes[offset] == text.utf8Start.pointee else {
            return false
        }
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + offset, text.utf8Start, text.utf8CodeUnitCount) == 0 } ?? false
        }
    }

    /// The offset of the next occurrence of a text; `nil` if there is none.
    private func position(of text: StaticString, from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress else { return nil }
            var start = start
            while start < bytes.count,
                let found = memchr(first + start, Int32(text.utf8Start.pointee), bytes.count - start)
            {
                let position = UnsafeRawPointer(found) - first
                if text.utf8CodeUnitCount == 1 || has(text, at: position) { return position }
                start = position + 1
            }
            return nil
        }
    }
}
