// SPDX-License-Identifier: Apache-2.0

extension ImageFile {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A header, chunks, and the end.
    static func png(
        _ width: Int, _ height: Int, depth: UInt8 = 8, colourType: UInt8 = 6, methods: [UInt8] = [0, 0, 0],
        chunks: [UInt8] = data
    ) -> [UInt8] {
        let header = big(width, 4) + big(height, 4) + [depth, colourType] + methods
        return signature + chunk("IHDR", header) + chunks + chunk("IEND")
    }

    static func chunk(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        big(content.count, 4) + checked(Array(name.utf8) + content)
    }

    /// Data that no decoder would take, which is not looked at.
    static let data = chunk("IDAT", [1, 2, 3, 4, 5])

    /// The start of an animation of so many frames.
    static func animation(_ frames: Int) -> [UInt8] {
        chunk("acTL", big(frames, 4) + big(0, 4))
    }

    /// The start of a frame.
    static func frame(_ number: Int, _ width: Int, _ height: Int, x: Int = 0, y: Int = 0) -> [UInt8] {
        chunk("fcTL", [number, width, height, x, y].flatMap { big($0, 4) } + [0, 1, 0, 25, 0, 0])
    }

    static func frameData(_ number: Int, _ data: [UInt8] = [1, 2, 3]) -> [UInt8] {
        chunk("fdAT", big(number, 4) + data)
    }

    /// An animation of so many frames, the first of which is the default picture.
    static func animatedPNG(_ frames: Int) -> [UInt8] {
        let more = (1..<max(1, frames)).flatMap { frame(2 * $0 - 1, 2, 3, x: 2) + frameData(2 * $0) }
        return png(4, 3, chunks: animation(frames) + frame(0, 4, 3) + data + more)
    }

    /// The file with the right checksum in every chunk, as far as there are chunks.
    static func rechecked(_ png: [UInt8]) -> [UInt8] {
        var png = png
        var offset = signature.count
        while offset + 12 <= png.count {
            let length = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= png.count - offset - 12 else { break }
            let end = offset + 8 + length
            png.replaceSubrange(end..<end + 4, with: checked(Array(png[offset + 4..<end])).suffix(4))
            offset = end + 4
        }
        return png
    }

    /// The bytes, and their CRC as its definition has it: bit by bit.
    private static func checked(_ bytes: [UInt8]) -> [UInt8] {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return bytes + big(Int(~sum), 4)
    }
}
