// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import ImageChecks
import Reports
import SyncPlan

/// The request that `syncagent-render` reads: numbers are little-endian, of 32 bits.
struct RenderRequest {
    /// The kinds of images, as bits of ``RenderGreeting/kinds``.
    enum Kind: UInt32 {
        case png = 1
        case jpeg, gif, webp, bmp
        /// A bitmap of an ICO.
        case bitmap
        case avif, heic, jxl
    }

    /// A picture of a file that renderers may read.
    struct Picture {
        var kind: Kind
        var bytes: ArraySlice<UInt8>
    }

    private static let magic: UInt32 = 0x5152_4E52
    private static let longest = 64 << 20

    /// The picture of a file to render; `nil` if no renderer reads it.
    static func picture(of file: [UInt8], forPixels pixels: Int) throws(ImageRejection) -> Picture? {
        guard file.count <= longest, let type = ImageType(recognisedIn: file.span.bytes) else { return nil }
        let kind: Kind
        switch type {
        case .png: kind = .png
        case .jpeg: kind = .jpeg
        case .gif: kind = .gif
        case .webp: kind = .webp
        case .bmp: kind = .bmp
        case .avif: kind = .avif
        case .heic: kind = .heic
        case .jxl: kind = .jxl
        case .ico, .icns:
            guard let best = try IconPicture.best(of: file.span.bytes, type, forPixels: pixels) else { return nil }
            return Picture(kind: best.form == .png ? .png : .bitmap, bytes: file[best.bytes])
        case .tiff, .svg: return nil
        }
        return Picture(kind: kind, bytes: file[...])
    }

    static func write(_ picture: Picture, _ item: RenderOrder.Item, of order: RenderOrder, to bytes: inout [UInt8]) {
        let flags: UInt32 = (order.enlarges ? 1 : 0) | (order.fit == .inside ? 2 : 0)
        let head =
            [magic, picture.kind.rawValue, flags, UInt32(item.pixels.count)] + item.pixels.map(UInt32.init)
            + [UInt32(clamping: order.maxPixels), UInt32(picture.bytes.count)]
        for number in head { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        bytes += picture.bytes
    }
}

/// The first message of `syncagent-render`: its version, and the kinds of images that it reads.
struct RenderGreeting: Equatable {
    static let length = 16

    var version: Int
    private var kinds: UInt32

    init?(_ output: inout RenderOutput) {
        guard output.take("SYNCREND"), let version = output.number(), let kinds = output.number() else { return nil }
        (self.version, self.kinds) = (Int(version), kinds)
    }

    func reads(_ kind: RenderRequest.Kind) -> Bool { kinds & 1 << kind.rawValue != 0 }
}

/// The answer of `syncagent-render` for one image.
enum RenderAnswer: Equatable {
    case rendered([[UInt8]])
    case refused(RenderFailure)

    private static let magic: UInt32 = 0x4152_4E52

    /// The most bytes of a PNG of `pixels` by `pixels`: even random pixels do not need more.
    static func longest(_ pixels: Int) -> Int { 5 * pixels * pixels + 4096 }

    /// Reads the next answer; `nil` if it is not complete yet.
    ///
    /// - Throws: ``Malformed`` if these bytes cannot begin an answer.
    init?(_ output: inout RenderOutput, for item: RenderOrder.Item) throws(Malformed) {
        var rest = output
        guard let magic = rest.number() else { return nil }
        guard magic == Self.magic else { throw Malformed() }
        guard let verdict = rest.number() else { return nil }
        if verdict == 0 {
            var images: [[UInt8]] = []
            for pixels in item.pixels {
                guard let width = rest.number(), let height = rest.number(), let length = rest.number() else {
                    return nil
                }
                guard max(width, height) <= pixels, Int(length) <= Self.longest(pixels) else { throw Malformed() }
                guard let image = rest.bytes(Int(length)) else { return nil }
                images.append(image)
            }
            self = .rendered(images)
        } else {
            guard let length = rest.number() else { return nil }
            guard (1...3).contains(verdict), length <= 1000 else { throw Malformed() }
            guard let text = rest.bytes(Int(length)) else { return nil }
            let reason = printable(String(decoding: text, as: UTF8.self))
            self = .refused(RenderFailure(verdict == 1 ? .unsupported : .failed, reason))
        }
        output = rest
    }

    struct Malformed: Error {}
}

/// The bytes that a renderer has written so far.
struct RenderOutput {
    private var bytes: [UInt8] = []
    private var position = 0

    var isEmpty: Bool { position == bytes.count }
    var count: Int { bytes.count - position }

    mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(position)
        position = 0
        bytes += more
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func take(_ text: StaticString) -> Bool {
        guard let found = bytes(text.utf8CodeUnitCount) else { return false }
        return found.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func number() -> UInt32? {
        bytes(4)?.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
