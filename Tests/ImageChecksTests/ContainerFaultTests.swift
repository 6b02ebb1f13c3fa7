// SPDX-License-Identifier: Apache-2.0
import ImageChecks
import Testing

@Suite("Faults of containers")
struct ContainerFaultTests {
    private typealias File = ImageFile

    @Test(
        "WebP",
        arguments: [
            (File.webp(File.lossy(0, 5)), "it has no pixels"),
            (File.webp(File.lossy(5, 5, tag: 0x11)), "its VP8 data does not begin with a key frame"),
            (File.webp(File.lossy(5, 5, tag: 0xFFFF0)), "a partition is longer than its chunk"),
            (File.webp(File.lossless(5, 5, signature: 0x2E)), "its VP8L data has an unknown signature or version"),
            (File.webp(File.lossless(5, 5, version: 1)), "its VP8L data has an unknown signature or version"),
            (File.webp(File.riff("ALPH", File.zeros(10))), "its first chunk is not one of VP8, VP8L and VP8X"),
            (File.webp(File.riff("VP8L", [0x2F, 0, 0, 0])), "a chunk is too short"),
            (File.webp(File.riff("VP8 ", File.zeros(9))), "a chunk is too short"),
            (File.webp(File.riff("VP8X", File.zeros(9))), "a chunk is too short"),
            (File.webp(File.riff("VP8X", File.zeros(10), length: 11)), "a chunk is longer than what holds it"),
            (File.webp(File.lossless(5, 5), length: 0), "it is too short for a chunk"),
            (File.webp(File.lossless(5, 5), length: 4), "it has no chunks"),
            (File.webp(File.lossless(5, 5), length: 0xFFFF_FFFF), nil),
            (File.webp(File.lossless(5, 5) + [1]), "a chunk is too short"),
            (File.webp(File.extended(5, 5)), "it has no picture"),
            (File.webp(File.extended(5, 5) + File.lossless(5, 4)), "its picture has another size than its canvas"),
            (File.webp(File.extended(5, 5, flags: 2) + File.lossless(5, 5)), "it has no picture"),
            (
                File.webp(File.extended(5, 5, flags: 2) + File.webpFrame(5, 5)),
                "a frame comes before the animation control (ANMF)"
            ),
            (
                File.webp(File.extended(5, 5, flags: 2) + File.riff("ANIM", [0])),
                "its animation control is too short (ANIM)"
            ),
        ] as [([UInt8], String?)])
    func webp(bytes: [UInt8], what: String?) {
        expectFault(.webp, bytes, what)
    }

    @Test(
        "WebP: a frame",
        arguments: [
            (File.webpFrame(5, 5, x: 2), "a frame does not fit on the canvas (ANMF)"),
            (File.webpFrame(5, 5, y: 1 << 24), "a frame does not fit on the canvas (ANMF)"),
            (File.webpFrame(5, 5, File.lossless(4, 5)), "a picture has another size than its frame (ANMF)"),
            (File.webpFrame(5, 5, []), "a frame has no picture (ANMF)"),
            (File.riff("ANMF", File.zeros(15)), "a frame is too short (ANMF)"),
        ] as [([UInt8], String)])
    func webpFrame(frame: [UInt8], what: String) {
        expectFault(.webp, File.webp(File.extended(5, 5, flags: 2) + File.animationControl + frame), what)
    }

    @Test(
        "BMP",
        arguments: [
            (File.bmp(File.bitmap(0, 5)), "it has no pixels"),
            (File.bmp(File.bitmap(5, 0)), "it has no pixels"),
            (File.bmp(File.bitmap(-5, 5)), "its width is negative"),
            (File.bmp(File.bitmap(5, 5, depth: 3)), "its bit depth is unknown"),
            (File.bmp(File.bitmap(5, 5, depth: 0)), "its bit depth is unknown"),
            (File.bmp(File.bitmap(5, 5, compression: 7)), "its compression is unknown"),
            (File.bmp(File.bitmap(5, 5), pixelOffset: 53), "its pixels begin within its header"),
            (File.bmp(File.bitmap(5, 5), pixelOffset: 999), nil),
            (File.bmp(File.bitmap(4000, 4000, depth: 64)), nil),
            (File.bmp(File.bitmap(7, 9, depth: 8, compression: 1), [7, 1, 0, 9, 1, 1]), nil),
            (File.bmp(File.bitmap(7, 9, headerLength: 64, compression: 3, pixelLength: 999)), nil),
            (
                File.bmp(File.bitmap(7, 9, depth: 0, compression: 5, pixelLength: 9)),
                "it embeds another format than declared"
            ),
            (
                File.bmp(File.bitmap(7, 9, depth: 0, compression: 5, pixelLength: 9), File.png(7, 9)),
                "a picture in it ends too early"
            ),
        ] as [([UInt8], String?)])
    func bmp(bytes: [UInt8], what: String?) {
        expectFault(.bmp, bytes, what)
    }

    @Test(
        "ICO",
        arguments: [
            (File.ico([]), "its directory is empty"),
            (File.ico([File.png(5, 5)], firstOffset: 21), "a picture lies within its directory"),
            (File.ico([File.png(5, 5)], firstOffset: 23), nil),
            (File.ico([File.png(5, 5)], firstOffset: 0xFFFF_FFFF), nil),
            (File.ico([File.png(5, 5, depth: 3)]), "its bit depth and colour type do not go together"),
            (File.ico([File.iconBitmap(5, 0)]), "it has no pixels"),
            (File.ico([[1, 2, 3, 4]]), "the length of its bitmap header is unknown"),
            (File.ico([[]]), "a picture in it ends too early"),
            (File.ico([File.png(5, 5).dropLast()]), "a picture in it ends too early"),
            (File.ico([File.png(5, 5, chunks: [])]), "it has no data (IDAT)"),
            (File.ico([File.bitmap(64, 128)]), "a picture in it ends too early"),
            (File.ico([File.bitmap(64, 128, depth: 8, compression: 1)]), "a picture in it ends too early"),
            (
                File.ico([File.bitmap(64, 128, depth: 0, compression: 4)]),
                "a bitmap in it has a compression that icons do not have"
            ),
            (
                File.ico(at: [38..<39 + File.png(9, 9).count, 38..<38 + File.png(9, 9).count], File.png(9, 9) + [0]),
                "two pictures overlap"
            ),
        ] as [([UInt8], String?)])
    func ico(bytes: [UInt8], what: String?) {
        expectFault(.ico, bytes, what)
    }

    @Test(
        "TIFF",
        arguments: [
            (File.tiff([]), "its directory does not give its size"),
            (File.tiff([(256, 3, 1, 5)]), "its directory does not give its size"),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 0)]), "it has no pixels"),
            (File.tiff([(256, 3, 2, 5), (257, 3, 1, 5)]), "its width or height is not one number"),
            (File.tiff([(256, 2, 1, 5), (257, 3, 1, 5)]), "a field is of a wrong type"),
            (File.tiff([(256, 99, 1, 5), (257, 3, 1, 5)]), "its directory does not give its size"),
            (File.tiff([(256, 16, 1, 5), (257, 3, 1, 5)]), "its directory does not give its size"),
            (File.tiff([(256, 16, 1, -1), (257, 3, 1, 5)], isBig: true), "a number in it is larger than any file"),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 5)]), "a page has no strips or tiles"),
            (
                File.tiff([(256, 3, 1, 5), (257, 3, 1, 5), (324, 3, 2, 0), (325, 3, 1, 0)]),
                "its strips and their lengths do not match"
            ),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 5), (273, 4, 1, 0), (279, 4, 1, 999)]), nil),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 5), (273, 4, 9, 900), (279, 4, 9, 0)]), nil),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 5), (700, 1, 0xFFFF_FFFF, 0)] + File.strip), nil),
            (File.tiff(pages: 3, sharing: 20), "its directories overlap"),
            (File.tiff([(256, 3, 1, 5), (257, 3, 1, 5)] + File.strip, next: 999), nil),
            (File.tiff([], directory: 0xFFFF_FFFF), nil),
            (File.tiff([], isBig: true, directory: Int.max), nil),
            (File.tiff([], isBig: true, directory: -1), "a number in it is larger than any file"),
            (File.tiff([], directory: 14), nil),
            (File.tiff([], directory: 9), "its directory does not give its size"),
        ] as [([UInt8], String?)])
    func tiff(bytes: [UInt8], what: String?) {
        expectFault(.tiff, bytes, what)
    }

    @Test(
        "ICNS",
        arguments: [
            (File.icns([]), "it holds no known picture"),
            (File.icns([], length: 0), "it holds no known picture"),
            (File.icns([("s8mk", [1])]), "it holds no known picture"),
            (File.icns([("ic07", [])]), "it holds no known picture"),
            (File.icns([("ic07", [1])]), "a picture in it is neither PNG nor JPEG 2000"),
            (File.icns([("ic07", File.codestream(0, 1))]), "it has no pixels"),
            (File.icns([("ic07", Array(File.codestream(9, 9).dropLast()))]), "a picture in it ends too early"),
            (File.icns([("ic07", File.jp2(9, 9, header: (8, 9)))]), "a JPEG 2000 picture in it gives two sizes"),
            (
                File.icns([("ic07", Array(File.jp2(9, 9).prefix(12)))]),
                "a JPEG 2000 picture in it has no data or size"
            ),
            (File.icns([("ic07", [])], length: 17), nil),
            (File.icns([("ic07", [1])], length: 16), "an element does not fit into it"),
            (File.icns([("ic07", [1])], length: 18), nil),
            (File.icns([("ICN#", [1])], length: 18) + [0], "an element does not fit into it"),
            (
                Array("icns".utf8) + File.big(16, 4) + Array("ic07".utf8) + File.big(7, 4),
                "an element does not fit into it"
            ),
            (File.icns([("ic07", File.png(0, 5))]), "it has no pixels"),
            (File.icns([("ic07", File.png(5, 5).dropLast())]), "a picture in it ends too early"),
            (File.icns([("ic07", File.signature)]), "a picture in it ends too early"),
        ] as [([UInt8], String?)])
    func icns(bytes: [UInt8], what: String?) {
        expectFault(.icns, bytes, what)
    }
}
