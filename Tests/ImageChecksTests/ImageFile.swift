// SPDX-License-Identifier: Apache-2.0

/// Files made by hand: a whole structure, around pixels that mean nothing.
enum ImageFile {
    static func big(_ number: Int, _ size: Int) -> [UInt8] {
        little(number, size).reversed()
    }

    static func little(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: count)
    }

    /// Segments as they are, a frame header of three components, and one scan of all of them.
    static func jpeg(
        _ width: Int, _ height: Int, frame: UInt8 = 0xC0, before segments: [UInt8] = [], length: Int = 17,
        scans: [UInt8] = scan([1, 2, 3])
    ) -> [UInt8] {
        [0xFF, 0xD8] + segments + [0xFF, frame] + big(length, 2) + [8] + big(height, 2) + big(width, 2)
            + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1] + scans + [0xFF, 0xD9]
    }

    /// A scan of components.
    static func scan(_ components: [UInt8], data: [UInt8] = [0x5A, 0xFF, 0x00, 0xA5]) -> [UInt8] {
        [0xFF, 0xDA] + big(6 + 2 * components.count, 2) + [UInt8(components.count)] + components.flatMap { [$0, 0] }
            + [0, 63, 0] + data
    }

    /// The screen, its palette, blocks, and the trailer.
    static func gif(
        _ width: Int, _ height: Int, version: String = "GIF89a", paletteBits: Int = 0, blocks: [UInt8] = gifFrame(1, 1)
    ) -> [UInt8] {
        Array(version.utf8) + little(width, 2) + little(height, 2) + [flags(paletteBits), 0, 0]
            + zeros(paletteBits == 0 ? 0 : 3 << paletteBits) + blocks + [0x3B]
    }

    static func gifFrame(
        _ width: Int, _ height: Int, paletteBits: Int = 0, codeSize: UInt8 = 2, data: [UInt8] = [2, 0x4C, 1, 0]
    ) -> [UInt8] {
        [0x2C, 0, 0, 0, 0] + little(width, 2) + little(height, 2) + [flags(paletteBits)]
            + zeros(paletteBits == 0 ? 0 : 3 << paletteBits) + [codeSize] + data
    }

    private static func flags(_ paletteBits: Int) -> UInt8 {
        paletteBits == 0 ? 0 : 0x80 | UInt8(paletteBits - 1)
    }

    static func icns(_ elements: [(name: String, content: [UInt8])], length: Int? = nil) -> [UInt8] {
        let content = elements.flatMap { Array($0.name.utf8) + big($0.content.count + 8, 4) + $0.content }
        return Array("icns".utf8) + big(length ?? content.count + 8, 4) + content
    }

    static func svg(_ content: String = "", attributes: String = "width='8' height='8'", after: String = "") -> [UInt8]
    {
        Array("<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(content)</svg>\(after)".utf8)
    }
}
