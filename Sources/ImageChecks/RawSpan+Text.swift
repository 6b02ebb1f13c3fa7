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

    /// Checks that all bytes are well-formed UTF-8 without control characters that XML forbids.
    func checkXML() throws(ImageFault) {
        for offset in 0..<byteCount {
            let byte = try byte(at: offset)
            guard byte >= 0x20 || byte.isXMLSpace else { throw .malformed("it has control characters") }
        }
        try withUnsafeBytes { bytes throws(ImageFault) in
            do throws(UTF8.ValidationError) {
                _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
            } catch {
                let isCut = error.kind == .truncatedScalar && error.byteOffsets.upperBound == bytes.count
                throw isCut ? .truncated : .malformed("it is not in UTF-8")
            }
        }
    }
}

extension UInt8 {
    /// Whether the byte is white space in XML.
    var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
