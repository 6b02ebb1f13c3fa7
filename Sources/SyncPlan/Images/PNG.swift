// SPDX-License-Identifier: Apache-2.0

/// Portable Network Graphics: a signature, then chunks, `IHDR` first.
enum PNG: ImageFormat {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func recognises(_ bytes: RawSpan) -> Bool {
        bytes.has(signature)
    }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        // Length and name, 13 bytes of content, a checksum.
        let header = 16
        _ = try bytes.range(at: header, count: 13 + 4)
        guard try bytes.uint32(at: 8, .big) == 13, try bytes.code(at: 12) == "IHDR" else {
            throw .malformed("its first chunk is not an IHDR of 13 bytes")
        }
        let width = try bytes.uint32(at: header, .big)
        let height = try bytes.uint32(at: header + 4, .big)
        guard max(width, height) <= Int32.max else { throw .malformed("a side is longer than PNG allows") }
        let depth = try bytes.byte(at: header + 8)
        guard depths(ofColourType: try bytes.byte(at: header + 9)).contains(depth) else {
            throw .malformed("its bit depth and colour type do not go together")
        }
        guard try bytes.uint16(at: header + 10, .big) == 0, try bytes.byte(at: header + 12) <= 1 else {
            throw .malformed("its compression, filter or interlace method is unknown")
        }
        return PixelSize(width: width, height: height)
    }

    private static func depths(ofColourType colourType: UInt8) -> [UInt8] {
        switch colourType {
        case 0: [1, 2, 4, 8, 16]
        case 3: [1, 2, 4, 8]
        case 2, 4, 6: [8, 16]
        default: []
        }
    }
}
