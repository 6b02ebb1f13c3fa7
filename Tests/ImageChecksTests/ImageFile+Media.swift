// SPDX-License-Identifier: Apache-2.0

/// ISO media files, from their boxes.
extension ImageFile {
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

    /// Where the data of items is; each has one extent, given by 4-byte numbers.
    static func locations(_ items: [(offset: Int, length: Int)], method: Int = 0, file: Int = 0) -> [UInt8] {
        let entries = items.enumerated().map { index, item in
            [(index + 1, 2), (method, 2), (file, 2), (1, 2), (item.offset, 4), (item.length, 4)].flatMap(big)
        }
        return box("iloc", [1, 0, 0, 0, 0x44, 0], big(items.count, 2), Array(entries.joined()))
    }

    /// A file whose item is the three bytes of its last box.
    static func media(
        _ fileType: [UInt8], primary: [UInt8] = [], properties: [[UInt8]], associations: [UInt8] = [],
        locations: [UInt8]? = nil, more: [UInt8] = []
    ) -> [UInt8] {
        let list = box("ipco", Array(properties.joined()))
        let content = primary + box("iprp", list, associations)
        let length = fileType.count + 8 + 4 + content.count + Self.locations([(0, 0)]).count + more.count
        return fileType
            + box("meta", big(0, 4), content, locations ?? Self.locations([(length + 8, 3)])) + more
            + box("mdat", [1, 2, 3])
    }

    /// Nested boxes.
    static func nested(_ names: [String], _ content: [UInt8]) -> [UInt8] {
        names.reversed().reduce(content) { box($1, $0) }
    }

    /// A track of so many frames, whose data begins at some places.
    static func track(frames: Int, chunks: [Int] = [0]) -> [UInt8] {
        nested(
            ["moov", "trak", "mdia", "minf", "stbl"],
            box("stsz", big(0, 4), big(1, 4), big(frames, 4))
                + box("stco", big(0, 4), big(chunks.count, 4), chunks.flatMap { big($0, 4) }))
    }
}
