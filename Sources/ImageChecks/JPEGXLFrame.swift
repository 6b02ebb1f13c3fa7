// SPDX-License-Identifier: Apache-2.0

/// The header of a frame in a JPEG XL codestream, and the table of contents after it (ISO/IEC 18181-1, annexes F and C).
struct JPEGXLFrame {
    private enum Kind: Int {
        case regular
        /// The frame is a smaller version of the next one.
        case lowFrequency
        /// Only parts of the frame are shown, in other frames.
        case reference
        /// The frame is a regular one that is shown only when it is complete.
        case whole
    }

    private enum Blend {
        static let replace = 0
        static let over = 2
        static let weightedSum = 3
        static let product = 4
    }

    /// The size of the whole frame, which may be larger than the canvas.
    private(set) var size: PixelSize
    private(set) var isLast = true
    private var kind = Kind.regular
    private var isModular = false
    private var upsampling = 1
    private var groupShift = 1
    private var passes = 1
    private var lowFrequencyLevel = 0
    private var duration = 0
    /// Whether the frame leaves a part of the canvas as it is.
    private var isPartial = false

    /// Whether the frame is a picture or a layer of one.
    private var isShown: Bool { kind == .regular || kind == .whole }

    /// Whether the frame completes a picture: no layer of it follows.
    var endsPicture: Bool { isLast || duration > 0 }

    /// Reads a header from the beginning of a byte; a preview is a frame with a canvas of its own.
    init(
        of header: JPEGXLHeader, on canvas: PixelSize, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) {
        size = canvas
        if try bits.flag(in: bytes) { return }
        kind = Kind(rawValue: try bits.number(2, in: bytes)) ?? .regular
        isModular = try bits.flag(in: bytes)
        try readCoding(of: header, in: bytes, &bits)
        if kind != .reference { try readPasses(in: bytes, &bits) }
        if kind == .lowFrequency {
            lowFrequencyLevel = try bits.number(2, in: bytes) + 1
        } else if try bits.flag(in: bytes) {
            try readArea(on: canvas, in: bytes, &bits)
        }
        try readPlace(among: header, in: bytes, &bits)
        try bits.skipName(in: bytes)
        try skipFilter(in: bytes, &bits)
        try bits.skipExtensions(in: bytes)
    }

    private mutating func readCoding(
        of header: JPEGXLHeader, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) {
        let flags = try bits.longNumber(in: bytes)
        let usesLowFrequencyFrame = flags & 0x20 != 0
        let isYCbCr = header.isXYB ? false : try bits.flag(in: bytes)
        if !usesLowFrequencyFrame {
            // The sampling of each component.
            if isYCbCr { try bits.skip(bits: 3 * 2) }
            upsampling = 1 << (try bits.number(2, in: bytes))
            try bits.skip(bits: 2 * header.extraChannels)
        }
        if isModular {
            groupShift = try bits.number(2, in: bytes)
        } else if header.isXYB {
            // The scales of two channels.
            try bits.skip(bits: 2 * 3)
        }
    }

    private mutating func readPasses(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        passes = try bits.choice([.just(1), .just(2), .just(3), .bits(3, from: 4)], in: bytes)
        guard passes > 1 else { return }
        let resolutions = try bits.choice([.just(0), .just(1), .just(2), .bits(1, from: 3)], in: bytes)
        try bits.skip(bits: 2 * (passes - 1) + 2 * resolutions)
        for _ in 0..<resolutions { _ = try bits.choice([.just(0), .just(1), .just(2), .bits(3)], in: bytes) }
    }

    /// Reads the position and the size of a frame that is not as large as the canvas.
    private mutating func readArea(
        on canvas: PixelSize, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) {
        let choices: [JPEGXLBits.Choice] = [
            .bits(8), .bits(11, from: 256), .bits(14, from: 2304), .bits(30, from: 18688),
        ]
        var place = (x: 0, y: 0)
        if kind != .reference {
            place.x = Self.signed(try bits.choice(choices, in: bytes))
            place.y = Self.signed(try bits.choice(choices, in: bytes))
        }
        size = PixelSize(width: try bits.choice(choices, in: bytes), height: try bits.choice(choices, in: bytes))
        guard !size.isEmpty else { throw .malformed("a frame has no pixels") }
        isPartial =
            max(place.x, place.y) > 0 || size.width + place.x < canvas.width || size.height + place.y < canvas.height
    }

    /// Even numbers are positive.
    private static func signed(_ number: Int) -> Int { number & 1 == 0 ? number / 2 : -(number / 2) - 1 }

    /// Reads how the frame is shown, and whether other frames follow.
    private mutating func readPlace(
        among header: JPEGXLHeader, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) {
        var mode = Blend.replace
        if isShown {
            mode = try blending(of: header, in: bytes, &bits)
            for _ in 0..<header.extraChannels { _ = try blending(of: header, in: bytes, &bits) }
            if header.isAnimated {
                duration = try bits.choice([.just(0), .just(1), .bits(8), .bits(32)], in: bytes)
                if header.hasTimecodes { try bits.skip(bits: 32) }
            }
            isLast = try bits.flag(in: bytes)
        } else {
            isLast = false
        }
        guard kind != .lowFrequency, !isLast else { return }
        let slot = try bits.number(2, in: bytes)
        let canBeReferred = duration == 0 || slot > 0
        // Whether other frames refer to it before its colors are converted.
        if kind == .reference || canBeReferred && mode == Blend.replace && !isPartial { try bits.skip(bits: 1) }
    }

    /// Reads how a channel is put over the canvas.
    private func blending(
        of header: JPEGXLHeader, in bytes: RawSpan, _ bits: inout JPEGXLBits
    ) throws(ImageFault) -> Int {
        let mode = try bits.choice([.just(0), .just(1), .just(2), .bits(2, from: 3)], in: bytes)
        let usesAlpha = header.extraChannels > 0 && (mode == Blend.over || mode == Blend.weightedSum)
        if usesAlpha { _ = try bits.choice([.just(0), .just(1), .just(2), .bits(3, from: 3)], in: bytes) }
        if usesAlpha || mode == Blend.product { try bits.skip(bits: 1) }
        if mode != Blend.replace || isPartial { try bits.skip(bits: 2) }
        return mode
    }

    private func skipFilter(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        if try bits.flag(in: bytes) { return }
        // Smoothing, with weights of its own.
        let isSmoothed = try bits.flag(in: bytes)
        if isSmoothed, try bits.flag(in: bytes) { try bits.skip(bits: 6 * 16) }
        // The filter that preserves edges: its rounds, then its parameters.
        if try bits.number(2, in: bytes) > 0 {
            if !isModular, try bits.flag(in: bytes) { try bits.skip(bits: 8 * 16) }
            if try bits.flag(in: bytes) { try bits.skip(bits: 5 * 16) }
            if try bits.flag(in: bytes) { try bits.skip(bits: (isModular ? 3 : 4) * 16) }
            if isModular { try bits.skip(bits: 16) }
        }
        try bits.skipExtensions(in: bytes)
    }

    /// Reads the table of contents, which is at the beginning of a byte: the length of the data after it.
    func length(in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) -> Int {
        let sections = sections
        // Each section has at least 12 bits here, so that no short file makes this long.
        guard sections <= bits.byteCount * 8 / 12 else { throw .truncated }
        if try bits.flag(in: bytes) { try skipOrder(of: sections, in: bytes, &bits) }
        bits.align()
        var length = 0
        for _ in 0..<sections {
            length += try bits.choice(
                [.bits(10), .bits(14, from: 1024), .bits(22, from: 17408), .bits(30, from: 4_211_712)], in: bytes)
        }
        bits.align()
        return length
    }

    /// Skips the order of sections, a Lehmer code.
    private func skipOrder(of sections: Int, in bytes: RawSpan, _ bits: inout JPEGXLBits) throws(ImageFault) {
        func context(after number: Int) -> Int { min(7, Int.bitWidth - number.leadingZeroBitCount) }
        var numbers = try JPEGXLNumbers(contexts: 8, in: bytes, &bits)
        let count = try numbers.next(in: context(after: sections), of: bytes, &bits)
        guard count <= sections else { throw JPEGXLNumbers.invalid }
        var last = 0
        for _ in 0..<count {
            last = try numbers.next(in: context(after: last), of: bytes, &bits)
        }
        try numbers.end()
    }

    /// The number of sections: those of groups in each pass, of low frequencies, and two for the whole frame.
    private var sections: Int {
        let side = isModular ? 128 << groupShift : 256
        let scale = upsampling << (3 * lowFrequencyLevel)
        let width = (size.width + scale - 1) / scale
        let height = (size.height + scale - 1) / scale
        func groups(_ side: Int) -> Int { ((width + side - 1) / side) * ((height + side - 1) / side) }
        let count = groups(side)
        return count == 1 && passes == 1 ? 1 : 2 + groups(8 * side) + count * passes
    }
}
