// SPDX-License-Identifier: Apache-2.0

/// JPEG: markers, most with a segment; the frame header has the size.
enum JPEG: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has([0xFF, 0xD8, 0xFF])
    }

    /// The frame header's size.
    ///
    /// A height of 0, which a later marker may replace, is not supported.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var offset = 2
        while true {
            // Any number of 0xFF may lead to a marker; stray bytes before it are passed over, as decoders do.
            while try bytes.byte(at: offset) != 0xFF { offset += 1 }
            while try bytes.byte(at: offset) == 0xFF { offset += 1 }
            let marker = try bytes.byte(at: offset)
            offset += 1
            switch marker {
            case 0x00, 0x01, 0xD0...0xD7:
                continue
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return try frameSize(in: bytes, at: offset)
            case 0xD8...0xDA:
                throw .malformed("a scan or the end comes before the frame header")
            default:
                let length = try bytes.uint16(at: offset, .big)
                guard length >= 2 else { throw .malformed("a segment is shorter than its length field") }
                offset += length
            }
        }
    }

    private static func frameSize(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> PixelSize {
        let length = try bytes.uint16(at: offset, .big)
        let components = Int(try bytes.byte(at: offset + 7))
        guard components > 0, length == 8 + 3 * components else {
            throw .malformed("the length of its frame header does not fit its components")
        }
        _ = try bytes.range(at: offset, count: length)
        return PixelSize(
            width: try bytes.uint16(at: offset + 5, .big), height: try bytes.uint16(at: offset + 3, .big))
    }
}
