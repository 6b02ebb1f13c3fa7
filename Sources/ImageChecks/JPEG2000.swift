// SPDX-License-Identifier: Apache-2.0

/// The size of JPEG 2000 pictures (ISO/IEC 15444-1), which ``ICNS`` can have: a codestream, alone or in boxes.
enum JPEG2000 {
    /// The marks of the start (SOC) and of the size (SIZ).
    private static let start: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]

    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has(start) || bytes.has("jP  ", at: 4) }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        if bytes.has(start) { return try codestreamSize(in: bytes, at: 0) }
        var declared: PixelSize?
        var boxes = ISOMedia.Boxes(0..<bytes.byteCount)
        while let box = try boxes.next(in: bytes) {
            if box.name == "jp2h" {
                var inner = ISOMedia.Boxes(box.content)
                guard let header = try inner.next(in: bytes), header.name == "ihdr" else { break }
                let offset = try header.content.atLeast(8).lowerBound
                declared = PixelSize(
                    width: try bytes.uint32(at: offset + 4, .big), height: try bytes.uint32(at: offset, .big))
            } else if box.name == "jp2c" {
                let size = try codestreamSize(in: bytes, at: box.content.lowerBound)
                guard size == declared else { throw .malformed("a JPEG 2000 picture in it gives two sizes") }
                return size
            }
        }
        throw .malformed("a JPEG 2000 picture in it has no data or size")
    }

    /// The size of the image area: its end less its offset.
    private static func codestreamSize(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> PixelSize {
        guard bytes.has(start, at: offset) else { throw .malformed("a JPEG 2000 picture in it has no data or size") }
        let (right, bottom) = (try bytes.uint32(at: offset + 8, .big), try bytes.uint32(at: offset + 12, .big))
        let (left, top) = (try bytes.uint32(at: offset + 16, .big), try bytes.uint32(at: offset + 20, .big))
        guard left < right, top < bottom else { throw .malformed("it has no pixels") }
        return PixelSize(width: right - left, height: bottom - top)
    }
}
