// SPDX-License-Identifier: Apache-2.0

/// The byte order of a TIFF, and the sizes of its directory parts in bytes.
struct TIFFLayout {
    /// The values of a field; they lie within the file.
    struct Values {
        var type: Int
        var count: Int
        /// The range of the values: inside the field if they fit, else elsewhere in the file.
        var range: Range<Int>
    }

    let order: ByteOrder
    let offsetSize: Int
    let countSize: Int
    let fieldLength: Int

    init(_ bytes: RawSpan) throws(ImageFault) {
        order = bytes.has("II") ? .little : .big
        let isBig = try bytes.uint16(at: 2, order) == 43
        (offsetSize, countSize, fieldLength) = isBig ? (8, 8, 20) : (4, 2, 12)
    }

    /// The values of a field; `nil` if their type is unknown.
    func values(ofField field: Int, in bytes: RawSpan) throws(ImageFault) -> Values? {
        let type = try bytes.uint16(at: field + 2, order)
        let count = try bytes.number(at: field + 4, size: offsetSize, order)
        guard let size = size(ofType: type) else { return nil }
        guard count <= bytes.byteCount / size else { throw .truncated }
        let length = count * size
        let place = field + 4 + offsetSize
        let start = length <= offsetSize ? place : try bytes.number(at: place, size: offsetSize, order)
        return Values(type: type, count: count, range: try bytes.range(at: start, count: length))
    }

    func number(_ values: Values, in bytes: RawSpan) throws(ImageFault) -> Int {
        guard values.count == 1 else { throw .malformed("its width or height is not one number") }
        return try number(values, 0, in: bytes)
    }

    /// One of a field's values: SHORT, LONG or LONG8.
    func number(_ values: Values, _ index: Int, in bytes: RawSpan) throws(ImageFault) -> Int {
        guard [3, 4, 16].contains(values.type), let size = size(ofType: values.type) else {
            throw .malformed("a field is of a wrong type")
        }
        return try bytes.number(at: values.range.lowerBound + index * size, size: size, order)
    }

    private func size(ofType type: Int) -> Int? {
        switch type {
        case 1, 2, 6, 7: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        case 16, 17, 18: offsetSize == 8 ? 8 : nil
        default: nil
        }
    }
}
