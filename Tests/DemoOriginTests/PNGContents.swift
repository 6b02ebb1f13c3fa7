// SPDX-License-Identifier: Apache-2.0

/// A PNG file taken apart by the letter of its specification, for files that are stored without compression.
struct PNGContents {
    struct Malformed: Error { var reason: String }

    struct Chunk {
        var type: String
        var content: [UInt8]
    }

    private(set) var chunks: [Chunk] = []

    /// Takes the file apart.
    ///
    /// - Throws: ``Malformed`` for a wrong signature, length or checksum.
    init(_ file: [UInt8]) throws(Malformed) {
        guard file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw Malformed(reason: "signature")
        }
        var rest = file.dropFirst(8)
        while !rest.isEmpty {
            guard rest.count >= 12 else { throw Malformed(reason: "a chunk without an end") }
            let length = Self.number(rest.prefix(4))
            guard rest.count >= 12 + length else { throw Malformed(reason: "a chunk longer than the file") }
            let body = rest.dropFirst(4).prefix(4 + length)
            guard Self.crc32(body) == Self.number(rest.dropFirst(8 + length).prefix(4)) else {
                throw Malformed(reason: "CRC-32")
            }
            chunks.append(
                Chunk(type: String(decoding: body.prefix(4), as: UTF8.self), content: Array(body.dropFirst(4))))
            rest = rest.dropFirst(12 + length)
        }
    }

    /// The content of the first chunk of the type.
    func content(of type: String) throws(Malformed) -> [UInt8] {
        guard let chunk = chunks.first(where: { $0.type == type }) else { throw Malformed(reason: "no \(type)") }
        return chunk.content
    }

    /// Width and height in pixels.
    func size() throws(Malformed) -> (width: Int, height: Int) {
        let header = try content(of: "IHDR")
        return (Self.number(header.prefix(4)), Self.number(header.dropFirst(4).prefix(4)))
    }

    /// The scan lines, out of the zlib stream's stored blocks.
    ///
    /// - Throws: ``Malformed`` for a block of another kind, a wrong length or a wrong checksum.
    func scanlines() throws(Malformed) -> [UInt8] {
        let stream = try content(of: "IDAT")
        guard Self.number(stream.prefix(2)) % 31 == 0, stream[0] & 0x0F == 8 else { throw Malformed(reason: "zlib") }
        var lines: [UInt8] = []
        var rest = stream.dropFirst(2)
        var isLast = false
        while !isLast {
            guard let mark = rest.first, mark <= 1, rest.count >= 5 else { throw Malformed(reason: "not stored") }
            let length = Self.number(rest.dropFirst(1).prefix(2).reversed())
            guard length ^ Self.number(rest.dropFirst(3).prefix(2).reversed()) == 0xFFFF, rest.count >= 5 + length
            else { throw Malformed(reason: "a block's length") }
            lines += rest.dropFirst(5).prefix(length)
            rest = rest.dropFirst(5 + length)
            isLast = mark == 1
        }
        guard rest.count == 4, Self.number(rest) == Self.adler32(lines) else { throw Malformed(reason: "Adler-32") }
        return lines
    }

    /// The palette's indices, row by row, at four bits a pixel.
    func pixels() throws(Malformed) -> [[UInt8]] {
        let (width, height) = try size()
        let lines = try scanlines()
        let bytesPerRow = 1 + (width + 1) / 2
        guard lines.count == bytesPerRow * height else { throw Malformed(reason: "the number of scan lines") }
        return stride(from: 0, to: lines.count, by: bytesPerRow).map { start in
            let pairs = lines[(start + 1)..<(start + bytesPerRow)].flatMap { [$0 >> 4, $0 & 0x0F] }
            return Array(pairs.prefix(width))
        }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func crc32(_ bytes: some Sequence<UInt8>) -> Int {
        var register: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 {
                let carry = register & 1
                register >>= 1
                if carry == 1 { register ^= 0xEDB8_8320 }
            }
        }
        return Int(register ^ 0xFFFF_FFFF)
    }

    private static func adler32(_ bytes: some Sequence<UInt8>) -> Int {
        var sums = (a: 1, b: 0)
        for byte in bytes {
            sums.a = (sums.a + Int(byte)) % 65_521
            sums.b = (sums.b + sums.a) % 65_521
        }
        return sums.b << 16 | sums.a
    }
}
