// SPDX-License-Identifier: Apache-2.0

/// Apple icons, the format of `iconutil` (Apple has published no specification): elements named by their content.
///
/// The elements must fill the length in the file header; bytes after it are ignored. PNGs are checked to their end; of
/// JPEG 2000, only the size is read, and other pixels are not checked. Elements without bytes do not count.
enum ICNS: ImageFormat {
    private static let headerLength = 8

    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has("icns") }

    /// The size of the picture with the most pixels.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var largest: PixelSize?
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            largest = try pictureSize(bytes.extracting(element.content), element.name)?.orLarger(largest) ?? largest
        }
        guard let largest else { throw .malformed("it holds no known picture") }
        return largest
    }

    /// The pictures that are PNGs.
    static func pictures(of bytes: RawSpan) throws(ImageFault) -> [IconPicture] {
        var pictures: [IconPicture] = []
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            let picture = bytes.extracting(element.content)
            guard PNG.recognises(picture), let size = try pictureSize(picture, element.name) else { continue }
            pictures.append(
                IconPicture(
                    form: .png, bytes: element.content, side: max(size.width, size.height),
                    depth: try PNG.depth(of: picture)))
        }
        return pictures
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        var content = ImageContent(largest: size)
        var elements = try Elements(bytes)
        while let element = try elements.next(in: bytes) {
            let picture = bytes.extracting(element.content)
            guard let size = try pictureSize(picture, element.name) else { continue }
            content.add(picture: size)
            guard PNG.recognises(picture) else { continue }
            _ = try ImageFault.ofPart { () throws(ImageFault) in try PNG.walk(picture, size) }
        }
        return content
    }

    /// The size in the header of a picture, else the nominal one of its name; `nil` if the element is no picture.
    private static func pictureSize(
        _ picture: RawSpan, _ name: FourCharacterCode
    ) throws(ImageFault) -> PixelSize? {
        guard let nominal = nominalSizes[name], picture.byteCount > 0 else { return nil }
        return try ImageFault.ofPart { () throws(ImageFault) in
            if PNG.recognises(picture) { return try PNG.size(of: picture) }
            if JPEG2000.recognises(picture) { return try JPEG2000.size(of: picture) }
            guard !files.contains(name) else { throw .malformed("a picture in it is neither PNG nor JPEG 2000") }
            return nominal
        }
    }

    /// The elements that are whole files; others are pixels, raw or packed.
    private static let files: Set<FourCharacterCode> = [
        "icp6", "ic07", "ic08", "ic09", "ic10", "ic11", "ic12", "ic13", "ic14",
    ]

    private static let nominalSizes = sizes.reduce(into: [FourCharacterCode: PixelSize]()) { nominal, size in
        for name in size.names { nominal[name] = PixelSize(width: size.width, height: size.height) }
    }

    private static let sizes: [(width: Int, height: Int, names: [FourCharacterCode])] = [
        (16, 12, ["icm#", "icm4", "icm8"]), (16, 16, ["ics#", "ics4", "ics8", "is32", "icp4", "ic04"]),
        (18, 18, ["icsb"]), (24, 24, ["sb24"]),
        (32, 32, ["ICON", "ICN#", "icl4", "icl8", "il32", "icp5", "ic05", "ic11"]), (36, 36, ["icsB"]),
        (48, 48, ["ich#", "ich4", "ich8", "ih32", "SB24"]), (64, 64, ["icp6", "ic12"]), (128, 128, ["it32", "ic07"]),
        (256, 256, ["ic08", "ic13"]), (512, 512, ["ic09", "ic14"]), (1024, 1024, ["ic10"]),
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
