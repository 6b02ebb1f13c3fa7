// SPDX-License-Identifier: Apache-2.0

/// The characters of a range of XML, with references resolved.
///
/// They are UTF-8 bytes. A reference beyond ASCII becomes one ``beyondASCII``: only ASCII is searched for.
struct XMLCharacters {
    static let beyondASCII: UInt8 = 0xFF

    private var offset: Int
    private let end: Int

    /// The range must lie within the bytes.
    init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

    mutating func next(in bytes: RawSpan) throws(ImageFault) -> UInt8? {
        guard offset < end else { return nil }
        let byte = try bytes.byte(at: offset)
        switch byte {
        case UInt8(ascii: "&"): return try reference(in: bytes)
        case UInt8(ascii: "<"): throw .malformed("a value has a tag in it")
        default:
            offset += 1
            return byte
        }
    }

    private static let known: [(name: String, character: UInt8)] = [
        ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&amp;", UInt8(ascii: "&")),
        ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
    ]

    private mutating func reference(in bytes: RawSpan) throws(ImageFault) -> UInt8 {
        for (name, character) in Self.known where bytes.has(name, at: offset) {
            offset += name.utf8.count
            return character
        }
        guard bytes.has("&#", at: offset) else { throw .malformed("it refers to an entity") }
        let isHexadecimal = bytes.has("x", at: offset + 2)
        offset += isHexadecimal ? 3 : 2
        var number: UInt32 = 0
        var digits = 0
        while true {
            let byte = try bytes.byte(at: offset)
            offset += 1
            if byte == UInt8(ascii: ";") { break }
            guard let digit = Self.digit(byte, isHexadecimal: isHexadecimal), number <= 0x10FFFF else {
                throw .malformed("a reference is no number")
            }
            number = number * (isHexadecimal ? 16 : 10) + digit
            digits += 1
        }
        let isCharacter = number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number)
        guard digits > 0, isCharacter, Unicode.Scalar(number) != nil else {
            throw .malformed("a reference is to no character")
        }
        return UInt8(exactly: number).flatMap { $0 < 0x80 ? $0 : nil } ?? Self.beyondASCII
    }

    private static func digit(_ byte: UInt8, isHexadecimal: Bool) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46 where isHexadecimal: UInt32(byte - 0x41 + 10)
        case 0x61...0x66 where isHexadecimal: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }
}
