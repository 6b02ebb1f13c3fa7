// SPDX-License-Identifier: Apache-2.0

extension ImageFile {
    /// Chunks within RIFF.
    static func webp(_ chunks: [UInt8], length: Int? = nil) -> [UInt8] {
        Array("RIFF".utf8) + little(length ?? chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    static func riff(_ name: String, _ content: [UInt8], length: Int? = nil) -> [UInt8] {
        Array(name.utf8) + little(length ?? content.count, 4) + content + zeros(content.count & 1)
    }

    static func lossy(_ width: Int, _ height: Int, tag: Int = 0x10) -> [UInt8] {
        riff("VP8 ", little(tag, 3) + [0x9D, 0x01, 0x2A] + little(width, 2) + little(height, 2))
    }

    static func lossless(_ width: Int, _ height: Int, signature: UInt8 = 0x2F, version: Int = 0) -> [UInt8] {
        riff("VP8L", [signature] + little(version << 29 | (height - 1) << 14 | width - 1, 4) + [0])
    }

    static func extended(_ width: Int, _ height: Int, flags: UInt8 = 0x10) -> [UInt8] {
        riff("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    static let animationControl = riff("ANIM", zeros(6))

    static func webpFrame(
        _ width: Int, _ height: Int, x: Int = 0, y: Int = 0, _ chunks: [UInt8]? = nil
    ) -> [UInt8] {
        let place = little(x / 2, 3) + little(y / 2, 3) + little(width - 1, 3) + little(height - 1, 3)
        return riff("ANMF", place + zeros(4) + (chunks ?? lossless(width, height)))
    }

    static func animatedWebP(_ frames: Int) -> [UInt8] {
        webp(extended(8, 8, flags: 2) + animationControl + (0..<frames).flatMap { _ in webpFrame(4, 4, x: 4, y: 2) })
    }
}
