// SPDX-License-Identifier: Apache-2.0
import ImageChecks

/// An uncompressed square PNG with at most 16 colours.
struct PalettePNG {
    struct Colour: Equatable {
        var red, green, blue: UInt8
        var alpha: UInt8 = 255
    }

    private let side: Int
    private let palette: [Colour]
    private let scanlines: [UInt8]

    /// Creates an image; `colourAt` returns the palette index of each pixel, row by row.
    init(side: Int, palette: [Colour], colourAt: (_ x: Int, _ y: Int) -> Int) {
        precondition((1...Int(Int32.max)).contains(side), "a PNG has at least one pixel and at most 2^31 - 1 a row")
        precondition((1...16).contains(palette.count), "four bits a pixel name 16 colours")
        self.side = side
        self.palette = palette
        let bytesPerRow = (side + 1) / 2
        var scanlines: [UInt8] = []
        scanlines.reserveCapacity((bytesPerRow + 1) * side)
        for y in 0..<side {
            scanlines.append(0)  // the row's filter: none
            for x in stride(from: 0, to: side, by: 2) {
                let left = UInt8(colourAt(x, y))
                let right = x + 1 < side ? UInt8(colourAt(x + 1, y)) : 0
                scanlines.append(left << 4 | right)
            }
        }
        self.scanlines = scanlines
    }

    /// The file, padded if wanted to a size with a private ancillary chunk, which decoders ignore.
    ///
    /// The chunk has at least 12 bytes; if fewer are missing, nothing is added.
    func file(paddedTo wanted: Int = 0) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let depth: UInt8 = 4, indexedColour: UInt8 = 3
        file.appendChunk("IHDR", bigEndian(side) + bigEndian(side) + [depth, indexedColour, 0, 0, 0])
        file.appendChunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
        file.appendChunk("tRNS", palette.map(\.alpha))
        file.appendChunk("IDAT", stored(scanlines))
        let frame = 12  // the overhead of a chunk, and the size of the last one
        let missing = wanted - file.count - frame
        if missing >= frame { file.appendChunk("paDd", [UInt8](repeating: 0, count: missing - frame)) }
        file.appendChunk("IEND", [])
        return file
    }
}

extension [UInt8] {
    fileprivate mutating func appendChunk(_ type: String, _ content: [UInt8]) {
        let body = Array(type.utf8) + content
        let checksum = CRC32.checksum(of: body.span.bytes, in: 0..<body.count)
        append(contentsOf: bigEndian(content.count) + body + bigEndian(Int(checksum)))
    }
}

private func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}

/// A zlib stream of stored blocks (RFC 1950 and 1951).
private func stored(_ bytes: [UInt8]) -> [UInt8] {
    let longestBlock = 0xFFFF
    var stream: [UInt8] = [0x78, 0x01]
    stream.reserveCapacity(bytes.count + 5 * (bytes.count / longestBlock + 1) + 6)
    for start in stride(from: 0, to: bytes.count, by: longestBlock) {
        let block = bytes[start..<min(start + longestBlock, bytes.count)]
        let isLast = block.endIndex == bytes.count
        let length = UInt16(block.count)
        stream += [isLast ? 1 : 0]
        stream += [length, ~length].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        stream += block
    }
    return stream + bigEndian(Int(adler32(bytes)))
}

private func adler32(_ bytes: [UInt8]) -> UInt32 {
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in bytes {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
    }
    return high << 16 | low
}
