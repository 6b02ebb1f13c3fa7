// SPDX-License-Identifier: Apache-2.0
import ImageChecks

extension Scenario {
    /// Images of 12 KiB, three PNG to one GIF, inspected like downloaded ones.
    static let images = Scenario(name: "images", size: 200, result: 200) { count in
        let files = (0..<count).map { $0 % 4 == 3 ? ImageBytes.gif($0) : ImageBytes.png($0) }
        return {
            let inspector = ImageInspector()
            return try files.count { try inspector.inspect($0.span.bytes).width == 1 }
        }
    }
}

/// Images of one pixel and 12 KiB.
private enum ImageBytes {
    private static let size = 12_288

    static func png(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        add("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0], to: &bytes)
        // A stored block of two zeros, in its zlib wrapping.
        let pixels: [UInt8] = [0x78, 0x01, 0x01, 0x02, 0x00, 0xFD, 0xFF, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01]
        let rest = 12 + 12 + pixels.count + 12
        add("tEXt", Array("Title\0".utf8) + filler(number, size - rest - bytes.count - 6), to: &bytes)
        add("IDAT", pixels, to: &bytes)
        add("IEND", [], to: &bytes)
        return bytes
    }

    static func gif(_ number: Int) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let end: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
        bytes += [0x21, 0xFE]
        while bytes.count < size - end.count - 1 {
            let length = min(255, size - end.count - 2 - bytes.count)
            bytes += [UInt8(length)] + filler(number, length)
        }
        return bytes + [0] + end
    }

    private static func filler(_ number: Int, _ count: Int) -> [UInt8] {
        let text = Array("icon \(number) ".utf8)
        return (0..<count).map { text[$0 % text.count] }
    }

    private static func add(_ type: String, _ data: [UInt8], to bytes: inout [UInt8]) {
        let content = Array(type.utf8) + data
        var sum = ~UInt32(0)
        for byte in content {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1) * 0xEDB8_8320 }
        }
        bytes += bigEndian(UInt32(data.count)) + content + bigEndian(~sum)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
