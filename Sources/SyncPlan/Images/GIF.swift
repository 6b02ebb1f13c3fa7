// SPDX-License-Identifier: Apache-2.0

/// Graphics Interchange Format: a header with the size of the screen that the frames are drawn on, then blocks.
enum GIF: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has("GIF87a") || bytes.has("GIF89a")
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let flags = try bytes.byte(at: 10)
        let paletteLength = flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
        // The rest of the header, the palette, and at least the byte that begins a block.
        _ = try bytes.range(at: 13, count: paletteLength + 1)
        return PixelSize(width: try bytes.uint16(at: 6, .little), height: try bytes.uint16(at: 8, .little))
    }
}
