// SPDX-License-Identifier: Apache-2.0

/// Apple icons, the format of `iconutil` (Apple has published no specification): elements named by their content.
///
/// The elements must fill the length in the file header; bytes after it are ignored. PNGs are checked to their end;
/// compressed pixels and JPEG 2000 are not checked.
enum ICNS: ImageFormat {
    private static let headerLength = 8

    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has("icns") }

    /// The size of the picture with the most pixels: a PNG's own size, else the nominal one of its name.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var largest: PixelSize?
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            guard let nominal = nominalSizes[element.name] else { continue }
            let size = try pngSize(bytes.extracting(element.content)) ?? nominal
            largest = size.orLarger(largest)
        }
        guard let largest else { throw .malformed("it holds no known picture") }
        return largest
    }

    /// The pictures that are PNGs.
    static func pictures(of bytes: RawSpan) throws(ImageFault) -> [IconPicture] {
        var pictures: [IconPicture] = []
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            guard nominalSizes[element.name] != nil, let size = try pngSize(bytes.extracting(element.content)) else {
                continue
            }
            pictures.append(IconPicture(form: .png, bytes: element.content, side: max(size.width, size.height)))
        }
        return pictures
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            let picture = bytes.extracting(element.content)
            guard nominalSizes[element.name] != nil, let size = try pngSize(picture) else { continue }
            _ = try ImageFault.ofPart { () throws(ImageFault) in try PNG.walk(picture, size) }
        }
        return ImageContent(largest: size)
    }

    /// The size in a PNG's header; `nil` if the picture is not a PNG.
    private static func pngSize(_ picture: RawSpan) throws(ImageFault) -> PixelSize? {
        guard PNG.recognises(picture) else { return nil }
        return try ImageFault.ofPart { () throws(ImageFault) in try PNG.size(of: picture) }
    }

    private static let nominalSizes: [FourCharacterCode: PixelSize] = {
        var sizes: [FourCharacterCode: PixelSize] = [:]
        for name in ["icm#", "icm4", "icm8"] as [FourCharacterCode] { sizes[name] = PixelSize(width: 16, height: 12) }
        for (side, names) in squares {
            for name in names { sizes[name] = PixelSize(width: side, height: side) }
        }
        return sizes
    }()

    private static let squares: [(side: Int, names: [FourCharacterCode])] = [
        (16, ["ics#", "ics4", "ics8", "is32", "icp4", "ic04"]), (18, ["icsb"]), (24, ["sb24"]),
        (32, ["ICON", "ICN#", "icl4", "icl8", "il32", "icp5", "ic05", "ic11"]), (36, ["icsB"]),
        (48, ["ich#", "ich4", "ich8", "ih32", "SB24"]), (64, ["icp6", "ic12"]), (128, ["it32", "ic07"]),
        (256, ["ic08", "ic13"]), (512, ["ic09", "ic14"]), (1024, ["ic10"]),
    ]

    private struct Elements {
        private var offset = headerLength
        private let end: Int

        init(_ bytes: RawSpan) throws(ImageFault) {
            end = try bytes.uint32(at: 4, .big)
            guard end <= bytes.byteCount else { throw .truncated }
        }

        /// The next element; `nil` at the end of the length in the file header.
        mutating func next(
            in bytes: RawSpan
        ) throws(ImageFault) -> (name: FourCharacterCode, content: Range<Int>)? {
            guard offset < end else { return nil }
            guard end - offset >= headerLength else { throw .malformed("an element does not fit into it") }
            let name = try bytes.code(at: offset)
            let length = try bytes.uint32(at: offset + 4, .big)
            guard length >= headerLength, length <= end - offset else {
                throw .malformed("an element does not fit into it")
            }
            defer { offset += length }
            return (name, offset + headerLength..<offset + length)
        }
    }
}
