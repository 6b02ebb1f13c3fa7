// SPDX-License-Identifier: Apache-2.0

/// JPEG (ITU-T T.81): markers, most with a segment, from `SOI` to `EOI`; the frame header has the size.
///
/// The data of each scan is searched for the marker that ends it. Bytes after `EOI` are ignored. Some programs omit it:
/// then ``JPEGScan`` checks whether the last scan is whole.
enum JPEG: ImageFormat {
    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has([0xFF, 0xD8, 0xFF]) }

    /// The size in the frame header; a height of 0, which a later marker may define, is not supported.
    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        var markers = Markers()
        while true {
            let marker = try markers.next(in: bytes)
            switch marker.code {
            case 0xC0...0xC3, 0xC9...0xCB: return try Frame(in: bytes, marker.segment, code: marker.code).size
            case 0xC5...0xC7, 0xCD...0xCF: throw .malformed("a frame builds upon another that is not there")
            case 0xD8...0xDA: throw .malformed("a scan or the end comes before the frame header")
            default: continue
            }
        }
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        var markers = Markers()
        var frame: Frame?
        var scans = 0
        // The number of units between restart markers; 0 for none.
        var interval = 0
        while true {
            let marker = try markers.next(in: bytes)
            switch marker.code {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard frame == nil else { throw .malformed("it has two frame headers") }
                frame = try Frame(in: bytes, marker.segment, code: marker.code)
            case 0xD8:
                throw .malformed("another image begins within it")
            case 0xD9:
                guard let frame, frame.missing.isEmpty else { throw .malformed("a component has no scan") }
                return ImageContent(largest: size)
            case 0xDA:
                scans += 1
                guard scans <= mostScans else { throw .malformed("it has more than \(mostScans) scans") }
                try frame?.scan(in: bytes, marker.segment)
                guard try !markers.passScan(in: bytes, restarts: interval > 0) else { continue }
                guard let frame, frame.missing.isEmpty else { throw .truncated }
                try JPEGScan(of: frame, in: bytes, marker.segment, interval: interval).check(in: bytes)
                throw .endMissing(ImageContent(largest: size))
            case 0xDD:
                guard marker.segment.count == 2 else { throw .malformed("the length of a segment is wrong (DRI)") }
                interval = try bytes.uint16(at: marker.segment.lowerBound, .big)
            default:
                continue
            }
        }
    }

    /// A progressive image has about ten scans; each costs a decoder a pass over all pixels.
    private static let mostScans = 500
}

extension JPEG {
    struct Frame {
        struct Component {
            /// The component's name, usually 1, 2 or 3.
            var name: UInt8
            /// Sampling factors, from 1 to 4.
            var width: Int
            var height: Int
        }

        let size: PixelSize
        let components: [Component]
        /// Whether its scans are sequential, with Huffman coding.
        let isSequential: Bool
        /// The components for which no scan has come so far.
        private(set) var missing: [UInt8]

        /// The frame header in a segment; `code` is that of its marker.
        init(in bytes: RawSpan, _ segment: Range<Int>, code: UInt8) throws(ImageFault) {
            let start = segment.lowerBound
            guard segment.count >= 6 else { throw .malformed("its frame header is too short") }
            let count = Int(try bytes.byte(at: start + 5))
            guard (1...4).contains(count), segment.count == 6 + 3 * count else {
                throw .malformed("the length of its frame header does not fit its components")
            }
            guard (2...16).contains(try bytes.byte(at: start)) else {
                throw .malformed("its samples have an unknown number of bits")
            }
            size = PixelSize(
                width: try bytes.uint16(at: start + 3, .big), height: try bytes.uint16(at: start + 1, .big))
            var components: [Component] = []
            for component in stride(from: start + 6, to: segment.upperBound, by: 3) {
                let sampling = try bytes.byte(at: component + 1)
                guard (1...4).contains(sampling >> 4), (1...4).contains(sampling & 0xF) else {
                    throw .malformed("the sampling of a component is invalid")
                }
                components.append(
                    Component(
                        name: try bytes.byte(at: component), width: Int(sampling >> 4), height: Int(sampling & 0xF)))
            }
            self.components = components
            isSequential = code == 0xC0 || code == 0xC1
            missing = components.map(\.name)
        }

        mutating func scan(in bytes: RawSpan, _ segment: Range<Int>) throws(ImageFault) {
            let count = segment.isEmpty ? 0 : Int(try bytes.byte(at: segment.lowerBound))
            guard (1...4).contains(count), segment.count == 4 + 2 * count else {
                throw .malformed("the length of a scan header does not fit its components")
            }
            for index in 0..<count {
                let component = try bytes.byte(at: segment.lowerBound + 1 + 2 * index)
                guard components.contains(where: { $0.name == component }) else {
                    throw .malformed("a scan is of an unknown component")
                }
                missing.removeAll { $0 == component }
            }
        }
    }

    struct Markers {
        struct Marker {
            var code: UInt8
            /// The range after the segment's length; empty for markers without a segment.
            var segment: Range<Int>
        }

        /// The offset in the file; begins after `SOI`.
        private var offset = 2

        mutating func next(in bytes: RawSpan) throws(ImageFault) -> Marker {
            while true {
                let code = try code(in: bytes)
                switch code {
                case 0x00, 0x01, 0xD0...0xD7: continue
                case 0xD8, 0xD9: return Marker(code: code, segment: offset..<offset)
                default: break
                }
                let length = try bytes.uint16(at: offset, .big)
                guard length >= 2 else { throw .malformed("a segment is shorter than its length field") }
                let segment = try bytes.range(at: offset + 2, count: length - 2)
                offset = segment.upperBound
                return Marker(code: code, segment: segment)
            }
        }

        /// Skips the data of a scan, up to the marker that ends it.
        ///
        /// In the data, `FF 00` stands for a byte `FF`; restart markers count from 0 to 7 cyclically.
        ///
        /// - Returns: Whether there is a marker that ends the data.
        mutating func passScan(in bytes: RawSpan, restarts: Bool) throws(ImageFault) -> Bool {
            var expected: UInt8 = 0xD0
            while true {
                guard let code = try? code(in: bytes) else { return false }
                switch code {
                case 0x00:
                    continue
                case 0xD0...0xD7:
                    guard restarts, code == expected else { throw .malformed("a restart marker is out of order") }
                    expected = code == 0xD7 ? 0xD0 : code + 1
                default:
                    // The marker that ends the data is read again as the next one.
                    offset -= 2
                    return true
                }
            }
        }

        /// The code of the next marker, or the byte after the next `FF` in scan data.
        ///
        /// A marker can begin with any number of `FF`; stray bytes before it are skipped, as in decoders.
        private mutating func code(in bytes: RawSpan) throws(ImageFault) -> UInt8 {
            guard let marker = bytes.nextOffset(of: 0xFF, from: offset) else { throw .truncated }
            offset = marker + 1
            while try bytes.byte(at: offset) == 0xFF { offset += 1 }
            defer { offset += 1 }
            return try bytes.byte(at: offset)
        }
    }
}
