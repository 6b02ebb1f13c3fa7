// SPDX-License-Identifier: Apache-2.0

/// Windows and OS/2 bitmaps: a file header, then a bitmap header whose own length tells its version.
enum BMP: ImageFormat {
    private static let fileHeaderLength = 14

    /// "BM" begins a lot of text too, so the length of the bitmap header has to be a known one.
    static func recognises(_ bytes: RawSpan) -> Bool {
        guard bytes.has("BM"), let length = try? bytes.uint32(at: fileHeaderLength, .little) else { return false }
        return isHeaderLength(length)
    }

    /// The bitmap header's size.
    ///
    /// The file length in the file header is often wrong, and not looked at.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let size = try bitmapSize(in: bytes, at: fileHeaderLength)
        guard try bytes.uint32(at: 10, .little) < bytes.byteCount else { throw .truncated }
        return size
    }

    /// The size that the bitmap header at an offset gives.
    static func bitmapSize(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> PixelSize {
        let length = try bytes.uint32(at: offset, .little)
        guard isHeaderLength(length) else { throw .malformed("the length of its bitmap header is unknown") }
        _ = try bytes.range(at: offset, count: length)
        let size: PixelSize
        let depth: Int
        if length == 12 {
            size = PixelSize(
                width: try bytes.uint16(at: offset + 4, .little), height: try bytes.uint16(at: offset + 6, .little))
            depth = try bytes.uint16(at: offset + 10, .little)
        } else {
            let width = Int32(truncatingIfNeeded: try bytes.uint32(at: offset + 4, .little))
            // Negative where the rows go from top to bottom.
            let height = Int32(truncatingIfNeeded: try bytes.uint32(at: offset + 8, .little))
            guard width >= 0 else { throw .malformed("its width is negative") }
            size = PixelSize(width: Int(width), height: Int(height.magnitude))
            depth = try bytes.uint16(at: offset + 14, .little)
        }
        // 0 where the pixels are a JPEG or a PNG.
        guard [0, 1, 2, 4, 8, 16, 24, 32, 64].contains(depth) else { throw .malformed("its bit depth is unknown") }
        return size
    }

    /// OS/2 1, OS/2 2 and Windows 3 with all their extensions, Windows 4, Windows 5.
    private static func isHeaderLength(_ length: Int) -> Bool {
        length == 12 || (16...64).contains(length) || length == 108 || length == 124
    }
}
