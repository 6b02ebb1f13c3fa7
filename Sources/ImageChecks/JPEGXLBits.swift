// SPDX-License-Identifier: Apache-2.0

/// Reads the bits of a JPEG XL codestream (ISO/IEC 18181-1, annex B), which can be in several pieces of a file.
///
/// The least significant bit of a byte comes first. After the last piece, reads throw ``ImageFault/truncated``.
///
/// - Complexity: O(*n*) in the number of bits and pieces, because no bit is read twice.
struct JPEGXLBits {
    private let pieces: [Range<Int>]
    private var piece = 0
    /// The offset in the file of the next byte.
    private var offset: Int
    /// The index of the next bit in that byte.
    private var bit = 0
    /// The number of bytes in all pieces.
    let byteCount: Int
    /// How many symbols codes may still have together: each code is a table, which a few bits can make large.
    private var symbols = 1 << 20

    /// The pieces must lie within the bytes that are read.
    init(_ pieces: [Range<Int>]) {
        self.pieces = pieces
        offset = pieces.first?.lowerBound ?? 0
        byteCount = pieces.reduce(0) { $0 + $1.count }
    }

    /// Counts the symbols of a code; fails if the codes together have far more than an image can need.
    mutating func spend(symbols count: Int) throws(ImageFault) {
        guard count <= symbols else { throw .malformed("its codes have too many symbols") }
        symbols -= count
    }

    /// Goes to the beginning of a byte.
    mutating func align() {
        guard bit > 0 else { return }
        (offset, bit) = (offset + 1, 0)
    }

    /// Moves ahead by whole bytes, all of which must exist; a byte whose bits were read in part is the first of them.
    mutating func skip(bytes count: Int) throws(ImageFault) {
        var left = count
        while left > 0 {
            try enterPiece()
            let step = min(left, pieces[piece].upperBound - offset)
            offset += step
            left -= step
        }
    }

    mutating func skip(bits count: Int) throws(ImageFault) {
        let end = bit + count
        try skip(bytes: end / 8)
        bit = end % 8
        if bit > 0 { try enterPiece() }
    }

    /// A number of 0 to 32 bits.
    mutating func number(_ count: Int, in bytes: RawSpan) throws(ImageFault) -> Int {
        var number = 0
        var done = 0
        while done < count {
            try enterPiece()
            let step = min(count - done, 8 - bit)
            let part = Int(try bytes.byte(at: offset)) >> bit & (1 << step - 1)
            number |= part << done
            done += step
            bit += step
            if bit == 8 { align() }
        }
        return number
    }

    mutating func flag(in bytes: RawSpan) throws(ImageFault) -> Bool { try number(1, in: bytes) == 1 }

    /// One of four numbers, or the only one: a constant, or bits to which one is added.
    mutating func choice(_ choices: [Choice], in bytes: RawSpan) throws(ImageFault) -> Int {
        let choice = choices[choices.count == 1 ? 0 : try number(2, in: bytes)]
        return choice.base + (try number(choice.bits, in: bytes))
    }

    mutating func enumeration(in bytes: RawSpan) throws(ImageFault) -> Int {
        try choice([.just(0), .just(1), .bits(4, from: 2), .bits(6, from: 18)], in: bytes)
    }

    /// A number of up to 64 bits.
    mutating func longNumber(in bytes: RawSpan) throws(ImageFault) -> UInt64 {
        switch try number(2, in: bytes) {
        case 0: return 0
        case 1: return 1 + UInt64(try number(4, in: bytes))
        case 2: return 17 + UInt64(try number(8, in: bytes))
        default:
            var number = UInt64(try number(12, in: bytes))
            var shift: UInt64 = 12
            while try flag(in: bytes) {
                number |= UInt64(try self.number(shift == 60 ? 4 : 8, in: bytes)) << shift
                guard shift < 60 else { break }
                shift += 8
            }
            return number
        }
    }

    /// A number that is given by its length, which takes `count` bits, and its bits.
    mutating func shortNumber(_ count: Int, in bytes: RawSpan) throws(ImageFault) -> Int {
        guard try flag(in: bytes) else { return 0 }
        let length = try number(count, in: bytes)
        return 1 << length + (try number(length, in: bytes))
    }

    /// Skips text with its length.
    mutating func skipName(in bytes: RawSpan) throws(ImageFault) {
        let length = try choice([.just(0), .bits(4), .bits(5, from: 16), .bits(10, from: 48)], in: bytes)
        try skip(bits: 8 * length)
    }

    /// Skips extensions that later editions may add.
    mutating func skipExtensions(in bytes: RawSpan) throws(ImageFault) {
        var length = 0
        for _ in 0..<(try longNumber(in: bytes)).nonzeroBitCount {
            guard let part = Int32(exactly: try longNumber(in: bytes)) else { throw .truncated }
            length += Int(part)
        }
        try skip(bits: length)
    }

    /// Moves on to the piece that has the next byte.
    private mutating func enterPiece() throws(ImageFault) {
        while piece < pieces.count, offset >= pieces[piece].upperBound {
            piece += 1
            if piece < pieces.count { offset = pieces[piece].lowerBound }
        }
        guard piece < pieces.count else { throw .truncated }
    }
}

extension JPEGXLBits {
    struct Choice {
        let base: Int
        let bits: Int

        static func just(_ base: Int) -> Choice { Choice(base: base, bits: 0) }

        static func bits(_ bits: Int, from base: Int = 0) -> Choice { Choice(base: base, bits: bits) }
    }
}
