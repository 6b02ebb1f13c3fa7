// SPDX-License-Identifier: Apache-2.0

/// An icon drawn from a name: a rounded square in one of twelve colours, with a mirrored 5 × 5 glyph.
///
/// The same name always gives the same bytes.
package struct IconDrawing: Hashable, Sendable {
    /// The valid sides, in pixels.
    package static let sides = 1...8192

    /// The valid sizes of a padded file, in bytes.
    package static let sizes = 0...(64 << 20)

    package let name: String

    /// Width and height in pixels.
    package let side: Int

    /// The size to pad the file to, in bytes.
    package let paddedTo: Int

    /// Creates an icon.
    ///
    /// - Parameters:
    ///   - name: Any text; determines the colour and the glyph.
    ///   - side: Width and height in pixels. The default is 64.
    ///   - paddedTo: The size to pad the file to, in bytes. The default is 0. A size less than 12 bytes above that of
    ///     the drawing (2,244 bytes for a side of 64) adds nothing.
    package init(_ name: String, side: Int = 64, paddedTo: Int = 0) {
        precondition(Self.sides.contains(side), "side must be in \(Self.sides)")
        precondition(Self.sizes.contains(paddedTo), "paddedTo must be in \(Self.sizes)")
        self.name = name
        self.side = side
        self.paddedTo = paddedTo
    }

    /// A strong entity tag, with its quotes; equal for equal bytes.
    package var entityTag: String {
        "\"\(String(hash, radix: 16))-\(side)-\(paddedTo)\""
    }

    package func png() -> [UInt8] {
        let corner = RoundedCorner(radius: side * 7 / 32)
        let glyph = Glyph(side: side, bits: hash)
        let background = Self.colours[Int(hash >> 32 % UInt64(Self.colours.count))]
        let full = RoundedCorner.full
        var palette = (0...full).map { step in
            var colour = background
            colour.alpha = UInt8(255 * step / full)
            return colour
        }
        let white = palette.count
        palette.append(PalettePNG.Colour(red: 255, green: 255, blue: 255))

        let drawing = PalettePNG(side: side, palette: palette) { x, y in
            glyph.covers(x, y) ? white : corner.coverage(min(x, side - 1 - x), min(y, side - 1 - y))
        }
        return drawing.file(paddedTo: paddedTo)
    }

    /// The FNV-1a hash of the name, mixed so that each bit depends on every letter.
    private var hash: UInt64 {
        var hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        for factor: UInt64 in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] {
            hash = (hash ^ hash >> 33) &* factor
        }
        return hash ^ hash >> 33
    }

    private static let colours: [PalettePNG.Colour] = [
        .rgb(0xE54B4B), .rgb(0xF07A3A), .rgb(0xE0A100), .rgb(0x7CB342), .rgb(0x2EA567), .rgb(0x17A2A2),
        .rgb(0x2A93D5), .rgb(0x3D6FE0), .rgb(0x6A5AE0), .rgb(0x9B51E0), .rgb(0xD14FB1), .rgb(0x5F738C),
    ]
}

extension PalettePNG.Colour {
    fileprivate static func rgb(_ value: UInt32) -> Self {
        let (red, green, blue) = (value >> 16, value >> 8, value)
        return Self(
            red: UInt8(truncatingIfNeeded: red), green: UInt8(truncatingIfNeeded: green),
            blue: UInt8(truncatingIfNeeded: blue))
    }
}

/// The coverage of pixels in a rounded corner, for smooth edges.
private struct RoundedCorner {
    static let full = 8

    private let radius: Int

    init(radius: Int) { self.radius = radius }

    /// The coverage of a pixel at this distance from the nearest edges, from 0 (outside) to ``full``, by 16 samples.
    func coverage(_ x: Int, _ y: Int) -> Int {
        guard x < radius, y < radius else { return Self.full }
        var inside = 0
        for sampleY in 0..<4 {
            for sampleX in 0..<4 {
                // In eighths of a pixel: samples lie at 1, 3, 5 and 7.
                let dx = 8 * (radius - x) - 2 * sampleX - 1
                let dy = 8 * (radius - y) - 2 * sampleY - 1
                if dx * dx + dy * dy <= 64 * radius * radius { inside += 1 }
            }
        }
        return (inside * Self.full + 8) / 16
    }
}

/// Five by five cells in the middle of the square; the right half mirrors the left.
private struct Glyph {
    private let margin: Int
    private let cell: Int
    private let bits: UInt64

    /// Uses the first 15 adjacent bits of the hash with 5 to 10 of them set.
    init(side: Int, bits: UInt64) {
        cell = side / 8
        margin = (side - 5 * cell) / 2
        let choices = (0...49).map { bits >> $0 & 0x7FFF }
        self.bits = choices.first { (5...10).contains($0.nonzeroBitCount) } ?? 0b010_111_010_111_010
    }

    func covers(_ x: Int, _ y: Int) -> Bool {
        guard x >= margin, y >= margin, x < margin + 5 * cell, y < margin + 5 * cell else { return false }
        let column = (x - margin) / cell
        let row = (y - margin) / cell
        return bits >> UInt64(row * 3 + min(column, 4 - column)) & 1 == 1
    }
}
