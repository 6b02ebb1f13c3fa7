// SPDX-License-Identifier: Apache-2.0
import ImageChecks

extension FuzzTarget {
    /// The checks of images, within the default limits and within wide ones; of a PNG also with its checksums set right,
    /// which otherwise hide what is behind them.
    static let images = FuzzTarget(name: "images", isText: false) { bytes in
        try inspect(bytes)
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { try inspect(Checksums.setRight(in: bytes)) }
    }

    private static func inspect(_ bytes: [UInt8]) throws {
        let limits = ImageLimits()
        let narrow = verdict(on: bytes, limits)
        let wide = verdict(
            on: bytes, ImageLimits(maxSide: .max, maxPixels: .max, maxFrames: .max, allowsSVG: true))
        if case .success(let info) = narrow {
            try hold(info.width >= 1 && info.height >= 1, "\(info) has no pixels")
            try hold(
                max(info.width, info.height) <= limits.maxSide && info.width * info.height <= limits.maxPixels,
                "\(info) is beyond the limits")
            try hold(info.type != .svg, "a drawing is accepted, and is not to be")
            try hold(wide == narrow, "\(info) within limits, and \(wide) without")
        }
        if case .success(let info) = wide { try hold(info.width >= 1 && info.height >= 1, "\(info) has no pixels") }
        for case .failure(let rejection) in [narrow, wide] {
            let text = "\(rejection)"
            try hold(text.utf8.count < 300 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "it says “\(text)”")
        }
    }

    private static func verdict(on bytes: [UInt8], _ limits: ImageLimits) -> Result<ImageInfo, ImageRejection> {
        Result { () throws(ImageRejection) in try ImageInspector(limits: limits).inspect(bytes.span.bytes) }
    }
}

/// The checksums of PNG chunks (ISO/IEC 15948, annex D).
enum Checksums {
    /// The file with the right checksum in every chunk, as far as there are chunks.
    static func setRight(in png: [UInt8]) -> [UInt8] {
        var png = png
        var offset = 8
        while offset + 12 <= png.count {
            let length = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= png.count - offset - 12 else { break }
            let end = offset + 8 + length
            let sum = CRC32.checksum(of: png.span.bytes, in: offset + 4..<end)
            for index in 0..<4 { png[end + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(index))) }
            offset = end + 4
        }
        return png
    }
}
