// SPDX-License-Identifier: Apache-2.0

/// The sizes of the items of an ISO media file (ISO/IEC 23008-12, 6.5).
///
/// An item's size is a property (`ispe`) in the list `ipco`, as are its crop (`clap`) and rotation (`irot`). `ipma`
/// associates properties, numbered from 1, with items, and `pitm` names the item to show.
struct ItemExtents {
    /// The size of the picture to show; the largest if the file does not say which that is.
    let shown: PixelSize
    /// All pictures, before cropping.
    let content: ImageContent

    init(in bytes: RawSpan, properties: Range<Int>, of primary: Int?) throws(ImageFault) {
        var list: Range<Int>?
        var ofPrimary: Set<Int> = []
        var boxes = ISOMedia.Boxes(properties)
        while let box = try boxes.next(in: bytes) {
            switch box.name {
            case "ipco": list = box.content
            case "ipma":
                guard let primary else { continue }
                ofPrimary.formUnion(try Self.associations(in: bytes, box.content, of: primary))
            default: continue
            }
        }
        guard let list else { throw .malformed("it has no list of properties (ipco)") }
        var full, cropped: PixelSize?
        var content: ImageContent?
        var isTurned = false
        boxes = ISOMedia.Boxes(list)
        var number = 0
        while let box = try boxes.next(in: bytes) {
            number += 1
            let start = box.content.lowerBound
            switch box.name {
            case "ispe":
                _ = try box.content.atLeast(12)
                let extent = PixelSize(
                    width: try bytes.uint32(at: start + 4, .big), height: try bytes.uint32(at: start + 8, .big))
                if ofPrimary.contains(number) { full = extent }
                content = content ?? ImageContent(largest: extent)
                content?.add(picture: extent)
            case "clap" where ofPrimary.contains(number):
                _ = try box.content.atLeast(32)
                cropped = PixelSize(
                    width: try Self.quotient(in: bytes, at: start), height: try Self.quotient(in: bytes, at: start + 8))
            case "irot" where ofPrimary.contains(number):
                // In quarter turns.
                isTurned = try bytes.byte(at: try box.content.atLeast(1).lowerBound) & 1 == 1
            default:
                continue
            }
        }
        guard let content else { throw .malformed("it does not give its size (ispe)") }
        self.content = content
        guard let full else {
            shown = content.largest
            return
        }
        let shown = cropped ?? full
        guard shown.width <= full.width, shown.height <= full.height else {
            throw .malformed("its crop area is larger than the image (clap)")
        }
        self.shown = isTurned ? PixelSize(width: shown.height, height: shown.width) : shown
    }

    private static func quotient(in bytes: RawSpan, at offset: Int) throws(ImageFault) -> Int {
        let denominator = try bytes.uint32(at: offset + 4, .big)
        guard denominator > 0 else { throw .malformed("it divides by zero (clap)") }
        return try bytes.uint32(at: offset, .big) / denominator
    }

    private static func associations(
        in bytes: RawSpan, _ content: Range<Int>, of item: Int
    ) throws(ImageFault) -> Set<Int> {
        let start = try content.atLeast(8).lowerBound
        let itemSize = try bytes.byte(at: start) > 0 ? 4 : 2
        let numberSize = try bytes.byte(at: start + 3) & 1 == 1 ? 2 : 1
        // The first bit marks the property as essential.
        let mask = numberSize == 2 ? 0x7FFF : 0x7F
        var remaining = try bytes.uint32(at: start + 4, .big)
        var offset = start + 8
        var numbers: Set<Int> = []
        while remaining > 0 {
            guard offset < content.upperBound - itemSize else {
                throw .malformed("its list of associations (ipma) is cut")
            }
            let isWanted = try bytes.number(at: offset, size: itemSize, .big) == item
            let count = Int(try bytes.byte(at: offset + itemSize))
            offset += itemSize + 1
            guard count * numberSize <= content.upperBound - offset else {
                throw .malformed("its list of associations (ipma) is cut")
            }
            let end = offset + count * numberSize
            if isWanted {
                for entry in stride(from: offset, to: end, by: numberSize) {
                    numbers.insert(try bytes.number(at: entry, size: numberSize, .big) & mask)
                }
            }
            offset = end
            remaining -= 1
        }
        return numbers
    }
}
