// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ImageChecks

@Suite("Faults of JPEG XL")
struct JPEGXLFaultTests {
    private typealias File = ImageFile

    private static let whole = File.jxl(30, 20)
    private static let noPixels = File.jxl(30, 20, frames: [File.JXLFrame(area: (0, 0, 0, 5))])
    /// What follows the first frame is not there.
    private static let open = File.jxl(30, 20, frames: [File.JXLFrame(isLast: false)])

    @Test(
        "faults of JPEG XL boxes are found",
        arguments: [
            (Array(File.jxlBoxes().prefix(12)) + File.box("jxlc", whole), "it has no file type (ftyp)"),
            (File.jxlBoxes(), nil), (File.jxlBoxes(File.box("Exif", [1])), nil),
            (
                File.jxlBoxes(File.jxlPart(0, isLast: true, whole), [0, 0, 0, 7] + Array("free".utf8)),
                "a box is too short"
            ),
            (File.jxlBoxes(File.box("jxlp", [0x80, 0, 0])), "a box is too short"),
            (File.jxlBoxes(File.box("jxlc", [0, 0, 0, 0])), "its codestream has an unknown signature"),
            (File.jxlBoxes(File.box("jxlc", whole.dropLast())), "its codestream ends too early"),
            (File.jxlBoxes(File.jxlPart(0, isLast: true, whole.dropLast())), "its codestream ends too early"),
            (File.jxlBoxes(File.jxlPart(0, isLast: true, []), File.box("free")), "its codestream ends too early"),
            // Another part may have been cut off.
            (File.jxlBoxes(File.jxlPart(0, whole.dropLast())), nil),
            (File.jxlBoxes(File.jxlPart(0, whole.prefix(3)), File.box("free")), nil),
            (File.jxlBoxes(File.big(0, 4) + Array("jxlc".utf8) + whole.dropLast()), nil),
            // Another box may have been cut.
            (File.jxlBoxes(File.box("jxlc", whole), [0, 0, 0]), nil),
            (File.jxlBoxes(File.box("jxlc", whole), [0, 0, 0, 9] + Array("Exif".utf8)), nil),
        ] as [([UInt8], String?)])
    func boxes(bytes: [UInt8], what: String?) {
        expectFault(.jxl, bytes, what)
    }

    @Test(
        "faults of JPEG XL frames are found",
        arguments: [
            (noPixels, "a frame has no pixels"), (open, nil), (open + [0], nil),
            (File.jxl(30, 20, hasPreview: true, frames: []), nil), (File.jxl(30, 20, hasPreview: true).dropLast(), nil),
            (File.jxl(30, 20, frames: []), nil), (File.jxlSize(30, 20).bytes, nil), ([0xFF, 0x0A], nil),
            // A second group needs a section of its own, and three for the whole frame.
            (File.jxl(257, 20, frames: [File.JXLFrame(sections: [3])]), nil),
            (File.jxl(257, 20, frames: [File.JXLFrame(sections: [1, 1, 1, 1])]), nil),
        ] as [([UInt8], String?)])
    func frames(bytes: [UInt8], what: String?) {
        expectFault(.jxl, bytes, what)
    }

    @Test(
        "a JPEG XL that decoders show is accepted, though it is odd or cannot be followed",
        arguments: [
            File.jxlBoxes(File.box("jxlc", whole), File.box("jxlc", whole)),
            File.jxlBoxes(File.jxlPart(7, whole.prefix(9)), File.jxlPart(7, whole.dropFirst(9))),
            File.jxlBoxes(File.jxlPart(0, isLast: true, whole), File.jxlPart(1, [1, 2, 3])),
            File.jxlBoxes(File.jxlPart(0, whole.prefix(9)), File.box("jxlc", Array(whole.dropFirst(9)))),
            File.jxl(30, 20, frames: [File.JXLFrame(order: .invalid)]),
            File.jxl(30, 20, hasPreview: true),
        ] as [[UInt8]])
    func oddities(bytes: [UInt8]) {
        let info = ImageInfo(type: .jxl, width: 30, height: 20)
        #expect(ImageInspector().verdict(on: bytes) == .success(info))
    }

    @Test(
        "a profile of a JPEG XL is decoded up to a length, and what follows is checked",
        arguments: [(0, false), (300, false), (300, true), (1 << 20 + 100, true)])
    func profiles(length: Int, isCopied: Bool) {
        let bytes = File.jxlWithProfile(30, 20, length: length, isCopied: isCopied)
        let info = ImageInfo(type: .jxl, width: 30, height: 20)
        #expect(ImageInspector().verdict(on: bytes) == .success(info))
        expectFault(.jxl, bytes.dropLast(), nil)
    }

    @Test("a JPEG XL is refused if too much would have to be decoded to follow it")
    func tooMuch() {
        for length in [4 << 20 + 1, 1 << 59] {
            let bytes = File.jxlWithProfile(30, 20, length: length)
            expectFault(.jxl, bytes, "its color profile is too long")
        }
        func stream(frames: Int) -> [UInt8] {
            let frame = File.JXLFrame(order: .long, isLast: false)
            return File.jxl(30, 20, frames: Array(repeating: frame, count: frames) + [File.JXLFrame()])
        }
        let info = ImageInfo(type: .jxl, width: 30, height: 20)
        #expect(ImageInspector().verdict(on: stream(frames: 32)) == .success(info))
        expectFault(.jxl, stream(frames: 33), "its codes have too many symbols")
    }

    @Test("a JPEG XL whose parts have no end is cut if its frames cannot be followed")
    func unknownEnd() {
        let stream = File.jxl(30, 20, frames: [File.JXLFrame(order: .invalid)])
        expectFault(.jxl, File.jxlBoxes(File.jxlPart(0, stream)), nil)
        let info = ImageInfo(type: .jxl, width: 30, height: 20)
        let bytes = File.jxlBoxes(File.jxlPart(0, isLast: true, stream))
        #expect(ImageInspector().verdict(on: bytes) == .success(info))
    }

    @Test(
        "the width of a JPEG XL follows from its height and a ratio",
        arguments: [(1, 100), (2, 120), (3, 133), (4, 150), (5, 177), (6, 125), (7, 200)])
    func ratios(ratio: Int, width: Int) {
        var bits = File.Bits()
        // 9 bits are enough for 100; the metadata, the transforms and the frame are the default ones.
        bits.add((0x0AFF, 16), (0, 1), (0, 2), (99, 9), (ratio, 3), (1, 1), (1, 1))
        let bytes = bits.bytes + [0x01, 0x04, 0, 7]
        let info = ImageInfo(type: .jxl, width: width, height: 100)
        #expect(ImageInspector().verdict(on: bytes) == .success(info))
    }
}
