// SPDX-License-Identifier: Apache-2.0

/// WebP: RIFF chunks, of which the first has the size, in one of three forms.
enum WebP: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has("RIFF") && bytes.has("WEBP", at: 8)
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let length = try bytes.uint32(at: 4, .little)
        guard length <= bytes.byteCount - 8 else { throw .truncated }
        let name = try bytes.code(at: 12)
        let chunkLength = try bytes.uint32(at: 16, .little)
        // What the length of the file covers before the first chunk's content: a name, and the chunk's own header.
        guard chunkLength <= length - 12 else { throw .malformed("its first chunk is longer than the file") }
        guard chunkLength >= 10 || name == "VP8L" && chunkLength >= 5 else {
            throw .malformed("its first chunk is too short")
        }
        switch name {
        case "VP8 ": return try lossySize(in: bytes, chunkLength: chunkLength)
        case "VP8L": return try losslessSize(in: bytes)
        case "VP8X": return try canvasSize(in: bytes)
        default: throw .malformed("its first chunk is not one of VP8, VP8L and VP8X")
        }
    }

    private static let content = 20

    private static func lossySize(in bytes: RawSpan, chunkLength: Int) throws(ImageFault) -> PixelSize {
        let tag = try bytes.number(at: content, size: 3, .little)
        guard tag & 1 == 0, bytes.has([0x9D, 0x01, 0x2A], at: content + 3) else {
            throw .malformed("its VP8 data does not begin with a key frame")
        }
        guard tag >> 5 < chunkLength else { throw .malformed("a partition is longer than its chunk") }
        // The upper two bits ask for scaling, which no decoder does.
        return PixelSize(
            width: try bytes.uint16(at: content + 6, .little) & 0x3FFF,
            height: try bytes.uint16(at: content + 8, .little) & 0x3FFF)
    }

    private static func losslessSize(in bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let bits = try bytes.uint32(at: content + 1, .little)
        guard try bytes.byte(at: content) == 0x2F, bits >> 29 == 0 else {
            throw .malformed("its VP8L data has an unknown signature or version")
        }
        return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    private static func canvasSize(in bytes: RawSpan) throws(ImageFault) -> PixelSize {
        PixelSize(
            width: try bytes.number(at: content + 4, size: 3, .little) + 1,
            height: try bytes.number(at: content + 7, size: 3, .little) + 1)
    }
}
