// SPDX-License-Identifier: Apache-2.0

/// Portable Network Graphics, Third Edition (W3C, 2025): a signature, then chunks from `IHDR` to `IEND`.
///
/// Every chunk must be complete with a correct checksum, and critical chunks must be in order. Of the others, only
/// those of an animation are read. Bytes after `IEND` are ignored.
enum PNG: ImageFormat {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has(signature) }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        // Length and name, then 13 bytes of content and a checksum.
        let header = 16
        _ = try bytes.range(at: header, count: 13 + 4)
        guard try bytes.uint32(at: 8, .big) == 13, try bytes.code(at: 12) == "IHDR" else {
            throw .malformed("its first chunk is not an IHDR of 13 bytes")
        }
        let width = try bytes.uint32(at: header, .big)
        let height = try bytes.uint32(at: header + 4, .big)
        guard max(width, height) <= Int32.max else { throw .malformed("a side is longer than PNG allows") }
        let depth = try bytes.byte(at: header + 8)
        guard depths(ofColourType: try bytes.byte(at: header + 9)).contains(depth) else {
            throw .malformed("its bit depth and colour type do not go together")
        }
        guard try bytes.uint16(at: header + 10, .big) == 0, try bytes.byte(at: header + 12) <= 1 else {
            throw .malformed("its compression, filter or interlace method is unknown")
        }
        return PixelSize(width: width, height: height)
    }

    /// The bits of a pixel.
    static func depth(of bytes: RawSpan) throws(ImageFault) -> Int {
        let samples = [2: 3, 4: 2, 6: 4][try bytes.byte(at: 25)] ?? 1
        return Int(try bytes.byte(at: 24)) * samples
    }

    private static func depths(ofColourType colourType: UInt8) -> [UInt8] {
        switch colourType {
        case 0: [1, 2, 4, 8, 16]
        case 3: [1, 2, 4, 8]
        case 2, 4, 6: [8, 16]
        default: []
        }
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        ImageContent(frames: try walk(bytes, size).frames, largest: size)
    }

    /// Checks all chunks; returns the number of frames and the end of `IEND`.
    static func walk(_ bytes: RawSpan, _ size: PixelSize) throws(ImageFault) -> (frames: Int, end: Int) {
        var order = ChunkOrder(size: size, needsPalette: try bytes.byte(at: 25) == 3)
        var offset = signature.count
        while true {
            let chunk = try chunk(in: bytes, at: offset)
            try order.check(chunk, in: bytes)
            offset = chunk.content.upperBound + 4
            if chunk.name == "IEND" { return (try order.frames(), offset) }
        }
    }

    struct Chunk {
        var name: FourCharacterCode
        var content: Range<Int>
    }

    private static func chunk(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> Chunk {
        let length = try bytes.uint32(at: offset, .big)
        guard length <= Int32.max else { throw .malformed("a chunk is longer than PNG allows") }
        let name = try bytes.code(at: offset + 4)
        guard name.isLetters else { throw .malformed("the name of a chunk is not made of letters") }
        let content = try bytes.range(at: offset + 8, count: length)
        let checksum = try bytes.uint32(at: content.upperBound, .big)
        guard CRC32.checksum(of: bytes, in: offset + 4..<content.upperBound) == checksum else {
            throw .malformed("the checksum of a chunk is wrong")
        }
        return Chunk(name: name, content: content)
    }
}

extension PNG {
    private struct ChunkOrder {
        private enum Stage {
            case header, beforeData, data, afterData
        }

        private let size: PixelSize
        private let needsPalette: Bool
        private var stage = Stage.header
        private var hasPalette = false
        private var dataLength = 0
        private var animation: Animation?

        init(size: PixelSize, needsPalette: Bool) {
            (self.size, self.needsPalette) = (size, needsPalette)
        }

        mutating func check(_ chunk: Chunk, in bytes: RawSpan) throws(ImageFault) {
            if stage == .data, chunk.name != "IDAT" { stage = .afterData }
            switch chunk.name {
            case "IHDR":
                // The first chunk is an IHDR: `size(of:)` checked it.
                guard stage == .header else { throw .malformed("it has two headers (IHDR)") }
                stage = .beforeData
            case "PLTE":
                guard stage == .beforeData, !hasPalette else { throw .malformed("its palette is out of place (PLTE)") }
                guard chunk.content.count % 3 == 0, (3...768).contains(chunk.content.count) else {
                    throw .malformed("the length of its palette is wrong (PLTE)")
                }
                hasPalette = true
            case "IDAT":
                guard stage != .afterData else { throw .malformed("its data is not in one piece (IDAT)") }
                guard hasPalette || !needsPalette else { throw .malformed("it has no palette (PLTE)") }
                stage = .data
                dataLength += chunk.content.count
                animation?.defaultPicture()
            case "IEND":
                guard chunk.content.isEmpty else { throw .malformed("its last chunk is not empty (IEND)") }
                guard dataLength > 0 else { throw .malformed("it has no data (IDAT)") }
            case "acTL" where stage == .beforeData:
                // After IDAT it is ignored, and the picture is a still one.
                guard animation == nil else { throw .malformed("it has two animations (acTL)") }
                animation = try Animation(of: size, in: bytes, chunk.content)
            case "fcTL":
                try animation?.control(in: bytes, chunk.content)
            case "fdAT":
                try animation?.data(in: bytes, chunk.content)
            default:
                guard !chunk.name.isCapitalised else { throw .malformed("it needs a chunk that is unknown") }
            }
        }

        func frames() throws(ImageFault) -> Int { try animation?.end() ?? 1 }
    }
}
