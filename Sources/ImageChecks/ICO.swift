// SPDX-License-Identifier: Apache-2.0

/// Windows icons (Microsoft's "Icons"): a directory of pictures, each a PNG or a bitmap without its file header.
///
/// Every picture must lie within the file. PNGs and runs are checked to their end; a bitmap's rows must be present, but
/// not its mask, which some programs omit. Cursors, which differ in one byte, are not accepted.
enum ICO: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has([0, 0, 1, 0]) }

    /// The size of the picture with the most pixels, from its own header, as decoders read it.
    ///
    /// The directory has one byte for each side (0 means 256), too little for larger pictures.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var largest: PixelSize?
        for entry in try entries(of: bytes) {
            let size = try ImageFault.ofPart { () throws(ImageFault) in try header(of: bytes.extracting(entry)).size }
            largest = size.orLarger(largest)
        }
        guard let largest else { throw .malformed("its directory is empty") }
        return largest
    }

    static func pictures(of bytes: RawSpan) throws(ImageFault) -> [IconPicture] {
        var pictures: [IconPicture] = []
        for entry in try entries(of: bytes) {
            let picture = bytes.extracting(entry)
            let isPNG = PNG.recognises(picture)
            let (size, depth) = try ImageFault.ofPart { () throws(ImageFault) in try header(of: picture) }
            pictures.append(
                IconPicture(
                    form: isPNG ? .png : .bitmap,
                    bytes: isPNG ? entry : entry.lowerBound..<bytes.byteCount, side: max(size.width, size.height),
                    depth: depth))
        }
        return pictures
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        var content = ImageContent(largest: size)
        // The end of the last picture that was read. These must not overlap, so that no byte is read many times.
        var end = 0
        var last: Range<Int>?
        for entry in try entries(of: bytes).sorted(by: { $0.lowerBound < $1.lowerBound }) where entry != last {
            last = entry
            let picture = bytes.extracting(entry)
            try ImageFault.ofPart { () throws(ImageFault) in
                let size = try header(of: picture).size
                content.add(picture: size)
                if PNG.recognises(picture) {
                    guard entry.lowerBound >= end else { throw .malformed("two pictures overlap") }
                    end = entry.lowerBound + (try PNG.walk(picture, size).end)
                    return
                }
                let header = try BitmapHeader(in: picture, at: 0)
                if header.hasRuns {
                    guard entry.lowerBound >= end else { throw .malformed("two pictures overlap") }
                    end = entry.upperBound
                }
                // The length in its directory entry may be too small for rows.
                try header.checkIconPixels(
                    in: picture, at: header.length + header.paletteLength,
                    available: bytes.byteCount - entry.lowerBound)
            }
        }
        return content
    }

    private static func entries(of bytes: RawSpan) throws(ImageFault) -> [Range<Int>] {
        let entryLength = 16
        let directory = try bytes.range(at: 6, count: try bytes.uint16(at: 4, .little) * entryLength)
        var entries: [Range<Int>] = []
        for entry in stride(from: directory.lowerBound, to: directory.upperBound, by: entryLength) {
            let length = try bytes.uint32(at: entry + 8, .little)
            let offset = try bytes.uint32(at: entry + 12, .little)
            guard offset >= directory.upperBound else { throw .malformed("a picture lies within its directory") }
            entries.append(try bytes.range(at: offset, count: length))
        }
        return entries
    }

    private static func header(of picture: RawSpan) throws(ImageFault) -> (size: PixelSize, depth: Int) {
        if PNG.recognises(picture) { return (try PNG.size(of: picture), try PNG.depth(of: picture)) }
        let header = try BitmapHeader(in: picture, at: 0)
        // The header's height includes the mask.
        return (PixelSize(width: header.size.width, height: header.size.height / 2), header.depth)
    }
}
