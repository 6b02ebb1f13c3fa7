// SPDX-License-Identifier: Apache-2.0

/// Windows and OS/2 bitmaps (Microsoft's [MS-WMF] 2.2.2, and "Bitmap Storage").
///
/// A file header, a bitmap header whose length gives its version, and pixels. All rows must be present, or the end mark
/// of compressed ones. Bytes after them are ignored, and so is the length in the file header, which is often wrong.
enum BMP: ImageFormat {
    private static let fileHeaderLength = 14

    /// Text can begin with "BM" too, so the bitmap header must have a known length.
    static func recognises(_ bytes: RawSpan) -> Bool {
        guard bytes.has("BM"), let length = try? bytes.uint32(at: fileHeaderLength, .little) else { return false }
        return BitmapHeader.isLength(length)
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        try BitmapHeader(in: bytes, at: fileHeaderLength).size
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        let header = try BitmapHeader(in: bytes, at: fileHeaderLength)
        let headerEnd = fileHeaderLength + header.length
        let offset = try bytes.uint32(at: 10, .little)
        // 0 if the pixels follow the palette directly.
        let start = offset == 0 ? headerEnd + header.paletteLength : offset
        guard start >= headerEnd else { throw .malformed("its pixels begin within its header") }
        guard start < bytes.byteCount else { throw .truncated }
        var content = ImageContent(largest: size)
        content.add(picture: try header.checkPixels(in: bytes, at: start))
        return content
    }
}
