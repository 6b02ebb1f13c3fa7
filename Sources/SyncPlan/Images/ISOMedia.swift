// SPDX-License-Identifier: Apache-2.0

/// AV1 images in an ISO media file.
enum AVIF: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        ISOMedia.brand(of: bytes, among: ["avif", "avis"])
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        try ISOMedia.extents(of: bytes).shown
    }

    static func decodedSize(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> PixelSize {
        try ISOMedia.extents(of: bytes).largest
    }
}

/// HEVC images in an ISO media file.
enum HEIC: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        ISOMedia.brand(of: bytes, among: ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"])
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        try ISOMedia.extents(of: bytes).shown
    }

    static func decodedSize(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> PixelSize {
        try ISOMedia.extents(of: bytes).largest
    }
}

/// What AVIF and HEIC share: nested boxes, the items of `meta`, and the properties of each.
///
/// The size of a picture is a property (`ispe`) in the list `ipco`, as are how it is cropped (`clap`) and turned (`irot`).
/// `ipma` says which properties, counted from 1, belong to which item, and `pitm` which item is the picture to show.
enum ISOMedia {
    struct Extents {
        /// The size of the picture to show; where the file does not say which that is, the largest.
        var shown: PixelSize
        /// The size of the picture with the most pixels, before it is cropped.
        var largest: PixelSize
    }

    /// Whether the file calls itself by one of these names, which `ftyp` lists.
    static func brand(of bytes: RawSpan, among names: [FourCharacterCode]) -> Bool {
        guard bytes.has("ftyp", at: 4), let length = try? bytes.uint32(at: 0, .big) else { return false }
        // The main brand, its version, then brands it is compatible with: no file has more than a few.
        let end = min(length, bytes.byteCount, 256)
        for offset in stride(from: 8, to: end - 3, by: 4) where offset != 12 {
            if let brand = try? bytes.code(at: offset), names.contains(brand) { return true }
        }
        return false
    }

    static func extents(of bytes: RawSpan) throws(ImageFault) -> Extents {
        let meta = try itemContainer(in: bytes)
        var primary: Int?
        var properties: Range<Int>?
        var boxes = Boxes(meta)
        while let box = try boxes.next(in: bytes) {
            switch box.name {
            case "pitm":
                let isLong = try bytes.byte(at: box.content.lowerBound) > 0
                primary = try bytes.number(at: box.content.lowerBound + 4, size: isLong ? 4 : 2, .big)
            case "iprp":
                properties = box.content
            default:
                continue
            }
        }
        guard let properties else { throw .malformed("it has no item properties (iprp)") }
        return try extents(in: bytes, properties: properties, of: primary)
    }

    /// The content of `meta`, after all boxes of the file have been seen to be complete.
    private static func itemContainer(in bytes: RawSpan) throws(ImageFault) -> Range<Int> {
        var meta: Range<Int>?
        var boxes = Boxes(0..<bytes.byteCount)
        while let box = try boxes.next(in: bytes) {
            if box.name == "meta", meta == nil { meta = box.content }
        }
        guard let meta else { throw .malformed("it has no items (meta)") }
        guard meta.count >= 4 else { throw .malformed("a box is too short") }
        return meta.dropFirst(4)
    }

    private static func extents(
        in bytes: RawSpan, properties: Range<Int>, of primary: Int?
    ) throws(ImageFault) -> Extents {
        var list: Range<Int>?
        var ofPrimary: Set<Int> = []
        var boxes = Boxes(properties)
        while let box = try boxes.next(in: bytes) {
            switch box.name {
            case "ipco": list = box.content
            case "ipma": if let primary { ofPrimary.formUnion(try associations(in: bytes, box.content, of: primary)) }
            default: continue
            }
        }
        guard let list else { throw .malformed("it has no list of properties (ipco)") }
        return try extents(in: bytes, list: list, ofPrimary: ofPrimary)
    }

    private static func extents(
        in bytes: RawSpan, list: Range<Int>, ofPrimary: Set<Int>
    ) throws(ImageFault) -> Extents {
        var full, cropped, largest: PixelSize?
        var isTurned = false
        var boxes = Boxes(list)
        var number = 0
        while let box = try boxes.next(in: bytes) {
            number += 1
            let start = box.content.lowerBound
            switch box.name {
            case "ispe":
                let extent = PixelSize(
                    width: try bytes.uint32(at: start + 4, .big), height: try bytes.uint32(at: start + 8, .big))
                if ofPrimary.contains(number) { full = extent }
                largest = extent.orLarger(largest)
            case "clap" where ofPrimary.contains(number):
                cropped = PixelSize(
                    width: try quotient(in: bytes, at: start), height: try quotient(in: bytes, at: start + 8))
            case "irot" where ofPrimary.contains(number):
                // In quarters of a turn.
                isTurned = try bytes.byte(at: start) & 1 == 1
            default:
                continue
            }
        }
        guard let largest else { throw .malformed("it does not give its size (ispe)") }
        guard let full else { return Extents(shown: largest, largest: largest) }
        let shown = cropped ?? full
        guard shown.width <= full.width, shown.height <= full.height else {
            throw .malformed("it is cropped to more than there is (clap)")
        }
        return Extents(
            shown: isTurned ? PixelSize(width: shown.height, height: shown.width) : shown, largest: largest)
    }

    /// A number that is given as numerator and denominator.
    private static func quotient(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> Int {
        let denominator = try bytes.uint32(at: offset + 4, .big)
        guard denominator > 0 else { throw .malformed("it divides by zero (clap)") }
        return try bytes.uint32(at: offset, .big) / denominator
    }

    /// The numbers of an item's properties.
    private static func associations(
        in bytes: RawSpan, _ content: Range<Int>, of item: Int
    ) throws(ImageFault) -> Set<Int> {
        let start = content.lowerBound
        let itemSize = try bytes.byte(at: start) > 0 ? 4 : 2
        let numberSize = try bytes.byte(at: start + 3) & 1 == 1 ? 2 : 1
        // The first bit says that readers must understand the property.
        let mask = numberSize == 2 ? 0x7FFF : 0x7F
        var remaining = try bytes.uint32(at: start + 4, .big)
        var offset = start + 8
        var numbers: Set<Int> = []
        while remaining > 0 {
            guard offset < content.upperBound else { throw .malformed("its list of associations (ipma) is cut") }
            let isWanted = try bytes.number(at: offset, size: itemSize, .big) == item
            let count = Int(try bytes.byte(at: offset + itemSize))
            let list = try bytes.range(at: offset + itemSize + 1, count: count * numberSize)
            if isWanted {
                for entry in stride(from: list.lowerBound, to: list.upperBound, by: numberSize) {
                    numbers.insert(try bytes.number(at: entry, size: numberSize, .big) & mask)
                }
            }
            offset = list.upperBound
            remaining -= 1
        }
        return numbers
    }
}

extension ISOMedia {
    /// A named range.
    struct Box {
        var name: FourCharacterCode
        /// What comes after length and name.
        var content: Range<Int>
    }

    /// The boxes of a range, one after the other.
    struct Boxes {
        private var offset: Int
        private let end: Int

        /// The range has to be within the bytes that are read.
        init(_ range: Range<Int>) {
            offset = range.lowerBound
            end = range.upperBound
        }

        /// The next box, all of which is there; `nil` at the end of the range.
        mutating func next(in bytes: RawSpan) throws(ImageFault) -> Box? {
            guard offset < end else { return nil }
            var length = try bytes.uint32(at: offset, .big)
            let name = try bytes.code(at: offset + 4)
            var headerLength = 8
            if length == 0 {
                length = end - offset
            } else if length == 1 {
                headerLength = 16
                length = try bytes.number(at: offset + 8, size: 8, .big)
            }
            guard length >= headerLength else { throw .malformed("a box is too short") }
            guard length <= end - offset else {
                throw end == bytes.byteCount ? .truncated : .malformed("a box is longer than the one around it")
            }
            defer { offset += length }
            return Box(name: name, content: offset + headerLength..<offset + length)
        }
    }
}
