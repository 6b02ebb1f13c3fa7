// SPDX-License-Identifier: Apache-2.0

/// Tagged Image File Format (TIFF 6.0), and BigTIFF: a chain of directories of numbered fields, in either byte order.
///
/// Each directory is a page. Its strips or tiles and all field values must lie within the file.
/// Other bytes are ignored.
enum TIFF: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has([0x49, 0x49, 42, 0]) || bytes.has([0x4D, 0x4D, 0, 42])
            || bytes.has([0x49, 0x49, 43, 0, 8, 0, 0, 0]) || bytes.has([0x4D, 0x4D, 0, 43, 0, 8, 0, 0])
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let layout = try TIFFLayout(bytes)
        let start = try bytes.number(at: layout.offsetSize, size: layout.offsetSize, layout.order)
        return try Page(in: bytes, at: start, layout).size
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        let layout = try TIFFLayout(bytes)
        var content = ImageContent(frames: 0, largest: size)
        var next = try bytes.number(at: layout.offsetSize, size: layout.offsetSize, layout.order)
        // Directories and lists that do not overlap are together no longer than the file.
        var budget = bytes.byteCount
        while next != 0 {
            let page = try Page(in: bytes, at: next, layout)
            budget -= page.length
            guard budget >= 0 else { throw .malformed("its directories overlap") }
            try page.checkPieces(in: bytes, layout)
            content.frames += 1
            content.add(picture: page.size)
            next = try bytes.number(at: page.end, size: layout.offsetSize, layout.order)
        }
        return content
    }
}

extension TIFF {
    private struct Page {
        let size: PixelSize
        /// The offset of the field that points to the next directory.
        let end: Int
        /// The bytes of the directory and of its lists of strips or tiles.
        private(set) var length: Int
        private var offsets: TIFFLayout.Values?
        private var counts: TIFFLayout.Values?

        init(in bytes: RawSpan, at start: Int, _ layout: TIFFLayout) throws(ImageFault) {
            let count = try bytes.number(at: start, size: layout.countSize, layout.order)
            let first = start + layout.countSize
            guard count <= (bytes.byteCount - first) / layout.fieldLength else { throw .truncated }
            end = first + count * layout.fieldLength
            length = end + layout.offsetSize - start
            var width: Int?
            var height: Int?
            for field in stride(from: first, to: end, by: layout.fieldLength) {
                guard let values = try layout.values(ofField: field, in: bytes) else { continue }
                switch try bytes.uint16(at: field, layout.order) {
                case 256: width = try layout.number(values, in: bytes)
                case 257: height = try layout.number(values, in: bytes)
                // The offsets and lengths of strips or tiles.
                case 273, 324: offsets = values
                case 279, 325: counts = values
                default: continue
                }
            }
            guard let width, let height else { throw .malformed("its directory does not give its size") }
            size = PixelSize(width: width, height: height)
            for case let list? in [offsets, counts] where list.range.lowerBound < start || list.range.upperBound > end {
                length += list.range.count
            }
        }

        func checkPieces(in bytes: RawSpan, _ layout: TIFFLayout) throws(ImageFault) {
            guard let offsets, let counts, offsets.count > 0 else { throw .malformed("a page has no strips or tiles") }
            guard offsets.count == counts.count else { throw .malformed("its strips and their lengths do not match") }
            for index in 0..<offsets.count {
                _ = try bytes.range(
                    at: try layout.number(offsets, index, in: bytes), count: try layout.number(counts, index, in: bytes)
                )
            }
        }
    }
}
