// SPDX-License-Identifier: Apache-2.0

extension RawSpan {
    func isEqual(_ range: Range<Int>, _ text: String) -> Bool {
        range.count == text.utf8.count && has(text, at: range.lowerBound)
    }

    /// Whether a range within the bytes equals a text of lower-case ASCII letters, ignoring case.
    func isEqualInAnyCase(_ range: Range<Int>, _ text: String) -> Bool {
        range.count == text.utf8.count && hasInAnyCase(text, at: range.lowerBound)
    }

    /// Whether a text of lower-case ASCII letters is at an offset, ignoring case.
    func hasInAnyCase(_ text: String, at offset: Int) -> Bool {
        var index = offset
        for letter in text.utf8 {
            guard let byte = try? byte(at: index), byte | 0x20 == letter else { return false }
            index += 1
        }
        return true
    }

    func text(in range: Range<Int>) throws(ImageFault) -> String {
        var units: [UInt8] = []
        for offset in range { units.append(try byte(at: offset)) }
        return String(decoding: units, as: UTF8.self)
    }

    func isEqual(_ range: Range<Int>, _ other: Range<Int>) throws(ImageFault) -> Bool {
        guard range.count == other.count else { return false }
        for (left, right) in zip(range, other) where try byte(at: left) != byte(at: right) { return false }
        return true
    }
}

enum UTF8Text {
    /// Checks that all bytes are well-formed UTF-8 without control characters that XML forbids.
    static func check(_ bytes: RawSpan) throws(ImageFault) {
        var offset = 0
        while offset < bytes.byteCount {
            let byte = try bytes.byte(at: offset)
            offset += 1
            if byte < 0x80 {
                let isControl = byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D
                guard !isControl else { throw .malformed("it has control characters") }
                continue
            }
            offset = try endOfCharacter(in: bytes, at: offset, after: byte)
        }
    }

    private static func endOfCharacter(
        in bytes: RawSpan, at start: Int, after lead: UInt8
    ) throws(ImageFault) -> Int {
        // The number of bytes that follow, and the values of the first of them (Unicode, table 3-7).
        let (count, first): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (1, 0x80...0xBF)
            case 0xE0: (2, 0xA0...0xBF)
            case 0xED: (2, 0x80...0x9F)
            case 0xE1...0xEF: (2, 0x80...0xBF)
            case 0xF0: (3, 0x90...0xBF)
            case 0xF1...0xF3: (3, 0x80...0xBF)
            case 0xF4: (3, 0x80...0x8F)
            default: throw .malformed("it is not in UTF-8")
            }
        for index in 0..<count {
            guard (index == 0 ? first : 0x80...0xBF).contains(try bytes.byte(at: start + index)) else {
                throw .malformed("it is not in UTF-8")
            }
        }
        return start + count
    }
}
