// SPDX-License-Identifier: Apache-2.0

enum ByteOrder {
    case big
    case little
}

/// Reads at any offset; outside the bytes they throw ``ImageFault/truncated``.
extension RawSpan {
    func byte(at offset: Int) throws(ImageFault) -> UInt8 {
        guard offset >= 0, offset < byteCount else { throw .truncated }
        // Safe: any byte is a valid UInt8, and the offset was checked.
        return unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// An unsigned number of 1 to 8 bytes.
    func number(at offset: Int, size: Int, _ order: ByteOrder) throws(ImageFault) -> Int {
        let range = try range(at: offset, count: size)
        var number: UInt64 = 0
        switch order {
        case .big: for index in range { number = number << 8 | UInt64(try byte(at: index)) }
        case .little: for index in range.reversed() { number = number << 8 | UInt64(try byte(at: index)) }
        }
        guard let number = Int(exactly: number) else { throw .malformed("a number in it is larger than any file") }
        return number
    }

    func uint16(at offset: Int, _ order: ByteOrder) throws(ImageFault) -> Int {
        try number(at: offset, size: 2, order)
    }

    func uint32(at offset: Int, _ order: ByteOrder) throws(ImageFault) -> Int {
        try number(at: offset, size: 4, order)
    }

    func code(at offset: Int) throws(ImageFault) -> FourCharacterCode {
        FourCharacterCode(UInt32(truncatingIfNeeded: try uint32(at: offset, .big)))
    }

    /// The offset of the next occurrence of a byte; `nil` if there is none before `end`.
    func nextOffset(of byte: UInt8, from start: Int, before end: Int = .max) -> Int? {
        guard start >= 0 else { return nil }
        let end = min(end, byteCount)
        var offset = start
        while offset < end {
            if unsafeLoad(fromByteOffset: offset, as: UInt8.self) == byte { return offset }
            offset += 1
        }
        return nil
    }

    /// A range of `count` bytes, all of which must exist.
    func range(at offset: Int, count: Int) throws(ImageFault) -> Range<Int> {
        guard offset >= 0, count >= 0, offset <= byteCount - count else { throw .truncated }
        return offset..<offset + count
    }

    func has(_ pattern: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        guard offset >= 0, offset <= byteCount - pattern.count else { return false }
        var index = offset
        for byte in pattern {
            guard unsafeLoad(fromByteOffset: index, as: UInt8.self) == byte else { return false }
            index += 1
        }
        return true
    }

    func has(_ text: String, at offset: Int = 0) -> Bool {
        has(text.utf8, at: offset)
    }
}

/// The four-byte name of a chunk, a box or an icon element.
struct FourCharacterCode: Hashable, ExpressibleByStringLiteral {
    private let value: UInt32

    init(_ value: UInt32) {
        self.value = value
    }

    @inline(__always)
    init(stringLiteral text: String) {
        var value: UInt32 = 0
        for unit in text.utf8 { value = value << 8 | UInt32(unit) }
        self.value = value
    }

    var isLetters: Bool {
        isMade(of: 0x41...0x5A, ignoring: 0x20)
    }

    var isPrintable: Bool {
        isMade(of: 0x20...0x7E, ignoring: 0)
    }

    private func isMade(of range: ClosedRange<UInt32>, ignoring bit: UInt32) -> Bool {
        var rest = value
        for _ in 0..<4 {
            guard range.contains(rest & 0xFF & ~bit) else { return false }
            rest >>= 8
        }
        return true
    }

    var isCapitalised: Bool { value & 0x2000_0000 == 0 }
}
