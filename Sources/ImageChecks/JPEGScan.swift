// SPDX-License-Identifier: Apache-2.0

/// The data of a sequential scan with Huffman coding (ITU-T T.81, annex F), at the end of a JPEG without `EOI`.
///
/// Its codes are counted, not decoded to pixels. A scan whose codes cannot be followed counts as truncated, and so does
/// a scan of another kind, such as a progressive one.
///
/// - Complexity: O(*n*) in the number of bits of the data, because each block takes at least two.
struct JPEGScan {
    private struct Component {
        /// The number of its blocks in a unit.
        var blocks: Int
        var first: HuffmanCode
        var others: HuffmanCode
    }

    private let components: [Component]
    private let units: Int
    /// The number of units between restart markers; 0 if there are no markers.
    private let interval: Int
    private let start: Int

    /// `segment` is that of a scan header which was checked against its frame.
    init(of frame: JPEG.Frame, in bytes: RawSpan, _ segment: Range<Int>, interval: Int) throws(ImageFault) {
        guard frame.isSequential else { throw .truncated }
        self.interval = interval
        start = segment.upperBound
        let codes = try Self.codes(in: bytes, before: segment.lowerBound)
        var sampled: [JPEG.Frame.Component] = []
        var components: [Component] = []
        for entry in stride(from: segment.lowerBound + 1, to: segment.upperBound - 3, by: 2) {
            let (name, tables) = (try bytes.byte(at: entry), try bytes.byte(at: entry + 1))
            guard let component = frame.components.first(where: { $0.name == name }),
                let first = codes[tables >> 4], let others = codes[tables & 0xF | 0x10]
            else { throw .truncated }
            sampled.append(component)
            components.append(Component(blocks: component.width * component.height, first: first, others: others))
        }
        let widest = frame.components.map(\.width).max() ?? 1
        let highest = frame.components.map(\.height).max() ?? 1
        if sampled.count == 1, let only = sampled.first {
            // The units of a component on its own are its blocks.
            components[0].blocks = 1
            let width = Self.parts(of: frame.size.width * only.width, each: widest)
            let height = Self.parts(of: frame.size.height * only.height, each: highest)
            units = Self.parts(of: width, each: 8) * Self.parts(of: height, each: 8)
        } else {
            units =
                Self.parts(of: frame.size.width, each: 8 * widest)
                * Self.parts(of: frame.size.height, each: 8 * highest)
        }
        self.components = components
    }

    private static func parts(of whole: Int, each part: Int) -> Int { (whole + part - 1) / part }

    /// The codes that are in force at a scan header; the key is the class and number of a table, as in its segment.
    private static func codes(in bytes: RawSpan, before end: Int) throws(ImageFault) -> [UInt8: HuffmanCode] {
        var codes: [UInt8: HuffmanCode] = [:]
        var markers = JPEG.Markers()
        while true {
            let marker = try markers.next(in: bytes)
            guard marker.segment.lowerBound < end else { return codes }
            if marker.code == 0xDA { _ = try markers.passScan(in: bytes, restarts: true) }
            guard marker.code == 0xC4 else { continue }
            var offset = marker.segment.lowerBound
            while offset < marker.segment.upperBound {
                let code = try HuffmanCode(in: bytes, at: offset + 1)
                codes[try bytes.byte(at: offset)] = code
                offset = code.end
            }
        }
    }

    /// Checks that the data of all blocks is there.
    ///
    /// The last block needs its first coefficient only: decoders make up the others, and some files end so. The renderer
    /// has the same rule (`jpeg_scan.h`).
    func check(in bytes: RawSpan) throws(ImageFault) {
        var data = JPEGScanData(at: start)
        // The components of the blocks, in the order of a unit.
        let blocks = components.flatMap { repeatElement($0, count: $0.blocks) }
        for unit in 0..<units {
            if interval > 0, unit > 0, unit % interval == 0 { try data.passRestart(in: bytes) }
            for (index, block) in blocks.enumerated() {
                try data.skip(Int(try block.first.symbol(in: bytes, &data)), in: bytes)
                if unit == units - 1, index == blocks.count - 1 { return }
                try Self.passOthers(of: block, in: bytes, &data)
            }
        }
    }

    /// Skips the other coefficients of a block: runs of zeros, each with the coefficient after it.
    private static func passOthers(
        of component: Component, in bytes: RawSpan, _ data: inout JPEGScanData
    ) throws(ImageFault) {
        var index = 1
        while index < 64 {
            let symbol = try component.others.symbol(in: bytes, &data)
            let (run, length) = (Int(symbol >> 4), Int(symbol & 0xF))
            // The other coefficients are 0, too.
            if length == 0, run < 15 { return }
            index += run + 1
            try data.skip(length, in: bytes)
        }
    }
}

/// A code of a table (`DHT`): the symbols in the order of their codes, and how many codes have each length.
private struct HuffmanCode {
    private let counts: [Int]
    private let symbols: Int
    /// The offset of the next table.
    let end: Int

    init(in bytes: RawSpan, at offset: Int) throws(ImageFault) {
        var counts: [Int] = []
        var sum = 0
        for index in 0..<16 {
            counts.append(Int(try bytes.byte(at: offset + index)))
            sum += counts[index]
        }
        self.counts = counts
        symbols = offset + 16
        end = try bytes.range(at: symbols, count: sum).upperBound
    }

    /// Reads a symbol: the codes of each length follow those of the shorter ones.
    func symbol(in bytes: RawSpan, _ data: inout JPEGScanData) throws(ImageFault) -> UInt8 {
        var (code, first, index) = (0, 0, symbols)
        for count in counts {
            code = code << 1 | (try data.bit(in: bytes))
            if code - first < count { return try bytes.byte(at: index + code - first) }
            first = (first + count) << 1
            index += count
        }
        throw .truncated
    }
}

/// The bits of a scan's data, up to the next marker.
private struct JPEGScanData {
    private var offset: Int
    private var byte: UInt8 = 0
    private var left: UInt8 = 0

    init(at offset: Int) {
        self.offset = offset
    }

    mutating func bit(in bytes: RawSpan) throws(ImageFault) -> Int {
        if left == 0 {
            byte = try bytes.byte(at: offset)
            if byte == 0xFF {
                guard try bytes.byte(at: offset + 1) == 0 else { throw .truncated }
                offset += 1
            }
            offset += 1
            left = 8
        }
        left -= 1
        return Int(byte >> left & 1)
    }

    mutating func skip(_ count: Int, in bytes: RawSpan) throws(ImageFault) {
        for _ in 0..<count { _ = try bit(in: bytes) }
    }

    /// Skips a restart marker, and the bits before it that fill its byte.
    mutating func passRestart(in bytes: RawSpan) throws(ImageFault) {
        left = 0
        guard try bytes.byte(at: offset) == 0xFF else { throw .truncated }
        while try bytes.byte(at: offset) == 0xFF { offset += 1 }
        guard (0xD0...0xD7).contains(try bytes.byte(at: offset)) else { throw .truncated }
        offset += 1
    }
}
