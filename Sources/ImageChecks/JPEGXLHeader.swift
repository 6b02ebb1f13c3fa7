// SPDX-License-Identifier: Apache-2.0

/// The headers of a JPEG XL codestream, up to its first frame (ISO/IEC 18181-1, annex D).
struct JPEGXLHeader {
    /// The longest color profile, in bytes; those of printers, the largest in use, are shorter.
    private static let longestProfile = 4 << 20

    /// The size of the canvas.
    private(set) var size: PixelSize
    /// The number of channels besides those of color.
    private(set) var extraChannels = 0
    private(set) var isXYB = true
    private(set) var isAnimated = false
    private(set) var hasTimecodes = false
    /// The size of a small picture that comes before the frames.
    private(set) var preview: PixelSize?
    private var hasProfile = false
    private var isTurned = false

    /// The size of the canvas as it is shown.
    var shown: PixelSize { isTurned ? PixelSize(width: size.height, height: size.width) : size }

    /// Reads the headers from the beginning of the codestream.
    init(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        guard try bits.number(16, in: bytes) == 0x0AFF else {
            throw .malformed("its codestream has an unknown signature")
        }
        size = try Self.size(in: bytes, &bits)
        if try !bits.flag(in: bytes) { try readMetadata(in: bytes, &bits) }
        try skipTransforms(in: bytes, &bits)
    }

    /// Reads a size whose sides are numbers of blocks, 8 pixels wide, or of pixels.
    private static func size(
        blocks: [JPEGXLBits.Choice], pixels: [JPEGXLBits.Choice], in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> PixelSize {
        let isInBlocks = try bits.flag(in: bytes)
        func side(_ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
            isInBlocks ? 8 * (try bits.choice(blocks, in: bytes)) : try bits.choice(pixels, in: bytes)
        }
        let height = try side(&bits)
        let width =
            switch try bits.number(3, in: bytes) {
            case 0: try side(&bits)
            case 1: height
            case 2: height * 12 / 10
            case 3: height * 4 / 3
            case 4: height * 3 / 2
            case 5: height * 16 / 9
            case 6: height * 5 / 4
            default: height * 2
            }
        return PixelSize(width: width, height: height)
    }

    private static func size(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> PixelSize {
        try size(
            blocks: [.bits(5, from: 1)],
            pixels: [.bits(9, from: 1), .bits(13, from: 1), .bits(18, from: 1), .bits(30, from: 1)], in: bytes, &bits)
    }

    private mutating func readMetadata(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        let hasMore = try bits.flag(in: bytes)
        if hasMore {
            // From the fifth on, an orientation exchanges the sides.
            isTurned = try bits.number(3, in: bytes) >= 4
            // The size to be shown in, which decoders ignore.
            if try bits.flag(in: bytes) { _ = try Self.size(in: bytes, &bits) }
            if try bits.flag(in: bytes) {
                preview = try Self.size(
                    blocks: [.just(16), .just(32), .bits(5, from: 1), .bits(9, from: 33)],
                    pixels: [.bits(6, from: 1), .bits(8, from: 65), .bits(10, from: 321), .bits(12, from: 1345)],
                    in: bytes, &bits)
            }
            if try bits.flag(in: bytes) { try readAnimation(in: bytes, &bits) }
        }
        try skipDepth(in: bytes, &bits)
        // Whether 16 bits suffice for numbers.
        try bits.skip(bits: 1)
        extraChannels = try bits.choice([.just(0), .just(1), .bits(4, from: 2), .bits(12, from: 1)], in: bytes)
        for _ in 0..<extraChannels { try skipChannel(in: bytes, &bits) }
        isXYB = try bits.flag(in: bytes)
        try readColours(in: bytes, &bits)
        if hasMore, try !bits.flag(in: bytes) {
            // Tone mapping: three numbers and a flag.
            try bits.skip(bits: 3 * 16 + 1)
        }
        try bits.skipExtensions(in: bytes)
    }

    private mutating func readAnimation(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        isAnimated = true
        // Ticks a second, as a fraction, and the number of loops.
        _ = try bits.choice([.just(100), .just(1000), .bits(10, from: 1), .bits(30, from: 1)], in: bytes)
        _ = try bits.choice([.just(1), .just(1001), .bits(8, from: 1), .bits(10, from: 1)], in: bytes)
        _ = try bits.choice([.just(0), .bits(3), .bits(16), .bits(32)], in: bytes)
        hasTimecodes = try bits.flag(in: bytes)
    }

    private func skipDepth(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        let isFloatingPoint = try bits.flag(in: bytes)
        _ = try bits.choice([.just(0), .just(0), .just(0), .bits(6)], in: bytes)
        if isFloatingPoint { try bits.skip(bits: 4) }
    }

    private func skipChannel(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        // An alpha channel of 8 bits.
        if try bits.flag(in: bytes) { return }
        let type = try bits.enumeration(in: bytes)
        try skipDepth(in: bytes, &bits)
        _ = try bits.choice([.just(0), .just(3), .just(4), .bits(3, from: 1)], in: bytes)
        try bits.skipName(in: bytes)
        switch type {
        case 0: try bits.skip(bits: 1)
        // A spot color.
        case 2: try bits.skip(bits: 4 * 16)
        // A color filter array.
        case 5: _ = try bits.choice([.just(1), .bits(2), .bits(4, from: 3), .bits(8, from: 19)], in: bytes)
        default: break
        }
    }

    private mutating func readColours(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        // sRGB.
        if try bits.flag(in: bytes) { return }
        hasProfile = try bits.flag(in: bytes)
        let space = try bits.enumeration(in: bytes)
        guard !hasProfile else { return }
        // XYB is fixed, and grays have no primaries.
        if space != 2 {
            if try bits.enumeration(in: bytes) == 2 { try skipPoint(in: bytes, &bits) }
            if space != 1, try bits.enumeration(in: bytes) == 2 {
                for _ in 0..<3 { try skipPoint(in: bytes, &bits) }
            }
            // The transfer function: an exponent or a name.
            if try bits.flag(in: bytes) { try bits.skip(bits: 24) } else { _ = try bits.enumeration(in: bytes) }
        }
        // The rendering intent.
        _ = try bits.enumeration(in: bytes)
    }

    /// Skips a chromaticity.
    private func skipPoint(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        for _ in 0..<2 {
            _ = try bits.choice(
                [.bits(19), .bits(19, from: 1 << 19), .bits(20, from: 1 << 20), .bits(21, from: 1 << 21)], in: bytes)
        }
    }

    /// Skips the color profile, if there is one; it follows the headers.
    func skipProfile(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        guard hasProfile else { return }
        let length = Int(clamping: try bits.longNumber(in: bytes))
        guard length <= Self.longestProfile else { throw .malformed("its color profile is too long") }
        var numbers = try JPEGXLNumbers(contexts: 41, in: bytes, &bits)
        var last = (0, 0)
        for index in 0..<length {
            // The header of a profile is in one context; then it depends on the last two bytes.
            let kinds = (Self.fineKind(of: last.0), Self.coarseKinds[Self.fineKind(of: last.1)])
            let context = index <= 128 ? 0 : 1 + kinds.0 + 8 * kinds.1
            last = (try numbers.next(in: context, of: bytes, &bits), last.0)
        }
        try numbers.end()
    }

    private static func fineKind(of byte: Int) -> Int {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A: 0
        case 0x30...0x39, 0x2C, 0x2E: 1
        case 0: 2
        case 1: 3
        case ..<16: 4
        case 241...254: 5
        case 255: 6
        default: 7
        }
    }

    /// The kind of a byte in fewer kinds: that of each fine one.
    private static let coarseKinds = [0, 1, 2, 2, 2, 3, 3, 4]

    private func skipTransforms(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        if try bits.flag(in: bytes) { return }
        // The matrix of XYB, with biases.
        if isXYB, try !bits.flag(in: bytes) { try bits.skip(bits: 16 * 16) }
        let weights = try bits.number(3, in: bytes)
        for (index, count) in [15, 55, 210].enumerated() where weights >> index & 1 == 1 {
            try bits.skip(bits: 16 * count)
        }
    }
}
