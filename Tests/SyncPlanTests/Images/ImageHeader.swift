// SPDX-License-Identifier: Apache-2.0

/// Headers made by hand: what a format says of itself, and no pixels.
enum ImageHeader {
    static func big(_ number: Int, _ size: Int) -> [UInt8] {
        little(number, size).reversed()
    }

    static func little(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func png(
        _ width: Int, _ height: Int, chunk: String = "IHDR", length: Int = 13, depth: UInt8 = 8, colourType: UInt8 = 6,
        methods: [UInt8] = [0, 0, 0]
    ) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(length, 4) + Array(chunk.utf8)
            + big(width, 4) + big(height, 4) + [depth, colourType] + methods + [0, 0, 0, 0]
    }

    /// Segments as they are, then a frame header of three components.
    static func jpeg(
        _ width: Int, _ height: Int, frame: UInt8 = 0xC0, before segments: [UInt8] = [], length: Int = 17
    ) -> [UInt8] {
        [0xFF, 0xD8] + segments + [0xFF, frame] + big(length, 2) + [8] + big(height, 2) + big(width, 2)
            + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
    }

    /// The screen, its palette, and the byte that ends the file.
    static func gif(_ width: Int, _ height: Int, version: String = "GIF89a", paletteBits: Int = 0) -> [UInt8] {
        let palette = paletteBits == 0 ? [] : [UInt8](repeating: 0, count: 3 << paletteBits)
        return Array(version.utf8) + little(width, 2) + little(height, 2)
            + [paletteBits == 0 ? 0 : 0x80 | UInt8(paletteBits - 1), 0, 0] + palette + [0x3B]
    }

    static func webp(chunk: String, _ content: [UInt8], chunkLength: Int? = nil, length: Int? = nil) -> [UInt8] {
        Array("RIFF".utf8) + little(length ?? content.count + 12, 4) + Array("WEBP\(chunk)".utf8)
            + little(chunkLength ?? content.count, 4) + content
    }

    static func lossyWebP(_ width: Int, _ height: Int, tag: Int = 0x10) -> [UInt8] {
        webp(chunk: "VP8 ", little(tag, 3) + [0x9D, 0x01, 0x2A] + little(width, 2) + little(height, 2))
    }

    static func losslessWebP(_ width: Int, _ height: Int, signature: UInt8 = 0x2F, version: Int = 0) -> [UInt8] {
        webp(chunk: "VP8L", [signature] + little(version << 29 | (height - 1) << 14 | width - 1, 4) + [0])
    }

    static func extendedWebP(_ width: Int, _ height: Int) -> [UInt8] {
        webp(chunk: "VP8X", [0x10, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    /// A bitmap header of any version but the first.
    static func bitmap(_ width: Int, _ height: Int, headerLength: Int = 40, depth: Int = 24) -> [UInt8] {
        let fields = little(headerLength, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(depth, 2)
        return fields + [UInt8](repeating: 0, count: max(0, headerLength - fields.count))
    }

    /// A bitmap header of the first version, BITMAPCOREHEADER.
    static func coreBitmap(_ width: Int, _ height: Int) -> [UInt8] {
        little(12, 4) + little(width, 2) + little(height, 2) + little(1, 2) + little(24, 2)
    }

    /// A file header, a bitmap header, and one byte of pixels; the file length is wrong, as it often is.
    static func bmp(_ bitmap: [UInt8], pixelOffset: Int? = nil) -> [UInt8] {
        Array("BM".utf8) + little(7, 4) + little(0, 4) + little(pixelOffset ?? 14 + bitmap.count, 4) + bitmap + [0]
    }

    static func ico(_ pictures: [[UInt8]], kind: UInt8 = 1, firstOffset: Int? = nil) -> [UInt8] {
        var directory = [0, 0, kind, 0] + little(pictures.count, 2)
        var offset = firstOffset ?? 6 + 16 * pictures.count
        for picture in pictures {
            directory += [0, 0, 0, 0] + little(1, 2) + little(32, 2) + little(picture.count, 4) + little(offset, 4)
            offset += picture.count
        }
        return directory + pictures.joined()
    }

    static func tiff(
        _ fields: [(tag: Int, type: Int, count: Int, value: Int)], isLittle: Bool = true, isBig: Bool = false,
        directory: Int? = nil
    ) -> [UInt8] {
        let number = isLittle ? little : big
        let wide = isBig ? 8 : 4
        let header = isBig ? number(43, 2) + number(8, 2) + number(0, 2) : number(42, 2)
        let start = Array((isLittle ? "II" : "MM").utf8) + header
        let content = fields.flatMap { field in
            let size = [3: 2, 16: 8][field.type] ?? 4
            let value = number(field.value, size) + [UInt8](repeating: 0, count: max(0, wide - size))
            return number(field.tag, 2) + number(field.type, 2) + number(field.count, wide) + value
        }
        return start + number(directory ?? start.count + wide, wide) + number(fields.count, isBig ? 8 : 2) + content
    }

    static func icns(_ elements: [(name: String, content: [UInt8])], length: Int? = nil) -> [UInt8] {
        let content = elements.flatMap { Array($0.name.utf8) + big($0.content.count + 8, 4) + $0.content }
        return Array("icns".utf8) + big(length ?? content.count + 8, 4) + content
    }
}

/// ISO media files, from their boxes.
extension ImageHeader {
    static func box(_ name: String, _ content: [UInt8]...) -> [UInt8] {
        big(content.joined().count + 8, 4) + Array(name.utf8) + content.joined()
    }

    static func fileType(_ brands: String...) -> [UInt8] {
        box("ftyp", Array((brands.first ?? "").utf8), big(0, 4), Array(brands.dropFirst().joined().utf8))
    }

    static func extent(_ width: Int, _ height: Int) -> [UInt8] {
        box("ispe", big(0, 4), big(width, 4), big(height, 4))
    }

    /// What is left after cropping, as numerators and denominators.
    static func aperture(_ width: (Int, Int), _ height: (Int, Int)) -> [UInt8] {
        let size = big(width.0, 4) + big(width.1, 4) + big(height.0, 4) + big(height.1, 4)
        return box("clap", size, big(0, 4), big(1, 4), big(0, 4), big(1, 4))
    }

    static func rotation(_ quarters: UInt8) -> [UInt8] {
        box("irot", [quarters])
    }

    /// Which item has which properties; long numbers take 4 bytes for an item and 2 for a property.
    static func associations(_ items: [(item: Int, properties: [Int])], isLong: Bool = false) -> [UInt8] {
        let entries = items.flatMap { entry in
            big(entry.item, isLong ? 4 : 2) + [UInt8(entry.properties.count)]
                + entry.properties.flatMap { isLong ? big($0 | 0x8000, 2) : big($0 | 0x80, 1) }
        }
        return box("ipma", isLong ? [1, 0, 0, 1] : [0, 0, 0, 0], big(items.count, 4), entries)
    }

    static func primary(_ item: Int, isLong: Bool = false) -> [UInt8] {
        box("pitm", isLong ? [1, 0, 0, 0] + big(item, 4) : [0, 0, 0, 0] + big(item, 2))
    }

    static func media(
        _ fileType: [UInt8], primary: [UInt8] = [], properties: [[UInt8]], associations: [UInt8] = []
    ) -> [UInt8] {
        let list = box("ipco", Array(properties.joined()))
        return fileType + box("meta", big(0, 4), primary, box("iprp", list, associations)) + box("mdat", [1, 2, 3])
    }
}
