// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import Testing

@Suite("Faults of pictures")
struct PictureFaultTests {
    private typealias File = ImageFile

    @Test(
        "PNG: its header",
        arguments: [
            (File.png(0, 5), "it has no pixels"),
            (File.png(5, 0), "it has no pixels"),
            (File.png(1 << 31, 5), "a side is longer than PNG allows"),
            (File.signature + File.chunk("CgBI", File.zeros(13)), "its first chunk is not an IHDR of 13 bytes"),
            (File.signature + File.chunk("IHDR", File.zeros(14)), "its first chunk is not an IHDR of 13 bytes"),
            (File.png(5, 5, depth: 4, colourType: 2), "its bit depth and colour type do not go together"),
            (File.png(5, 5, depth: 16, colourType: 3), "its bit depth and colour type do not go together"),
            (File.png(5, 5, colourType: 1), "its bit depth and colour type do not go together"),
            (File.png(5, 5, methods: [1, 0, 0]), "its compression, filter or interlace method is unknown"),
            (File.png(5, 5, methods: [0, 1, 0]), "its compression, filter or interlace method is unknown"),
            (File.png(5, 5, methods: [0, 0, 2]), "its compression, filter or interlace method is unknown"),
        ] as [([UInt8], String)])
    func pngHeader(bytes: [UInt8], what: String) {
        expectFault(.png, bytes, what)
    }

    @Test(
        "PNG: its chunks",
        arguments: [
            (File.data + File.chunk("IHDR"), "it has two headers (IHDR)"),
            ([], "it has no data (IDAT)"),
            (File.chunk("IDAT"), "it has no data (IDAT)"),
            (File.data + File.chunk("teXt") + File.data, "its data is not in one piece (IDAT)"),
            (File.data + File.chunk("PLTE", [1, 2, 3]), "its palette is out of place (PLTE)"),
            (File.chunk("PLTE", [1, 2, 3]) + File.chunk("PLTE", [1, 2, 3]), "its palette is out of place (PLTE)"),
            (File.chunk("PLTE", [1, 2]), "the length of its palette is wrong (PLTE)"),
            (File.chunk("PLTE"), "the length of its palette is wrong (PLTE)"),
            (File.chunk("PLTE", File.zeros(771)), "the length of its palette is wrong (PLTE)"),
            (File.data + File.chunk("IEND", [1]), "its last chunk is not empty (IEND)"),
            (File.chunk("NEED"), "it needs a chunk that is unknown"),
            (File.chunk("te t"), "the name of a chunk is not made of letters"),
            (File.data.dropLast() + [0x77], "the checksum of a chunk is wrong"),
            ([0x80, 0, 0, 0] + Array("teXt".utf8), "a chunk is longer than PNG allows"),
            ([0x7F, 0xFF, 0xFF, 0xFF] + Array("teXt".utf8), nil),
        ] as [([UInt8], String?)])
    func pngChunks(chunks: [UInt8], what: String?) {
        expectFault(.png, File.png(4, 3, chunks: chunks), what)
    }

    @Test("PNG: a palette that is needed is missing")
    func pngPalette() {
        expectFault(.png, File.png(4, 3, colourType: 3), "it has no palette (PLTE)")
    }

    @Test(
        "PNG: its animation",
        arguments: [
            (File.chunk("acTL", [1]), "the length of its animation control is wrong (acTL)"),
            (File.animation(1) + File.animation(1), "it has two animations (acTL)"),
            (File.animation(0) + File.data, "its number of frames is wrong (acTL)"),
            (File.animation(2) + File.frame(0, 4, 3) + File.data, "its number of frames is wrong (acTL)"),
            (File.animation(1) + File.frame(1, 4, 3) + File.data, "its frames are out of order"),
            (File.animation(1) + File.frame(0, 4, 2) + File.data, "its first frame is not the whole picture (fcTL)"),
            (File.animation(1) + File.data + File.frame(0, 4, 3, x: 1), "a frame does not fit into the picture (fcTL)"),
            (File.animation(1) + File.data + File.frame(0, 0, 3), "a frame does not fit into the picture (fcTL)"),
            (
                File.animation(1) + File.data + File.frame(0, 1, 1, x: 1 << 32 - 1),
                "a frame does not fit into the picture (fcTL)"
            ),
            (File.animation(1) + File.data + File.chunk("fcTL"), "the length of a frame control is wrong (fcTL)"),
            (File.animation(1) + File.data + File.frameData(0), "data comes before its frame (fdAT)"),
            (File.animation(1) + File.data + File.chunk("fdAT", [0]), "a piece of a frame is too short (fdAT)"),
            (File.animation(1) + File.data + File.frame(0, 1, 1), "a frame has no data"),
            (File.animation(1) + File.data + File.frame(0, 1, 1) + File.frameData(1, []), "a frame has no data"),
            (File.animation(1) + File.frame(0, 4, 3) + File.frame(1, 4, 3), "a frame has no data"),
        ] as [([UInt8], String)])
    func pngAnimation(chunks: [UInt8], what: String) {
        expectFault(.png, File.png(4, 3, chunks: chunks), what)
    }

    @Test(
        "JPEG",
        arguments: [
            (File.jpeg(5, 0), "it has no pixels"),
            (File.jpeg(5, 5, frame: 0xC4), "a scan or the end comes before the frame header"),
            (File.jpeg(5, 5, frame: 0xC5), "a frame builds upon another that is not there"),
            (File.jpeg(5, 5, frame: 0xDA), "a scan or the end comes before the frame header"),
            (File.jpeg(5, 5, before: [0xFF, 0xD9]), "a scan or the end comes before the frame header"),
            (File.jpeg(5, 5, before: [0xFF, 0xD8]), "a scan or the end comes before the frame header"),
            (File.jpeg(5, 5, before: [0xFF, 0xE0, 0, 1]), "a segment is shorter than its length field"),
            (File.jpeg(5, 5, before: [0xFF, 0xE0, 0xFF, 0xFF]), nil),
            (File.jpeg(5, 5, length: 16), "the length of its frame header does not fit its components"),
            (File.jpeg(5, 5, before: [0xFF, 0xC0, 0, 7, 8, 0, 5, 0, 5]), "its frame header is too short"),
            (
                File.jpeg(5, 5, before: [0xFF, 0xC0, 0, 11, 1, 0, 5, 0, 5, 1, 1, 0x11, 0]),
                "its samples have an unknown number of bits"
            ),
            (
                File.jpeg(5, 5, before: [0xFF, 0xC0, 0, 11, 8, 0, 5, 0, 5, 1, 1, 0x10, 0]),
                "the sampling of a component is invalid"
            ),
            (
                File.jpeg(5, 5, before: [0xFF, 0xC0, 0, 11, 8, 0, 5, 0, 5, 1, 1, 0x11, 0]), "it has two frame headers"
            ),
            (File.jpeg(5, 5, scans: []), "a component has no scan"),
            (File.jpeg(5, 5, scans: File.scan([1, 3])), "a component has no scan"),
            (File.jpeg(5, 5, scans: File.scan([1, 4])), "a scan is of an unknown component"),
            (
                File.jpeg(5, 5, scans: [0xFF, 0xDA, 0, 2]), "the length of a scan header does not fit its components"
            ),
            (
                File.jpeg(5, 5, scans: [0xFF, 0xDA, 0, 9, 1, 1, 0, 0, 0, 0, 0]),
                "the length of a scan header does not fit its components"
            ),
            (File.jpeg(5, 5, scans: File.scan([1]) + [0xFF, 0xD8]), "another image begins within it"),
            (File.jpeg(5, 5, scans: File.scan([1], data: [1, 0xFF, 0xD0])), "a restart marker is out of order"),
            (
                File.jpeg(
                    5, 5, before: [0xFF, 0xDD, 0, 4, 0, 1], scans: File.scan([1], data: [1, 0xFF, 0xD0, 1, 0xFF, 0xD2])
                ), "a restart marker is out of order"
            ),
            (File.jpeg(5, 5, before: [0xFF, 0xDD, 0, 3, 1]), "the length of a segment is wrong (DRI)"),
            (
                File.jpeg(5, 5, scans: (0..<501).flatMap { _ in File.scan([1]) }), "it has more than 500 scans"
            ),
        ] as [([UInt8], String?)])
    func jpeg(bytes: [UInt8], what: String?) {
        expectFault(.jpeg, bytes, what)
    }

    @Test(
        "GIF",
        arguments: [
            (File.gif(0, 5), "it has no pixels"),
            (File.gif(5, 5, blocks: []), "it has no picture"),
            (File.gif(5, 5, blocks: [0x21, 0xFE, 1, 1, 0]), "it has no picture"),
            (File.gif(5, 5, blocks: File.gifFrame(5, 5) + [0x22]), "it has a block of an unknown kind"),
            (File.gif(5, 5, blocks: File.gifFrame(5, 5, codeSize: 12)), "the code size of a frame is wrong"),
            (File.gif(5, 5, blocks: File.gifFrame(5, 5, data: [0])), "a frame has no data"),
            (File.gif(5, 5).dropLast(), nil),
            (File.gif(5, 5, blocks: [0x21, 0xFE, 0xFF]), nil),
        ] as [([UInt8], String?)])
    func gif(bytes: [UInt8], what: String?) {
        expectFault(.gif, bytes, what)
    }
}
