// SPDX-License-Identifier: Apache-2.0

/// AV1 images in an ISO media file (AV1 Image File Format 1.2).
enum AVIF: ISOMediaFormat {
    static let brands: [FourCharacterCode] = ["avif", "avis"]
}

/// HEVC images in an ISO media file (ISO/IEC 23008-12).
enum HEIC: ISOMediaFormat {
    static let brands: [FourCharacterCode] = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]
}

protocol ISOMediaFormat: ImageFormat {
    static var brands: [FourCharacterCode] { get }
}

extension ISOMediaFormat {
    static func recognises(_ bytes: RawSpan) -> Bool { ISOMedia.brand(of: bytes, among: brands) }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        try ISOMedia(bytes).extents(in: bytes).shown
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        try ISOMedia(bytes).content(in: bytes)
    }
}

/// The common container of AVIF and HEIC (ISO/IEC 14496-12): nested boxes, and the items that `meta` describes.
///
/// All boxes must be complete. The data of all items must lie within the file, as must the chunks of an image sequence,
/// which `moov` describes. Bytes after the last box that are not a box are ignored.
struct ISOMedia {
    private var primary: Int?
    private var properties: Range<Int>?
    private var locations: Range<Int>?
    private var itemData: Range<Int>?
    private var movie: Range<Int>?

    init(_ bytes: RawSpan) throws(ImageFault) {
        var meta: Range<Int>?
        var boxes = Boxes(0..<bytes.byteCount, isFile: true)
        while let box = try boxes.next(in: bytes) {
            switch box.name {
            case "meta" where meta == nil: meta = box.content
            case "moov" where movie == nil: movie = box.content
            default: continue
            }
        }
        guard let meta else { throw .malformed("it has no items (meta)") }
        boxes = Boxes(try meta.atLeast(4).dropFirst(4))
        while let box = try boxes.next(in: bytes) {
            switch box.name {
            case "pitm":
                let content = try box.content.atLeast(6)
                let isLong = try bytes.byte(at: content.lowerBound) > 0
                primary = try bytes.number(at: content.lowerBound + 4, size: isLong ? 4 : 2, .big)
            case "iprp": properties = box.content
            case "iloc": locations = box.content
            case "idat": itemData = box.content
            default: continue
            }
        }
    }

    /// Whether `ftyp` lists one of these brands.
    static func brand(of bytes: RawSpan, among names: [FourCharacterCode]) -> Bool {
        guard bytes.has("ftyp", at: 4), let length = try? bytes.uint32(at: 0, .big) else { return false }
        // The major brand, its version, then compatible brands: real files have only a few.
        let end = min(length, bytes.byteCount, 256)
        for offset in stride(from: 8, to: end - 3, by: 4) where offset != 12 {
            if let brand = try? bytes.code(at: offset), names.contains(brand) { return true }
        }
        return false
    }

    func extents(in bytes: RawSpan) throws(ImageFault) -> ItemExtents {
        guard let properties else { throw .malformed("it has no item properties (iprp)") }
        return try ItemExtents(in: bytes, properties: properties, of: primary)
    }

    func content(in bytes: RawSpan) throws(ImageFault) -> ImageContent {
        guard let locations else { throw .malformed("it does not say where its data is (iloc)") }
        try ItemLocations(content: locations, itemData: itemData ?? 0..<0).check(in: bytes)
        var content = try extents(in: bytes).content
        if let movie { content.frames = max(1, try MediaTracks(movie: movie).frames(in: bytes)) }
        return content
    }
}

extension ISOMedia {
    struct Box {
        var name: FourCharacterCode
        /// The range after the length and the name.
        var content: Range<Int>
        /// Whether the box extends to the end of its container, wherever that is.
        var isOpen: Bool
    }

    struct Boxes {
        private var offset: Int
        private let end: Int
        private let isFile: Bool

        /// The range must lie within the bytes.
        init(_ range: Range<Int>, isFile: Bool = false) {
            (offset, end, self.isFile) = (range.lowerBound, range.upperBound, isFile)
        }

        /// Whether the next box would have more than 16 MiB, so that it is probably not a box.
        func areAtStrayBytes(in bytes: RawSpan) -> Bool {
            guard offset < end, let first = try? bytes.byte(at: offset) else { return false }
            return first > 0
        }

        /// The next box, which must be complete; `nil` at the end of the range.
        mutating func next(in bytes: RawSpan) throws(ImageFault) -> Box? {
            guard offset < end else { return nil }
            guard end - offset >= 8 else { throw isFile ? .truncated : .malformed("a box is too short") }
            var length = try bytes.uint32(at: offset, .big)
            let name = try bytes.code(at: offset + 4)
            // Trailing bytes that are not a box are not a truncated one.
            guard name.isPrintable || !isFile else { return nil }
            var headerLength = 8
            let isOpen = length == 0
            if isOpen {
                length = end - offset
            } else if length == 1 {
                headerLength = 16
                length = try bytes.number(at: offset + 8, size: 8, .big)
            }
            guard length >= headerLength else { throw .malformed("a box is too short") }
            guard length <= end - offset else {
                throw isFile ? .truncated : .malformed("a box is longer than the one around it")
            }
            defer { offset += length }
            return Box(name: name, content: offset + headerLength..<offset + length, isOpen: isOpen)
        }
    }
}

extension Range<Int> {
    func atLeast(_ length: Int, of part: String = "a box") throws(ImageFault) -> Range<Int> {
        guard count >= length else { throw .malformed("\(part) is too short") }
        return self
    }
}
