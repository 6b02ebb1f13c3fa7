// SPDX-License-Identifier: Apache-2.0

/// Tagged Image File Format, and BigTIFF: a directory of numbered fields, in either byte order.
enum TIFF: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has([0x49, 0x49, 42, 0]) || bytes.has([0x4D, 0x4D, 0, 42])
            || bytes.has([0x49, 0x49, 43, 0, 8, 0, 0, 0]) || bytes.has([0x4D, 0x4D, 0, 43, 0, 8, 0, 0])
    }

    /// The size of the first picture of the file.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let layout = try Layout(bytes)
        let start = try bytes.number(at: layout.offsetSize, size: layout.offsetSize, layout.order)
        let count = try bytes.number(at: start, size: layout.countSize, layout.order)
        let first = start + layout.countSize
        guard count <= (bytes.byteCount - first) / layout.fieldLength else { throw .truncated }
        var width: Int?
        var height: Int?
        for field in stride(from: first, to: first + count * layout.fieldLength, by: layout.fieldLength) {
            switch try bytes.uint16(at: field, layout.order) {
            case 256: width = try layout.number(ofField: field, in: bytes)
            case 257: height = try layout.number(ofField: field, in: bytes)
            default: continue
            }
        }
        guard let width, let height else { throw .malformed("its directory does not give its size") }
        return PixelSize(width: width, height: height)
    }

    /// How numbers are written, and how long the parts of a directory are, in bytes.
    private struct Layout {
        let order: ByteOrder
        let offsetSize: Int
        let countSize: Int
        let fieldLength: Int

        init(_ bytes: RawSpan) throws(ImageFault) {
            order = bytes.has("II") ? .little : .big
            let isBig = try bytes.uint16(at: 2, order) == 43
            (offsetSize, countSize, fieldLength) = isBig ? (8, 8, 20) : (4, 2, 12)
        }

        /// The value of a field that has exactly one: SHORT, LONG, or LONG8.
        func number(ofField field: Int, in bytes: RawSpan) throws(ImageFault) -> Int {
            let size: Int? =
                switch try bytes.uint16(at: field + 2, order) {
                case 3: 2
                case 4: 4
                case 16 where offsetSize == 8: 8
                default: nil
                }
            guard let size, try bytes.number(at: field + 4, size: offsetSize, order) == 1 else {
                throw .malformed("its width or height is not one number")
            }
            return try bytes.number(at: field + 4 + offsetSize, size: size, order)
        }
    }
}
