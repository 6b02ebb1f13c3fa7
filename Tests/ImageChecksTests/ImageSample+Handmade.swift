// SPDX-License-Identifier: Apache-2.0
import ImageChecks

extension ImageSample {
    private typealias File = ImageFile

    private static let exif: [UInt8] = [0xFF, 0xE1, 0, 6, 0xFF, 0xC0, 0xFF, 0xD9]
    private static let items = ImageFile.associations([(1, [1]), (2, [2, 3])])
    /// The frame, its low frequencies, its high ones, and two groups.
    private static let groups = [1, 2, 3, 4, 5]
    private static let restarts: [UInt8] = (0..<10).flatMap { [0x11, 0xFF, 0xD0 | $0 & 7] } + [0x22]

    /// Files made by hand, for the variants that those tools do not write.
    static let handmade = pictures + containers + drawings

    private static let pictures: [ImageSample] = [
        ImageSample(
            "PNG of 16-bit greys, interlaced", .png, 5, 4000,
            File.png(5, 4000, depth: 16, colourType: 0, methods: [0, 0, 1])),
        ImageSample(
            "PNG with a palette, split data and chunks of no concern", .png, 5, 4,
            File.png(
                5, 4, colourType: 3,
                chunks: File.chunk("gAMA", [1]) + File.chunk("PLTE", [1, 2, 3]) + File.chunk("IDAT") + File.data
                    + File.data + File.chunk("teXt") + File.chunk("acTL", [9]))),
        ImageSample("animated PNG", .png, 4, 3, File.animatedPNG(3)),
        ImageSample(
            "animated PNG whose default picture is no frame", .png, 4, 3,
            File.png(4, 3, chunks: File.animation(1) + File.data + File.frame(0, 2, 2, x: 2, y: 1) + File.frameData(1))),
        ImageSample("JPEG with markers within a segment", .jpeg, 300, 200, File.jpeg(300, 200, before: exif)),
        ImageSample(
            "JPEG with fill and stray bytes", .jpeg, 3, 2,
            File.jpeg(3, 2, before: [0xFF, 0xFF, 0xFF, 0xFE, 0, 2, 0x55, 0xFF, 0x00, 0xFF])),
        ImageSample("JPEG, arithmetic and progressive", .jpeg, 3, 2, File.jpeg(3, 2, frame: 0xCA)),
        ImageSample(
            "JPEG with a scan for each component", .jpeg, 3, 2,
            File.jpeg(3, 2, scans: File.scan([3]) + File.scan([1]) + [0xFF, 0xC4, 0, 2] + File.scan([2]))),
        ImageSample(
            "JPEG with restart markers", .jpeg, 3, 2,
            File.jpeg(3, 2, before: [0xFF, 0xDD, 0, 4, 0, 1], scans: File.scan([1, 2, 3], data: restarts))),
        ImageSample("GIF87a", .gif, 1, 2, File.gif(1, 2, version: "GIF87a")),
        ImageSample("GIF with a palette", .gif, 4000, 2, File.gif(4000, 2, paletteBits: 8)),
        ImageSample(
            "animated GIF", .gif, 4, 2,
            File.gif(
                4, 2,
                blocks: [0x21, 0xF9, 4, 0, 0, 0, 0, 0] + File.gifFrame(4, 2, paletteBits: 3) + [0]
                    + [0x21, 0xFE, 2, 0x3B, 0x2C, 1, 0x3B, 0] + File.gifFrame(4, 2, data: [1, 9, 3, 8, 7, 6, 0]))),
        ImageSample("VP8 with scaling bits", .webp, 5, 6, File.webp(File.lossy(0x4005, 0xC006))),
        ImageSample("VP8L", .webp, 4096, 2, File.webp(File.lossless(4096, 2) + File.riff("none", [1]))),
        ImageSample(
            "VP8X", .webp, 4096, 4096,
            File.webp(File.extended(4096, 4096) + File.riff("ALPH", [1]) + File.lossy(4096, 4096))),
        ImageSample("animated WebP, by hand", .webp, 8, 8, File.animatedWebP(3)),
        ImageSample("BMP, version 1", .bmp, 7, 9, File.bmp(File.coreBitmap(7, 9))),
        ImageSample("BMP, OS/2 2, short", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 16))),
        ImageSample("BMP, OS/2 2", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 64))),
        ImageSample("BMP, version 3", .bmp, 7, 9, File.bmp(File.bitmap(7, 9))),
        ImageSample("BMP from top to bottom", .bmp, 7, 9, File.bmp(File.bitmap(7, -9))),
        ImageSample("BMP with bit masks", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 52))),
        ImageSample("BMP with an alpha mask", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 56))),
        ImageSample("BMP, version 4", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 108))),
        ImageSample("BMP, version 5", .bmp, 7, 9, File.bmp(File.bitmap(7, 9, headerLength: 124))),
        ImageSample(
            "BMP of packed bytes", .bmp, 7, 9,
            File.bmp(
                File.bitmap(7, 9, depth: 8, compression: 1),
                [7, 1, 0, 0, 0, 3, 1, 2, 3, 0, 0, 2, 1, 1, 1, 1, 0, 1])),
        ImageSample(
            "BMP of packed half bytes, without an offset", .bmp, 7, 9,
            File.bmp(
                File.bitmap(7, 9, depth: 4, compression: 2), File.zeros(64) + [0, 5, 1, 2, 3, 0, 0, 1], pixelOffset: 0)),
        ImageSample(
            "BMP of packed colours", .bmp, 7, 9,
            File.bmp(File.bitmap(7, 9, headerLength: 64, compression: 4), [9, 1, 1, 1, 0, 0, 0, 1])),
        ImageSample(
            "BMP that is a fax", .bmp, 7, 9,
            File.bmp(File.bitmap(7, 9, headerLength: 64, depth: 1, compression: 3, pixelLength: 3), [1, 1, 1])),
        ImageSample(
            "BMP that holds a PNG", .bmp, 7, 9,
            File.bmp(
                File.bitmap(7, 9, depth: 0, compression: 5, pixelLength: File.png(7, 9).count), File.png(7, 9))),
        ImageSample(
            "BMP that holds a JPEG", .bmp, 7, 9,
            File.bmp(
                File.bitmap(7, 9, depth: 0, compression: 4, pixelLength: File.jpeg(7, 9).count), File.jpeg(7, 9))),
    ]

    private static let containers: [ImageSample] = [
        ImageSample("ICO of a bitmap", .ico, 64, 64, File.ico([File.iconBitmap(64, 64)])),
        ImageSample(
            "ICO of runs", .ico, 8, 8,
            File.ico([File.bitmap(8, 16, depth: 8, compression: 1) + File.zeros(1024) + [0, 1]])),
        ImageSample(
            "ICO whose second picture is the largest", .ico, 512, 300,
            File.ico([File.iconBitmap(16, 16), File.png(512, 300), File.iconBitmap(32, 32)])),
        ImageSample(
            "ICO whose entries share a picture, out of order", .ico, 9, 9,
            File.ico(
                at: [166..<166 + File.png(9, 9).count, 54..<166, 166..<166 + File.png(9, 9).count],
                File.iconBitmap(8, 8) + File.png(9, 9))),
        ImageSample(
            "AVIF whose main item is the smaller", .avif, 40, 30,
            File.media(
                File.fileType("mif1", "avif"), primary: File.primary(1),
                properties: [File.extent(40, 30), File.extent(80, 60), File.rotation(1)], associations: items)),
        ImageSample(
            "AVIF whose main item is turned", .avif, 60, 80,
            File.media(
                File.fileType("avif"), primary: File.primary(2),
                properties: [File.extent(40, 30), File.extent(80, 60), File.rotation(3)], associations: items)),
        ImageSample(
            "HEIC turned by half", .heic, 80, 60,
            File.media(
                File.fileType("heix"), primary: File.primary(2),
                properties: [File.extent(40, 30), File.extent(80, 60), File.rotation(2)], associations: items)),
        ImageSample(
            "HEIC that is cropped and turned", .heic, 7, 9,
            File.media(
                File.fileType("heic"), primary: File.primary(1),
                properties: [File.extent(64, 64), File.aperture((27, 3), (7, 1)), File.rotation(1)],
                associations: File.associations([(1, [1, 2, 3])]))),
        ImageSample(
            "HEIC with long numbers", .heic, 60, 80,
            File.media(
                File.fileType("mif1", "miaf", "heic"), primary: File.primary(70_000, isLong: true),
                properties: [File.rotation(1), File.extent(80, 60)],
                associations: File.associations([(70_000, [2, 1])], isLong: true))),
        ImageSample(
            "HEIC that names no main item", .heic, 80, 60,
            File.media(
                File.fileType("heic"),
                properties: [File.extent(40, 30), File.extent(80, 60), File.rotation(1)],
                associations: items)),
        ImageSample(
            "AVIF with boxes of long and open length", .avif, 4, 3,
            File.media(File.fileType("avis"), properties: [File.extent(4, 3)])
                + File.big(1, 4) + Array("free".utf8) + File.big(18, 8) + [0, 0]
                + File.big(0, 4) + Array("free".utf8) + [0]),
        ImageSample(
            "AVIF that is a sequence", .avif, 4, 3,
            File.media(File.fileType("avis"), properties: [File.extent(4, 3)], more: File.track(frames: 3))),
        ImageSample(
            "HEIC with data in its description", .heic, 4, 3,
            File.media(
                File.fileType("heic"), properties: [File.extent(4, 3)],
                locations: File.locations([(1, 2)], method: 1) + File.box("idat", [1, 2, 3]))),
        ImageSample(
            "JPEG XL, long sides", .jxl, 300, 200, File.jxl(300, 200, frames: [File.JXLFrame(sections: groups)])),
        ImageSample("JPEG XL, all by default", .jxl, 192, 128, [0xFF, 0x0A, 0x1F, 7, 1, 0x0C, 0, 1, 2, 3]),
        ImageSample("JPEG XL that is turned", .jxl, 20, 30, File.jxl(30, 20, orientation: 5)),
        ImageSample("JPEG XL turned by half", .jxl, 30, 20, File.jxl(30, 20, orientation: 3)),
        ImageSample(
            "animated JPEG XL, by hand", .jxl, 30, 20,
            File.jxl(
                30, 20, isAnimated: true,
                frames: [
                    File.JXLFrame(isLast: false), File.JXLFrame(area: (2, -3, 8, 9), isLast: false), File.JXLFrame(),
                ])),
        ImageSample(
            "JPEG XL with a hidden frame and a layer", .jxl, 30, 20,
            File.jxl(
                30, 20,
                frames: [
                    File.JXLFrame(area: (0, 0, 200, 2), isHidden: true), File.JXLFrame(isLast: false),
                    File.JXLFrame(area: (5, 5, 5, 5)),
                ])),
        ImageSample(
            "JPEG XL with the usual order", .jxl, 30, 20, File.jxl(30, 20, frames: [File.JXLFrame(order: .usual)])),
        ImageSample(
            "JPEG XL in parts", .jxl, 30, 20,
            File.jxlBoxes(
                File.jxlPart(0, File.jxl(30, 20).prefix(5)), File.box("Exif", [1]), File.jxlPart(1, []),
                File.jxlPart(2, isLast: true, File.jxl(30, 20).dropFirst(5)))),
        ImageSample(
            "JPEG XL in a box of open length", .jxl, 30, 20,
            File.jxlBoxes(File.big(0, 4) + Array("jxlc".utf8) + File.jxl(30, 20))),
        ImageSample(
            "JPEG XL in a box of long length", .jxl, 30, 20,
            File.jxlBoxes(
                File.big(1, 4) + Array("jxlc".utf8) + File.big(16 + File.jxl(30, 20).count, 8) + File.jxl(30, 20))),
        ImageSample(
            "TIFF, short numbers", .tiff, 640, 480,
            File.tiff([(254, 4, 1, 0), (256, 3, 1, 640), (257, 3, 1, 480)] + File.strip)),
        ImageSample(
            "TIFF, long numbers, big-endian", .tiff, 640, 480,
            File.tiff([(256, 4, 1, 640), (257, 3, 1, 480)] + File.strip, isLittle: false)),
        ImageSample(
            "BigTIFF, big-endian", .tiff, 640, 480,
            File.tiff([(256, 16, 1, 640), (257, 4, 1, 480)] + File.strip, isLittle: false, isBig: true)),
        ImageSample(
            "BigTIFF, little-endian", .tiff, 640, 480,
            File.tiff([(256, 16, 1, 640), (257, 3, 1, 480)] + File.strip, isBig: true)),
        ImageSample("TIFF of three pages", .tiff, 2, 3, File.tiff(pages: 3)),
        ImageSample("ICNS of one bit a pixel", .icns, 32, 32, File.icns([("ICN#", [1, 2, 3])])),
        ImageSample("ICNS that is not square", .icns, 16, 12, File.icns([("icm8", [1]), ("s8mk", [2])])),
        ImageSample(
            "ICNS with a list of contents, and JPEG 2000", .icns, 512, 512,
            File.icns([("TOC ", [0, 0]), ("ic09", File.jp2(512, 512)), ("ic07", File.png(128, 128)), ("info", [])])),
        ImageSample(
            "ICNS of a codestream", .icns, 64, 40, File.icns([("icp6", File.codestream(64, 40)), ("ic07", [])])),
        ImageSample("ICNS whose PNG differs from its name", .icns, 33, 64, File.icns([("ic10", File.png(33, 64))])),
    ]

    private static let drawings: [ImageSample] = [
        ImageSample("SVG", .svg, 8, 8, File.svg()),
        ImageSample(
            "SVG with prefixes, a declaration and comments", .svg, 24, 16,
            Array(
                """
                \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
                <!-- <script> -->
                <svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg" viewBox="0 0 24 16"
                ><s:title>a &amp; b &#233; ž</s:title
                ><s:style><![CDATA[ .a { fill: url( '#b' ) } ]]></s:style
                ><s:path d="M0 0" style="fill:url(&quot;#b&quot;)"/><?xpacket a?></svg>
                """.utf8)),
    ]

    static let all = written + handmade
}
