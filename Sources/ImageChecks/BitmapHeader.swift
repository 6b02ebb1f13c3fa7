// SPDX-License-Identifier: Apache-2.0

/// The bitmap header of ``BMP`` and ``ICO``; in the latter its height includes the mask.
struct BitmapHeader {
    private enum Packing: Equatable {
        case rows
        /// Run-length encoding.
        case runs(bits: Int)
        case jpeg
        case png
        /// Fax data; the header gives its length.
        case fax
    }

    let length: Int
    let size: PixelSize
    /// The bits of a pixel.
    let depth: Int
    private let packing: Packing
    /// The length of the pixels in bytes; 0 if the header has none.
    private let pixelLength: Int
    private let colours: Int

    init(in bytes: RawSpan, at offset: Int) throws(ImageFault) {
        length = try bytes.uint32(at: offset, .little)
        guard Self.isLength(length) else { throw .malformed("the length of its bitmap header is unknown") }
        _ = try bytes.range(at: offset, count: length)
        if length == 12 {
            size = PixelSize(
                width: try bytes.uint16(at: offset + 4, .little), height: try bytes.uint16(at: offset + 6, .little))
            depth = try bytes.uint16(at: offset + 10, .little)
        } else {
            let width = Int32(truncatingIfNeeded: try bytes.uint32(at: offset + 4, .little))
            // Negative if rows go from top to bottom.
            let height = Int32(truncatingIfNeeded: try bytes.uint32(at: offset + 8, .little))
            guard width >= 0 else { throw .malformed("its width is negative") }
            size = PixelSize(width: Int(width), height: Int(height.magnitude))
            depth = try bytes.uint16(at: offset + 14, .little)
        }
        packing = try Self.packing(
            length >= 20 ? try bytes.uint32(at: offset + 16, .little) : 0, isOS2: length < 40 || length == 64)
        pixelLength = length >= 24 ? try bytes.uint32(at: offset + 20, .little) : 0
        colours = length >= 36 ? try bytes.uint32(at: offset + 32, .little) : 0
        let isEmbedded = packing == .jpeg || packing == .png
        guard [1, 2, 4, 8, 16, 24, 32, 64].contains(depth) || depth == 0 && isEmbedded else {
            throw .malformed("its bit depth is unknown")
        }
    }

    /// OS/2 1, OS/2 2 and Windows 3 with extensions, Windows 4, Windows 5.
    static func isLength(_ length: Int) -> Bool {
        length == 12 || (16...64).contains(length) || length == 108 || length == 124
    }

    private static func packing(_ number: Int, isOS2: Bool) throws(ImageFault) -> Packing {
        switch number {
        case 0: .rows
        case 1: .runs(bits: 8)
        case 2: .runs(bits: 4)
        case 3 where isOS2: .fax
        case 4 where isOS2: .runs(bits: 24)
        case 3, 6: .rows
        case 4: .jpeg
        case 5: .png
        default: throw .malformed("its compression is unknown")
        }
    }

    var paletteLength: Int {
        let entryLength = length == 12 ? 3 : 4
        return depth > 8 ? 0 : entryLength * (colours == 0 ? 1 << depth : min(colours, 256))
    }

    /// Checks that the pixels at an offset are complete; returns the size of the picture that a decoder decodes.
    func checkPixels(in bytes: RawSpan, at start: Int) throws(ImageFault) -> PixelSize {
        switch packing {
        case .rows:
            guard hasRows(size.height, within: bytes.byteCount - start) else { throw .truncated }
        case .runs(let bits):
            try passRuns(bits: bits, in: bytes, at: start)
        case .fax:
            _ = try bytes.range(at: start, count: pixelLength)
        case .jpeg:
            return try embedded(JPEG.self, in: bytes.extracting(try bytes.range(at: start, count: pixelLength)))
        case .png:
            return try embedded(PNG.self, in: bytes.extracting(try bytes.range(at: start, count: pixelLength)))
        }
        return size
    }

    /// Whether the pixels are run-length encoded.
    var hasRuns: Bool { if case .runs = packing { true } else { false } }

    /// Checks that the pixels at an offset of a bitmap in an icon are complete; its height counts the mask.
    ///
    /// Rows may use all available bytes, and the mask may be missing.
    func checkIconPixels(in bytes: RawSpan, at start: Int, available: Int) throws(ImageFault) {
        switch packing {
        case .rows:
            guard hasRows(size.height / 2, within: max(0, available - start)) else { throw .truncated }
        case .runs(let bits):
            try passRuns(bits: bits, in: bytes, at: start)
        case .fax, .jpeg, .png:
            throw .malformed("a bitmap in it has a compression that icons do not have")
        }
    }

    /// Whether a number of rows fits into the available bytes.
    private func hasRows(_ rows: Int, within available: Int) -> Bool {
        guard size.width > 0 else { return true }
        // Rows are padded to 4 bytes. No overflow: a width has 31 bits and a depth 7.
        let rowLength = (size.width * depth + 31) / 32 * 4
        return rows <= available / rowLength
    }

    private func embedded(_ format: any ImageFormat.Type, in picture: RawSpan) throws(ImageFault) -> PixelSize {
        try ImageFault.ofPart { () throws(ImageFault) in
            guard format.recognises(picture) else { throw .malformed("it embeds another format than declared") }
            let size = try format.size(of: picture)
            guard !size.isEmpty else { throw .malformed("it has no pixels") }
            return try format.content(of: picture, showing: size).largest
        }
    }

    /// Follows runs to the end mark of the bitmap.
    ///
    /// A run is a count and a pixel; or 0 and a command: end of row (0), end of bitmap (1), jump (2), or the number of
    /// literal pixels that follow.
    private func passRuns(bits: Int, in bytes: RawSpan, at start: Int) throws(ImageFault) {
        var offset = start
        while true {
            let count = try bytes.byte(at: offset)
            let command = Int(try bytes.byte(at: offset + 1))
            offset += 2
            switch (count, command) {
            case (0, 0): continue
            case (0, 1): return
            case (0, 2): offset += 2
            // Padded to 2 bytes.
            case (0, _): offset += (command * bits + 15) / 16 * 2
            default: offset += bits == 24 ? 2 : 0
            }
        }
    }
}
