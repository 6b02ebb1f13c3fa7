// SPDX-License-Identifier: Apache-2.0

/// JPEG XL (ISO/IEC 18181): a codestream, or boxes that hold one, whole (`jxlc`) or in parts (`jxlp`).
///
/// All boxes must be complete, and so must the data of each frame: its table of contents has the length. A profile and
/// the order of a table are decoded to find what comes after them. From there on, nothing is checked if that fails; what
/// would take too much to find out is refused. Bytes after the codestream are ignored unless they could be a box.
enum JPEGXL: ImageFormat {
    private static let codestream: [UInt8] = [0xFF, 0x0A]
    private static let container: [UInt8] = [0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]

    /// The most frames that are read, which is more than are accepted.
    private static let mostFrames = 4096

    static func recognises(_ bytes: RawSpan) -> Bool { bytes.has(codestream) || bytes.has(container) }

    static func size(of bytes: RawSpan) throws(ImageFault) -> PixelSize {
        let stream = try stream(in: bytes)
        return try stream.check { () throws(ImageFault) in
            var bits = JPEGXLBits(stream.pieces)
            return try JPEGXLHeader(in: bytes, &bits).shown
        }
    }

    static func content(of bytes: RawSpan, showing size: PixelSize) throws(ImageFault) -> ImageContent {
        let stream = try stream(in: bytes)
        return try stream.check { () throws(ImageFault) in try content(of: stream, in: bytes) }
    }

    private static func content(of stream: Stream, in bytes: RawSpan) throws(ImageFault) -> ImageContent {
        var bits = JPEGXLBits(stream.pieces)
        let header = try JPEGXLHeader(in: bytes, &bits)
        var content = ImageContent(frames: 0, largest: header.size)
        // If the frames do not show the end, the boxes may.
        let isWhole = try readFrames(of: header, in: bytes, &bits, to: &content)
        guard isWhole || stream.isEnded else { throw .truncated }
        content.frames = max(1, content.frames)
        return content
    }

    /// Reads all frames; returns whether that was possible.
    private static func readFrames(
        of header: JPEGXLHeader, in bytes: RawSpan, _ bits: inout JPEGXLBits, to content: inout ImageContent
    ) throws(ImageFault) -> Bool {
        do {
            try header.skipProfile(in: bytes, &bits)
            if let preview = header.preview {
                bits.align()
                let frame = try JPEGXLFrame(of: header, on: preview, in: bytes, &bits)
                content.add(picture: frame.size)
                try bits.skip(bytes: try frame.length(in: bytes, &bits))
            }
            var isFirstPicture = true
            // Limited, because each frame takes time, even one that is shown only in others or not at all.
            while content.frames <= mostFrames {
                bits.align()
                let frame = try JPEGXLFrame(of: header, on: header.size, in: bytes, &bits)
                content.add(picture: frame.size)
                content.frames += 1
                if isFirstPicture { content.add(layer: frame.size) }
                if frame.endsPicture { isFirstPicture = false }
                try bits.skip(bytes: try frame.length(in: bytes, &bits))
                if frame.isLast { return true }
            }
            return true
        } catch {
            // Invalid numbers are left to decoders to report; the end of the frames is then unknown.
            guard error == JPEGXLNumbers.invalid else { throw error }
            return false
        }
    }
}

extension JPEGXL {
    /// The codestream: the file itself, or the contents of its boxes.
    private struct Stream {
        var pieces: [Range<Int>] = []
        /// Whether the boxes show that no data follows the last piece.
        var isEnded = false
        /// Whether the last piece ends before the end of the file.
        var isBounded = false

        /// Reads the codestream: if it ends too early in a file that does not, the file is damaged.
        func check<R>(_ read: () throws(ImageFault) -> R) throws(ImageFault) -> R {
            do {
                return try read()
            } catch {
                guard error == .truncated, isEnded, isBounded else { throw error }
                throw .malformed("its codestream ends too early")
            }
        }
    }

    private static func stream(in bytes: RawSpan) throws(ImageFault) -> Stream {
        // Without boxes, nothing shows the end of a codestream whose frames cannot be followed.
        if bytes.has(codestream) { return Stream(pieces: [0..<bytes.byteCount], isEnded: true) }
        guard try bytes.code(at: container.count + 4) == "ftyp" else { throw .malformed("it has no file type (ftyp)") }
        var stream = Stream()
        var boxes = ISOMedia.Boxes(container.count..<bytes.byteCount, isFile: true)
        while !stream.isEnded || !boxes.areAtStrayBytes(in: bytes), let box = try boxes.next(in: bytes) {
            // Decoders ignore the numbers of parts, and accept a part after the last one.
            switch box.name {
            case "jxlc":
                stream.pieces.append(box.content)
                stream.isEnded = true
            case "jxlp":
                let start = try box.content.atLeast(4).lowerBound
                stream.pieces.append(start + 4..<box.content.upperBound)
                if try bytes.byte(at: start) & 0x80 != 0 { stream.isEnded = true }
            default:
                continue
            }
            stream.isBounded = !box.isOpen
        }
        guard !stream.pieces.isEmpty else { throw .truncated }
        return stream
    }
}
