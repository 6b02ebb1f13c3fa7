// SPDX-License-Identifier: Apache-2.0

extension ImageFile {
    /// A bitmap header of any version but the first.
    static func bitmap(
        _ width: Int, _ height: Int, headerLength: Int = 40, depth: Int = 24, compression: Int = 0, pixelLength: Int = 0
    ) -> [UInt8] {
        let fields = [
            (headerLength, 4), (width, 4), (height, 4), (1, 2), (depth, 2), (compression, 4), (pixelLength, 4),
        ]
        .flatMap(little)
        return fields.prefix(headerLength) + zeros(max(0, headerLength - fields.count))
    }

    /// A bitmap header of the first version, BITMAPCOREHEADER.
    static func coreBitmap(_ width: Int, _ height: Int) -> [UInt8] {
        little(12, 4) + little(width, 2) + little(height, 2) + little(1, 2) + little(24, 2)
    }

    /// A file header, a bitmap header, and pixels; the file length is wrong, as it often is.
    ///
    /// There are enough pixels for 9 rows of 7, in 3 bytes each.
    static func bmp(_ bitmap: [UInt8], _ pixels: [UInt8] = zeros(9 * 24), pixelOffset: Int? = nil) -> [UInt8] {
        Array("BM".utf8) + little(7, 4) + little(0, 4) + little(pixelOffset ?? 14 + bitmap.count, 4) + bitmap + pixels
    }

    /// A bitmap as in an icon, of one bit a pixel: its height counts the mask, and a palette comes before the rows.
    static func iconBitmap(_ width: Int, _ height: Int, depth: Int = 1) -> [UInt8] {
        let (rows, mask) = ((width * depth + 31) / 32 * 4 * height, (width + 31) / 32 * 4 * height)
        return bitmap(width, 2 * height, depth: depth) + zeros((depth > 8 ? 0 : 4 << depth) + rows + mask)
    }

    /// The start of a JPEG 2000 codestream, with its size.
    static func codestream(_ width: Int, _ height: Int) -> [UInt8] {
        let size = [width + 1, height + 2, 1, 2].flatMap { big($0, 4) }
        return [0xFF, 0x4F, 0xFF, 0x51] + big(47, 2) + big(0, 2) + size
    }

    /// A JPEG 2000 file, whose header can have another size than its codestream.
    static func jp2(_ width: Int, _ height: Int, header: (width: Int, height: Int)? = nil) -> [UInt8] {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            big(content.count + 8, 4) + Array(name.utf8) + content
        }
        let size = big(header?.height ?? height, 4) + big(header?.width ?? width, 4)
        return box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]) + box("jp2h", box("ihdr", size + [0, 3, 7, 7, 0, 0]))
            + box("jp2c", codestream(width, height))
    }

    static func ico(_ pictures: [[UInt8]], kind: UInt8 = 1, firstOffset: Int? = nil) -> [UInt8] {
        var places: [Range<Int>] = []
        var offset = firstOffset ?? 6 + 16 * pictures.count
        for picture in pictures {
            places.append(offset..<offset + picture.count)
            offset += picture.count
        }
        return ico(at: places, kind: kind, Array(pictures.joined()))
    }

    /// A directory of pictures at those places, and what comes after it.
    static func ico(at places: [Range<Int>], kind: UInt8 = 1, _ content: [UInt8]) -> [UInt8] {
        let entries = places.map { place in
            [(0, 4), (1, 2), (32, 2), (place.count, 4), (place.lowerBound, 4)].flatMap(little)
        }
        return [0, 0, kind, 0] + little(places.count, 2) + entries.joined() + content
    }

    /// Numbered fields of a directory, each of a type and with a count; the value may be an offset.
    typealias Fields = [(tag: Int, type: Int, count: Int, value: Int)]

    /// One strip, which is the first four bytes.
    static let strip: Fields = [(273, 4, 1, 0), (279, 4, 1, 4)]

    /// One directory, which begins at an offset or right after the header.
    static func tiff(
        _ fields: Fields, isLittle: Bool = true, isBig: Bool = false, directory: Int? = nil, next: Int = 0
    ) -> [UInt8] {
        let number = isLittle ? little : big
        let wide = isBig ? 8 : 4
        let header = isBig ? number(43, 2) + number(8, 2) + number(0, 2) : number(42, 2)
        let start = Array((isLittle ? "II" : "MM").utf8) + header
        let content = fields.flatMap { field in
            let size = [3: 2, 16: 8][field.type] ?? 4
            let value = number(field.value, size) + zeros(max(0, wide - size))
            return number(field.tag, 2) + number(field.type, 2) + number(field.count, wide) + value.prefix(wide)
        }
        return start + number(directory ?? start.count + wide, wide) + number(fields.count, isBig ? 8 : 2) + content
            + number(next, wide)
    }

    /// Pages of 2 × 3 pixels, one after the other.
    static func tiff(pages: Int) -> [UInt8] {
        let fields = [(256, 3, 1, 2), (257, 3, 1, 3)] + strip
        let length = 2 + 12 * fields.count + 4
        return (0..<pages).reduce(into: Array(tiff(fields).prefix(8))) { file, page in
            file += tiff(fields, next: page == pages - 1 ? 0 : 8 + (page + 1) * length).dropFirst(8)
        }
    }

    /// Pages that share the list of their strips.
    static func tiff(pages: Int, sharing strips: Int) -> [UInt8] {
        let length = 2 + 12 * 4 + 4
        let list = 8 + pages * length
        let fields: Fields = [(256, 3, 1, 2), (257, 3, 1, 3), (273, 4, strips, list), (279, 4, strips, list)]
        let directories = (1...pages).flatMap { page in
            tiff(fields, next: page == pages ? 0 : 8 + page * length).dropFirst(8)
        }
        return tiff(fields).prefix(8) + directories + zeros(4 * strips)
    }
}
