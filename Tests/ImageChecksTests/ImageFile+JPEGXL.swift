// SPDX-License-Identifier: Apache-2.0

/// JPEG XL: codestreams of bits, and boxes.
extension ImageFile {
    /// Bits, the least significant of a number first.
    struct Bits {
        private(set) var bytes: [UInt8] = []
        private var count = 0

        /// Adds numbers, each in so many bits.
        mutating func add(_ numbers: (number: Int, bits: Int)...) {
            for (number, bits) in numbers {
                for bit in 0..<bits {
                    if count % 8 == 0 { bytes.append(0) }
                    if number >> bit & 1 == 1 { bytes[count / 8] |= 1 << (count % 8) }
                    count += 1
                }
            }
        }

        /// Adds a position or a side of a frame.
        mutating func addPosition(_ number: Int) {
            switch number {
            case ..<256: add((0, 2), (number, 8))
            case ..<2304: add((1, 2), (number - 256, 11))
            default: add((2, 2), (number - 2304, 14))
            }
        }

        /// Adds the order of the sections as they are: no number of it is coded.
        mutating func addUsualOrder() {
            // No copies; all contexts have one prefix code, whose only symbol is 0.
            add((0, 1), (1, 1), (0, 2), (1, 1), (15, 4), (0, 1))
        }

        /// Adds an order whose code is invalid: three codes for eight contexts, of which two are used.
        mutating func addBadOrder() {
            add((0, 1), (1, 1), (2, 2), (2, 2), (0, 14))
        }

        /// Adds an order whose code has 32768 symbols, all of them in 15 bits; no number of it is coded.
        mutating func addLongOrder() {
            // No copies; all contexts have one prefix code.
            add((0, 1), (1, 1), (0, 2), (1, 1), (15, 4), (1, 1), (14, 4), (16383, 14))
            // The only length is 15, the last one; it takes no bits.
            add((0, 2), (0, 34), (1, 2), (0, 15))
        }

        /// Adds a number of up to 60 bits.
        mutating func addLong(_ number: Int) {
            add((3, 2), (number, 12))
            var rest = number >> 12
            while rest > 0 {
                add((1, 1), (rest, 8))
                rest >>= 8
            }
            add((0, 1))
        }

        /// Fills the last byte.
        mutating func align() {
            count = 8 * bytes.count
        }
    }

    /// In which order sections are.
    enum Order {
        case none, usual, long, invalid
    }

    /// A frame of a codestream.
    struct JXLFrame {
        var sections = [3]
        /// Its position and size on the canvas; `nil` is all of it.
        var area: (x: Int, y: Int, width: Int, height: Int)?
        /// For reference by others only.
        var isHidden = false
        var order = Order.none
        var isLast = true
    }

    /// A signature, and sides of 30 bits.
    static func jxlSize(_ width: Int, _ height: Int) -> Bits {
        var bits = Bits()
        bits.add((0x0AFF, 16), (0, 1), (3, 2), (height - 1, 30), (0, 3), (3, 2), (width - 1, 30))
        return bits
    }

    /// A codestream of an image in XYB.
    static func jxl(
        _ width: Int, _ height: Int, orientation: Int = 1, isAnimated: Bool = false, hasPreview: Bool = false,
        frames: [JXLFrame] = [JXLFrame()]
    ) -> [UInt8] {
        var bits = jxlSize(width, height)
        // There is more: an orientation, no other size.
        bits.add((0, 1), (1, 1), (orientation - 1, 3), (0, 1), (hasPreview ? 1 : 0, 1))
        // 128 × 128 pixels: 16 blocks, and as wide as high.
        if hasPreview { bits.add((1, 1), (0, 2), (1, 3)) }
        bits.add((isAnimated ? 1 : 0, 1))
        // 100 ticks a second, for ever, without timecodes.
        if isAnimated { bits.add((0, 2), (0, 2), (0, 2), (0, 1)) }
        // 8 bits, short numbers, no more channels, XYB, sRGB, the usual tone mapping, no extensions, the usual transforms.
        bits.add((0, 3), (1, 1), (0, 2), (1, 1), (1, 1), (1, 1), (0, 2), (1, 1))
        let preview = hasPreview ? jxlFrame(JXLFrame(), on: (128, 128), isAnimated: isAnimated) : []
        return bits.bytes + preview + frames.flatMap { jxlFrame($0, on: (width, height), isAnimated: isAnimated) }
    }

    /// A codestream with a profile of so many bytes, all 0, which take no bits; each is a number or copied.
    static func jxlWithProfile(_ width: Int, _ height: Int, length: Int, isCopied: Bool = false) -> [UInt8] {
        var bits = jxlSize(width, height)
        // 8 bits, short numbers, no more channels, XYB, a profile of RGB, no extensions, the usual transforms.
        bits.add((0, 2), (0, 3), (1, 1), (0, 2), (1, 1), (0, 1), (1, 1), (0, 2), (0, 2), (1, 1))
        bits.addLong(length)
        // From symbol 8 on, copies of 3 and more.
        bits.add((isCopied ? 1 : 0, 1))
        if isCopied { bits.add((3, 2), (0, 15), (0, 2), (8, 4)) }
        // All contexts have one prefix code.
        bits.add((1, 1), (0, 2), (1, 1), (15, 4))
        // Its only symbol is 8, or 0.
        if isCopied { bits.add((1, 1), (3, 4), (0, 3), (1, 2), (0, 2), (8, 4)) } else { bits.add((0, 1)) }
        return bits.bytes + jxlFrame(JXLFrame(), on: (width, height), isAnimated: false)
    }

    private static func jxlFrame(_ frame: JXLFrame, on canvas: (width: Int, height: Int), isAnimated: Bool) -> [UInt8] {
        let isPartial = frame.area.map { area in
            max(area.x, area.y) > 0 || area.x + area.width < canvas.width || area.y + area.height < canvas.height
        }
        var bits = Bits()
        // Not the default; VarDCT without flags or upsampling, with the usual scales.
        bits.add((0, 1), (frame.isHidden ? 2 : 0, 2), (0, 1), (0, 2), (0, 2), (3, 3), (2, 3))
        // One pass.
        if !frame.isHidden { bits.add((0, 2)) }
        bits.add((frame.area == nil ? 0 : 1, 1))
        if let area = frame.area {
            func signed(_ number: Int) -> Int { number < 0 ? -2 * number - 1 : 2 * number }
            let numbers = (frame.isHidden ? [] : [signed(area.x), signed(area.y)]) + [area.width, area.height]
            for number in numbers { bits.addPosition(number) }
        }
        if !frame.isHidden {
            // It replaces what is there, for a tick.
            bits.add((0, 2))
            if isPartial == true { bits.add((0, 2)) }
            if isAnimated { bits.add((1, 2)) }
            bits.add((frame.isLast ? 1 : 0, 1))
        }
        if frame.isHidden {
            // Where it is kept.
            bits.add((1, 2), (0, 1))
        } else if !frame.isLast {
            bits.add((0, 2))
            if !isAnimated, isPartial != true { bits.add((0, 1)) }
        }
        // No name, the usual filters, no extensions.
        bits.add((0, 2), (1, 1), (0, 2), (frame.order == .none ? 0 : 1, 1))
        switch frame.order {
        case .none: break
        case .usual: bits.addUsualOrder()
        case .long: bits.addLongOrder()
        case .invalid: bits.addBadOrder()
        }
        bits.align()
        for length in frame.sections { bits.add((0, 2), (length, 10)) }
        bits.align()
        return bits.bytes + zeros(frame.sections.reduce(0, +))
    }

    static func jxlBoxes(_ boxes: [UInt8]...) -> [UInt8] {
        box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + fileType("jxl ", "jxl ") + boxes.joined()
    }

    /// A part of a codestream.
    static func jxlPart(_ number: Int, isLast: Bool = false, _ content: some Sequence<UInt8>) -> [UInt8] {
        box("jxlp", big(number | (isLast ? 1 << 31 : 0), 4), Array(content))
    }
}
