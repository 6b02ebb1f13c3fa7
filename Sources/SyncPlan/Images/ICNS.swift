// SPDX-License-Identifier: Apache-2.0

/// Apple icons: elements whose name tells what they hold.
enum ICNS: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has("icns")
    }

    /// The size of the picture with the most pixels: its own size where it is a PNG, else the one its name stands for.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let headerLength = 8
        let end = try bytes.uint32(at: 4, .big)
        guard end <= bytes.byteCount else { throw .truncated }
        var largest: PixelSize?
        var offset = headerLength
        while offset < end {
            let name = try bytes.code(at: offset)
            let length = try bytes.uint32(at: offset + 4, .big)
            guard length >= headerLength, length <= end - offset else {
                throw .malformed("an element does not fit into it")
            }
            let content = offset + headerLength..<offset + length
            if let size = try pictureSize(bytes.extracting(content), name: name) {
                largest = size.orLarger(largest)
            }
            offset += length
        }
        guard let largest else { throw .malformed("it holds no known picture") }
        return largest
    }

    /// The size of an element; `nil` if it is no picture, or an unknown one.
    private static func pictureSize(
        _ content: RawSpan, name: FourCharacterCode
    ) throws(ImageFault) -> PixelSize? {
        guard let size = nominalSize(of: name) else { return nil }
        return PNG.recognises(content) ? try PNG.size(of: content) : size
    }

    private static func nominalSize(of name: FourCharacterCode) -> PixelSize? {
        let side: Int
        switch name {
        case "icm#", "icm4", "icm8": return PixelSize(width: 16, height: 12)
        case "ics#", "ics4", "ics8", "is32", "icp4", "ic04": side = 16
        case "icsb": side = 18
        case "sb24": side = 24
        case "ICON", "ICN#", "icl4", "icl8", "il32", "icp5", "ic05", "ic11": side = 32
        case "icsB": side = 36
        case "ich#", "ich4", "ich8", "ih32", "SB24": side = 48
        case "icp6", "ic12": side = 64
        case "it32", "ic07": side = 128
        case "ic08", "ic13": side = 256
        case "ic09", "ic14": side = 512
        case "ic10": side = 1024
        default: return nil
        }
        return PixelSize(width: side, height: side)
    }
}
