// SPDX-License-Identifier: Apache-2.0
import SyncPlan

extension ImageSample {
    private typealias Header = ImageHeader

    private static let exif: [UInt8] = [0xFF, 0xE1, 0, 6, 0xFF, 0xC0, 0xFF, 0xD9]
    private static let items = ImageHeader.associations([(1, [1]), (2, [2, 3])])

    /// Headers made by hand, for the variants that those tools do not write.
    static let handmade: [ImageSample] = [
        ImageSample(
            "PNG of 16-bit greys, interlaced", .png, 5, 4000,
            Header.png(5, 4000, depth: 16, colourType: 0, methods: [0, 0, 1])),
        ImageSample("JPEG with markers within a segment", .jpeg, 300, 200, Header.jpeg(300, 200, before: exif)),
        ImageSample(
            "JPEG with fill and stray bytes", .jpeg, 3, 2,
            Header.jpeg(3, 2, before: [0xFF, 0xFF, 0xFF, 0xFE, 0, 2, 0x55, 0xFF, 0x00, 0xFF])),
        ImageSample("JPEG, arithmetic and progressive", .jpeg, 3, 2, Header.jpeg(3, 2, frame: 0xCA)),
        ImageSample("GIF87a", .gif, 1, 2, Header.gif(1, 2, version: "GIF87a")),
        ImageSample("GIF with a palette", .gif, 4000, 2, Header.gif(4000, 2, paletteBits: 8)),
        ImageSample("VP8 with scaling bits", .webp, 5, 6, Header.lossyWebP(0x4005, 0xC006)),
        ImageSample("VP8L", .webp, 4096, 2, Header.losslessWebP(4096, 2)),
        ImageSample("VP8X", .webp, 4096, 4096, Header.extendedWebP(4096, 4096)),
        ImageSample("BMP, version 1", .bmp, 7, 9, Header.bmp(Header.coreBitmap(7, 9))),
        ImageSample("BMP, OS/2 2, short", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 16))),
        ImageSample("BMP, OS/2 2", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 64))),
        ImageSample("BMP, version 3", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9))),
        ImageSample("BMP from top to bottom", .bmp, 7, 9, Header.bmp(Header.bitmap(7, -9))),
        ImageSample("BMP with bit masks", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 52))),
        ImageSample("BMP with an alpha mask", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 56))),
        ImageSample("BMP, version 4", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 108))),
        ImageSample("BMP, version 5", .bmp, 7, 9, Header.bmp(Header.bitmap(7, 9, headerLength: 124))),
        ImageSample("ICO of a bitmap", .ico, 256, 256, Header.ico([Header.bitmap(256, 512)])),
        ImageSample(
            "ICO whose second picture is the largest", .ico, 512, 300,
            Header.ico([Header.bitmap(16, 32), Header.png(512, 300), Header.bitmap(32, 64)])),
        ImageSample(
            "AVIF whose main item is the smaller", .avif, 40, 30,
            Header.media(
                Header.fileType("mif1", "avif"), primary: Header.primary(1),
                properties: [Header.extent(40, 30), Header.extent(80, 60), Header.rotation(1)], associations: items)),
        ImageSample(
            "AVIF whose main item is turned", .avif, 60, 80,
            Header.media(
                Header.fileType("avif"), primary: Header.primary(2),
                properties: [Header.extent(40, 30), Header.extent(80, 60), Header.rotation(3)], associations: items)),
        ImageSample(
            "HEIC turned by half", .heic, 80, 60,
            Header.media(
                Header.fileType("heix"), primary: Header.primary(2),
                properties: [Header.extent(40, 30), Header.extent(80, 60), Header.rotation(2)], associations: items)),
        ImageSample(
            "HEIC that is cropped and turned", .heic, 7, 9,
            Header.media(
                Header.fileType("heic"), primary: Header.primary(1),
                properties: [Header.extent(64, 64), Header.aperture((27, 3), (7, 1)), Header.rotation(1)],
                associations: Header.associations([(1, [1, 2, 3])]))),
        ImageSample(
            "HEIC with long numbers", .heic, 60, 80,
            Header.media(
                Header.fileType("mif1", "miaf", "heic"), primary: Header.primary(70_000, isLong: true),
                properties: [Header.rotation(1), Header.extent(80, 60)],
                associations: Header.associations([(70_000, [2, 1])], isLong: true))),
        ImageSample(
            "HEIC that names no main item", .heic, 80, 60,
            Header.media(
                Header.fileType("heic"),
                properties: [Header.extent(40, 30), Header.extent(80, 60), Header.rotation(1)],
                associations: items)),
        ImageSample(
            "AVIF with boxes of long and open length", .avif, 4, 3,
            Header.media(Header.fileType("avis"), properties: [Header.extent(4, 3)])
                + Header.big(1, 4) + Array("free".utf8) + Header.big(18, 8) + [0, 0]
                + Header.big(0, 4) + Array("free".utf8) + [0]),
        ImageSample(
            "TIFF, short numbers", .tiff, 640, 480, Header.tiff([(254, 4, 1, 0), (256, 3, 1, 640), (257, 3, 1, 480)])),
        ImageSample(
            "TIFF, long numbers, big-endian", .tiff, 640, 480,
            Header.tiff([(256, 4, 1, 640), (257, 3, 1, 480)], isLittle: false)),
        ImageSample(
            "BigTIFF, big-endian", .tiff, 640, 480,
            Header.tiff([(256, 16, 1, 640), (257, 4, 1, 480)], isLittle: false, isBig: true)),
        ImageSample(
            "BigTIFF, little-endian", .tiff, 640, 480,
            Header.tiff([(256, 16, 1, 640), (257, 3, 1, 480)], isBig: true)),
        ImageSample("ICNS of one bit a pixel", .icns, 32, 32, Header.icns([("ICN#", [1, 2, 3])])),
        ImageSample("ICNS that is not square", .icns, 16, 12, Header.icns([("icm8", [1]), ("s8mk", [2])])),
        ImageSample(
            "ICNS with a list of contents, and JPEG 2000", .icns, 512, 512,
            Header.icns([("TOC ", [0, 0]), ("ic09", [0, 0, 0, 12]), ("ic07", Header.png(128, 128)), ("info", [])])),
        ImageSample("ICNS whose PNG differs from its name", .icns, 33, 64, Header.icns([("ic10", Header.png(33, 64))])),
    ]

    static let all = written + handmade
}
