// SPDX-License-Identifier: Apache-2.0

/// Graphics Interchange Format, versions 87a and 89a.
///
/// A header with the size of the screen for frames, then blocks up to the trailer. Bytes after it are ignored. Some
/// programs omit the trailer; the data of the last frame must have its terminator, without which giflib shows nothing.
enum GIF: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has("GIF87a") || bytes.has("GIF89a") }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        _ = try bytes.range(at: 0, count: 13)
        return PixelSize(width: try bytes.uint16(at: 6, .little), height: try bytes.uint16(at: 8, .little))
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        var content = ImageContent(frames: 0, largest: size)
        var offset = 13 + paletteLength(flags: try bytes.byte(at: 10))
        while true {
            guard offset < bytes.byteCount || content.frames == 0 else { throw .endMissing(content) }
            let introducer = try bytes.byte(at: offset)
            offset += 1
            switch introducer {
            case 0x00:
                // Some programs write an extra empty sub-block.
                continue
            case 0x21:
                // The label of the extension; it does not affect how blocks are skipped.
                _ = try bytes.byte(at: offset)
                offset = try endOfBlocks(in: bytes, at: offset + 1)
            case 0x2C:
                let frame = PixelSize(
                    width: try bytes.uint16(at: offset + 4, .little),
                    height: try bytes.uint16(at: offset + 6, .little))
                content.frames += 1
                content.add(picture: frame)
                offset = try endOfFrame(in: bytes, at: offset)
            case 0x3B:
                guard content.frames > 0 else { throw .malformed("it has no picture") }
                return content
            default:
                throw .malformed("it has a block of an unknown kind")
            }
        }
    }

    /// The end of the frame whose descriptor is at an offset.
    private static func endOfFrame(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> Int {
        let start = offset + 9 + paletteLength(flags: try bytes.byte(at: offset + 8))
        guard (1...11).contains(try bytes.byte(at: start)) else {
            throw .malformed("the code size of a frame is wrong")
        }
        guard try bytes.byte(at: start + 1) > 0 else { throw .malformed("a frame has no data") }
        return try endOfBlocks(in: bytes, at: start + 1)
    }

    /// The end of a sequence of sub-blocks; the last one is empty.
    private static func endOfBlocks(in bytes: RawSpan, at start: Int) throws(ImageFault) -> Int {
        var offset = start
        while true {
            let length = Int(try bytes.byte(at: offset))
            offset += 1 + length
            if length == 0 { return offset }
        }
    }

    /// The palette length that the flags of a screen or frame announce; 0 if there is none.
    private static func paletteLength(flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }
}
