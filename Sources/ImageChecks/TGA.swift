// SPDX-License-Identifier: Apache-2.0

/// Truevision TGA (File Format Specification, version 2.0), which is not accepted, only named in messages.
///
/// It has no signature at its beginning. Version 2 ends with one; for version 1, the whole header must make sense.
enum TGA {
    private static let footer = Array("TRUEVISION-XFILE.\0".utf8)
    private static let headerLength = 18

    static func recognises(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount > headerLength else { return false }
        return bytes.has(footer, at: bytes.byteCount - footer.count) || (try? hasHeader(bytes)) == true
    }

    private static func hasHeader(_ bytes: RawSpan) throws(ImageFault) -> Bool {
        let hasMap = try bytes.byte(at: 1)
        let kind = try bytes.byte(at: 2)
        let (mapLength, mapDepth) = (try bytes.uint16(at: 5, .little), Int(try bytes.byte(at: 7)))
        let (width, height) = (try bytes.uint16(at: 12, .little), try bytes.uint16(at: 14, .little))
        let depth = Int(try bytes.byte(at: 16))
        // The upper two bits of the last field are unused.
        guard width > 0, height > 0, try bytes.byte(at: 17) < 0x40 else { return false }
        switch (kind & ~8, hasMap) {
        case (1, 1): guard depth == 8, mapLength > 0, [15, 16, 24, 32].contains(mapDepth) else { return false }
        case (2, 0): guard [15, 16, 24, 32].contains(depth), mapLength == 0, mapDepth == 0 else { return false }
        case (3, 0): guard [8, 16].contains(depth), mapLength == 0, mapDepth == 0 else { return false }
        default: return false
        }
        // Pixels that are not compressed have a known length.
        let start = headerLength + Int(try bytes.byte(at: 0)) + mapLength * ((mapDepth + 7) / 8)
        let length = kind < 8 ? width * height * ((depth + 7) / 8) : 1
        return start + length <= bytes.byteCount
    }
}
