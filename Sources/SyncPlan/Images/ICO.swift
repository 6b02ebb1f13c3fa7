// SPDX-License-Identifier: Apache-2.0

/// Windows icons: a directory of pictures, each a PNG or a bitmap without its file header.
///
/// Cursors, which differ in one byte, are not accepted.
enum ICO: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has([0, 0, 1, 0])
    }

    /// The size of the picture with the most pixels.
    ///
    /// It is taken from the pictures themselves, which decoders go by: the directory has one byte a side (0 is 256),
    /// and cannot tell of larger ones.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let count = try bytes.uint16(at: 4, .little)
        let entryLength = 16
        let directory = try bytes.range(at: 6, count: count * entryLength)
        var largest: PixelSize?
        for entry in stride(from: directory.lowerBound, to: directory.upperBound, by: entryLength) {
            let length = try bytes.uint32(at: entry + 8, .little)
            let offset = try bytes.uint32(at: entry + 12, .little)
            guard offset >= directory.upperBound else { throw .malformed("a picture lies within its directory") }
            let picture = try bytes.range(at: offset, count: length)
            largest = try pictureSize(bytes.extracting(picture)).orLarger(largest)
        }
        guard let largest else { throw .malformed("its directory is empty") }
        return largest
    }

    private static func pictureSize(_ picture: RawSpan) throws(ImageFault) -> PixelSize {
        if PNG.recognises(picture) { return try PNG.size(of: picture) }
        // The rows of the mask count as rows of the bitmap.
        let size = try BMP.bitmapSize(in: picture, at: 0)
        return PixelSize(width: size.width, height: size.height / 2)
    }
}
