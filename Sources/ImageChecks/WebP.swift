// SPDX-License-Identifier: Apache-2.0

/// WebP (RFC 9649): RIFF chunks; the first one determines one of three forms.
///
/// The chunks must fill the length in the file header; bytes after it are ignored. An animation must have frames, and
/// every picture the size in its header.
enum WebP: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has("RIFF") && bytes.has("WEBP", at: 8) }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        try declaredSize(in: bytes, try firstChunk(in: bytes))
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        let first = try firstChunk(in: bytes)
        let isExtended = first.name == "VP8X"
        let isAnimated = isExtended ? try bytes.byte(at: first.content.lowerBound) & 0x02 != 0 : false
        var hasControl = false
        var frames = 0
        var pictures = isExtended ? 0 : 1
        var chunks = Chunks(first.end..<(try end(of: bytes)))
        while let chunk = try chunks.next(in: bytes) {
            switch chunk.name {
            case "ANIM" where isAnimated:
                guard chunk.content.count >= 6 else { throw .malformed("its animation control is too short (ANIM)") }
                hasControl = true
            case "ANMF" where isAnimated:
                guard hasControl else { throw .malformed("a frame comes before the animation control (ANMF)") }
                try checkFrame(in: bytes, chunk.content, canvas: size)
                frames += 1
            case "VP8 " where isExtended && !isAnimated, "VP8L" where isExtended && !isAnimated:
                guard try declaredSize(in: bytes, chunk) == size else {
                    throw .malformed("its picture has another size than its canvas")
                }
                pictures += 1
            default:
                continue
            }
        }
        guard isAnimated ? frames > 0 : pictures > 0 else { throw .malformed("it has no picture") }
        return ImageContent(frames: isAnimated ? frames : 1, largest: size)
    }

    private static func end(of bytes: RawSpan) throws(ImageFault) -> Int {
        let length = try bytes.uint32(at: 4, .little)
        guard length <= bytes.byteCount - 8 else { throw .truncated }
        return 8 + length
    }

    private static func firstChunk(in bytes: RawSpan) throws(ImageFault) -> Chunk {
        let end = try end(of: bytes)
        guard end >= 12 else { throw .malformed("it is too short for a chunk") }
        var chunks = Chunks(12..<end)
        guard let first = try chunks.next(in: bytes) else { throw .malformed("it has no chunks") }
        return first
    }

    /// Checks an `ANMF`: position and size of the frame, four unused bytes, then its picture.
    private static func checkFrame(
        in bytes: RawSpan, _ content: Range<Int>, canvas: PixelSize
    ) throws(ImageFault) {
        let start = content.lowerBound
        guard content.count >= 16 else { throw .malformed("a frame is too short (ANMF)") }
        let place = (
            x: 2 * (try bytes.number(at: start, size: 3, .little)),
            y: 2 * (try bytes.number(at: start + 3, size: 3, .little))
        )
        let size = try sides(in: bytes, at: start + 6)
        guard size.fits(at: place, in: canvas) else { throw .malformed("a frame does not fit on the canvas (ANMF)") }
        var chunks = Chunks(start + 16..<content.upperBound)
        var hasPicture = false
        while let chunk = try chunks.next(in: bytes) {
            guard ["VP8 ", "VP8L"].contains(chunk.name) else { continue }
            guard try declaredSize(in: bytes, chunk) == size else {
                throw .malformed("a picture has another size than its frame (ANMF)")
            }
            hasPicture = true
        }
        guard hasPicture else { throw .malformed("a frame has no picture (ANMF)") }
    }
}

extension WebP {
    private static func declaredSize(in bytes: RawSpan, _ chunk: Chunk) throws(ImageFault) -> PixelSize {
        switch chunk.name {
        case "VP8X": try sides(in: bytes, at: try chunk.content.atLeast(10, of: "a chunk").lowerBound + 4)
        case "VP8 ": try lossySize(in: bytes, chunk.content)
        case "VP8L": try losslessSize(in: bytes, chunk.content)
        default: throw .malformed("its first chunk is not one of VP8, VP8L and VP8X")
        }
    }

    /// VP8 data (RFC 6386, 9.1): a key frame tag, then the size.
    private static func lossySize(in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) -> PixelSize {
        let start = try content.atLeast(10, of: "a chunk").lowerBound
        let tag = try bytes.number(at: start, size: 3, .little)
        guard tag & 1 == 0, bytes.has([0x9D, 0x01, 0x2A], at: start + 3) else {
            throw .malformed("its VP8 data does not begin with a key frame")
        }
        guard tag >> 5 < content.count else { throw .malformed("a partition is longer than its chunk") }
        // The upper two bits request scaling, which no decoder does.
        return PixelSize(
            width: try bytes.uint16(at: start + 6, .little) & 0x3FFF,
            height: try bytes.uint16(at: start + 8, .little) & 0x3FFF)
    }

    private static func losslessSize(in bytes: RawSpan, _ content: Range<Int>) throws(ImageFault) -> PixelSize {
        let start = try content.atLeast(5, of: "a chunk").lowerBound
        let bits = try bytes.uint32(at: start + 1, .little)
        guard try bytes.byte(at: start) == 0x2F, bits >> 29 == 0 else {
            throw .malformed("its VP8L data has an unknown signature or version")
        }
        return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    /// A size of 24 bits for each side, less 1.
    private static func sides(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> PixelSize {
        PixelSize(
            width: try bytes.number(at: offset, size: 3, .little) + 1,
            height: try bytes.number(at: offset + 3, size: 3, .little) + 1)
    }
}

extension WebP {
    private struct Chunk {
        var name: FourCharacterCode
        var content: Range<Int>
        var end: Int
    }

    private struct Chunks {
        private var offset: Int
        private let end: Int

        /// The range must lie within the bytes.
        init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

        /// The next chunk; `nil` at the end of the range.
        mutating func next(in bytes: RawSpan) throws(ImageFault) -> Chunk? {
            guard offset < end else { return nil }
            guard end - offset >= 8 else { throw .malformed("a chunk is too short") }
            let name = try bytes.code(at: offset)
            let length = try bytes.uint32(at: offset + 4, .little)
            guard length <= end - offset - 8 else { throw .malformed("a chunk is longer than what holds it") }
            let content = offset + 8..<offset + 8 + length
            // Chunks are padded to an even length; some writers omit the padding of the last one.
            offset = min(content.upperBound + length & 1, end)
            return Chunk(name: name, content: content, end: offset)
        }
    }
}
