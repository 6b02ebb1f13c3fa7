// SPDX-License-Identifier: Apache-2.0

/// The checksum of PNG chunks: the CRC of ISO 3309 and ITU-T V.42, bits reflected.
package enum CRC32 {
    private static let polynomial: UInt32 = 0xEDB8_8320

    /// At 256 × n + b, the contribution of byte b followed by n more bytes: eight rows, for eight bytes at a time.
    private static let table: [UInt32] = {
        var table: [UInt32] = []
        table.reserveCapacity(8 * 256)
        for byte in 0..<UInt32(256) {
            table.append((0..<8).reduce(byte) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? polynomial : 0) })
        }
        for index in 256..<8 * 256 {
            let before = table[index - 256]
            table.append(before >> 8 ^ table[Int(before & 0xFF)])
        }
        return table
    }()

    package static func checksum(of bytes: RawSpan, in range: Range<Int>) -> UInt32 {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.byteCount, "the range must be within the bytes")
        let table = table
        var sum: UInt32 = ~0
        var offset = range.lowerBound
        while range.upperBound - offset >= 8 {
            // Safe: any bytes are a valid integer, and the range was checked.
            let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let low = UInt32(truncatingIfNeeded: word) ^ sum
            let high = UInt32(truncatingIfNeeded: word >> 32)
            let first = table[0x700 | Int(low & 0xFF)] ^ table[0x600 | Int(low >> 8 & 0xFF)]
            let second = table[0x500 | Int(low >> 16 & 0xFF)] ^ table[0x400 | Int(low >> 24)]
            let third = table[0x300 | Int(high & 0xFF)] ^ table[0x200 | Int(high >> 8 & 0xFF)]
            let fourth = table[0x100 | Int(high >> 16 & 0xFF)] ^ table[Int(high >> 24)]
            sum = first ^ second ^ third ^ fourth
            offset += 8
        }
        while offset < range.upperBound {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
            offset += 1
        }
        return ~sum
    }
}
