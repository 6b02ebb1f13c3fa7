// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

@Suite("Image rejections")
struct ImageRejectionTests {
    private typealias Header = ImageHeader

    private let inspector = ImageInspector()

    @Test(
        "what is no image is named where it can be",
        arguments: [
            ("", "an empty file"), ("<!DOCTYPE html><title>404</title>", "HTML"), ("\n  <html><svg>", "HTML"),
            ("<p>Not found", "HTML"), ("\u{FEFF}<?xml version='1.0'?><feed/>", "XML"),
            ("<?xml version='1.0'?>\n<!-- a --><SVG viewBox='0 0 1 1'/>", "SVG"), ("<svg/>", "SVG"),
            (#"{"error": 404}"#, "JSON"), (" [1]", "JSON"), ("Not found", "text"), ("žluťoučký kůň", "text"),
            ("BMW: a maker of cars in Munich", "text"), ("%PDF-1.7 \u{1}", "PDF"), ("GIF88a\u{1}", nil),
            ("\u{7F}", nil),
        ])
    func text(text: String, hint: String?) {
        #expect(inspector.verdict(on: Array(text.utf8)) == .failure(.notAnImage(hint: hint)))
    }

    @Test(
        "so are a few binary formats",
        arguments: [
            ([0x1F, 0x8B, 8, 0], "gzip"), ([0x50, 0x4B, 3, 4], "ZIP"), ([0xFF, 0x0A, 1], "JPEG XL"),
            ([0, 0, 0, 12] + Array("JXL \r\n".utf8), "JPEG XL"), ([0, 0, 0, 12] + Array("jP  \r\n".utf8), "JPEG 2000"),
            (ImageHeader.ico([ImageHeader.png(1, 1)], kind: 2), "a Windows cursor"),
            (ImageHeader.fileType("isom", "mp41"), "an ISO media file"), ([0xFF, 0xD8], nil), ([0], nil),
            ([0xC3, 0x28, 0x41], nil), ([0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A], nil),
        ] as [([UInt8], String?)])
    func binary(bytes: [UInt8], hint: String?) {
        #expect(inspector.verdict(on: bytes) == .failure(.notAnImage(hint: hint)))
    }

    @Test("text is told by its beginning, even if a character is cut there")
    func longText() {
        let bytes = [UInt8]("a".utf8) + Array(String(repeating: "é", count: 1000).utf8)
        #expect(inspector.verdict(on: bytes) == .failure(.notAnImage(hint: "text")))
    }

    /// A picture of 4 × 4 pixels before it is cropped.
    private static func croppedHEIC(_ aperture: [UInt8]) -> [UInt8] {
        Header.media(
            Header.fileType("heic"), primary: Header.primary(1), properties: [Header.extent(4, 4), aperture],
            associations: Header.associations([(1, [1, 2])]))
    }

    private static let early = "it ends too early"

    @Test(
        "what makes no sense is damage, and is named",
        arguments: [
            (.png, Header.png(0, 5), "it has no pixels"),
            (.png, Header.png(5, 0), "it has no pixels"),
            (.png, Header.png(1 << 31, 5), "a side is longer than PNG allows"),
            (.png, Header.png(5, 5, chunk: "CgBI"), "its first chunk is not an IHDR of 13 bytes"),
            (.png, Header.png(5, 5, length: 14), "its first chunk is not an IHDR of 13 bytes"),
            (.png, Header.png(5, 5, depth: 4, colourType: 2), "its bit depth and colour type do not go together"),
            (.png, Header.png(5, 5, depth: 16, colourType: 3), "its bit depth and colour type do not go together"),
            (.png, Header.png(5, 5, colourType: 1), "its bit depth and colour type do not go together"),
            (.png, Header.png(5, 5, methods: [1, 0, 0]), "its compression, filter or interlace method is unknown"),
            (.png, Header.png(5, 5, methods: [0, 1, 0]), "its compression, filter or interlace method is unknown"),
            (.png, Header.png(5, 5, methods: [0, 0, 2]), "its compression, filter or interlace method is unknown"),
            (.jpeg, Header.jpeg(5, 0), "it has no pixels"),
            (.jpeg, Header.jpeg(5, 5, frame: 0xC4), early),
            (.jpeg, Header.jpeg(5, 5, frame: 0xDA), "a scan or the end comes before the frame header"),
            (.jpeg, Header.jpeg(5, 5, before: [0xFF, 0xD9]), "a scan or the end comes before the frame header"),
            (.jpeg, Header.jpeg(5, 5, before: [0xFF, 0xD8]), "a scan or the end comes before the frame header"),
            (.jpeg, Header.jpeg(5, 5, before: [0xFF, 0xE0, 0, 1]), "a segment is shorter than its length field"),
            (.jpeg, Header.jpeg(5, 5, before: [0xFF, 0xE0, 0xFF, 0xFF]), early),
            (.jpeg, Header.jpeg(5, 5, length: 16), "the length of its frame header does not fit its components"),
            (.gif, Header.gif(0, 5), "it has no pixels"),
            (.gif, Header.gif(5, 5, paletteBits: 3).dropLast(), early),
        ] as [(ImageType, [UInt8], String)])
    func damage(type: ImageType, bytes: [UInt8], what: String) {
        #expect(inspector.verdict(on: bytes) == .failure(.damaged(type, what: what)))
    }

    @Test(
        "the same for WebP, BMP and ICO",
        arguments: [
            (.webp, Header.lossyWebP(0, 5), "it has no pixels"),
            (.webp, Header.lossyWebP(5, 5, tag: 0x11), "its VP8 data does not begin with a key frame"),
            (.webp, Header.lossyWebP(5, 5, tag: 0xFFFF0), "a partition is longer than its chunk"),
            (.webp, Header.losslessWebP(5, 5, signature: 0x2E), "its VP8L data has an unknown signature or version"),
            (.webp, Header.losslessWebP(5, 5, version: 1), "its VP8L data has an unknown signature or version"),
            (
                .webp, Header.webp(chunk: "ALPH", [UInt8](repeating: 0, count: 10)),
                "its first chunk is not one of VP8, VP8L and VP8X"
            ),
            (.webp, Header.webp(chunk: "VP8L", [0x2F, 0, 0, 0]), "its first chunk is too short"),
            (.webp, Header.webp(chunk: "VP8X", [UInt8](repeating: 0, count: 9)), "its first chunk is too short"),
            (
                .webp, Header.webp(chunk: "VP8X", [UInt8](repeating: 0, count: 10), chunkLength: 11),
                "its first chunk is longer than the file"
            ),
            (
                .webp, Header.webp(chunk: "VP8X", [UInt8](repeating: 0, count: 10), length: 0),
                "its first chunk is longer than the file"
            ),
            (.webp, Header.webp(chunk: "VP8X", [UInt8](repeating: 0, count: 10), length: 0xFFFF_FFFF), early),
            (.bmp, Header.bmp(Header.bitmap(0, 5)), "it has no pixels"),
            (.bmp, Header.bmp(Header.bitmap(5, 0)), "it has no pixels"),
            (.bmp, Header.bmp(Header.bitmap(-5, 5)), "its width is negative"),
            (.bmp, Header.bmp(Header.bitmap(5, 5, depth: 3)), "its bit depth is unknown"),
            (.bmp, Header.bmp(Header.bitmap(5, 5), pixelOffset: 55), early),
            (.ico, Header.ico([]), "its directory is empty"),
            (.ico, Header.ico([Header.png(5, 5)], firstOffset: 21), "a picture lies within its directory"),
            (.ico, Header.ico([Header.png(5, 5)], firstOffset: 23), early),
            (.ico, Header.ico([Header.png(5, 5)], firstOffset: 0xFFFF_FFFF), early),
            (.ico, Header.ico([Header.png(5, 5, depth: 3)]), "its bit depth and colour type do not go together"),
            (.ico, Header.ico([Header.bitmap(5, 1)]), "it has no pixels"),
            (.ico, Header.ico([[1, 2, 3, 4]]), "the length of its bitmap header is unknown"),
            (.ico, Header.ico([[]]), early),
        ] as [(ImageType, [UInt8], String)])
    func windowsAndWebDamage(type: ImageType, bytes: [UInt8], what: String) {
        #expect(inspector.verdict(on: bytes) == .failure(.damaged(type, what: what)))
    }

    @Test(
        "and for ISO media, TIFF and ICNS",
        arguments: [
            (.avif, Header.fileType("avif"), "it has no items (meta)"),
            (.avif, Header.fileType("avif") + Header.box("meta"), "a box is too short"),
            (.avif, Header.fileType("avif") + Header.box("meta", [0, 0, 0, 0]), "it has no item properties (iprp)"),
            (
                .avif, Header.fileType("avif") + Header.box("meta", [0, 0, 0, 0], Header.box("iprp")),
                "it has no list of properties (ipco)"
            ),
            (.avif, Header.media(Header.fileType("avif"), properties: []), "it does not give its size (ispe)"),
            (.avif, Header.media(Header.fileType("avif"), properties: [Header.extent(0, 5)]), "it has no pixels"),
            (.avif, Header.fileType("avif") + [0, 0, 0, 7] + Array("meta".utf8), "a box is too short"),
            (
                .avif, Header.fileType("avif") + Header.big(1, 4) + Array("meta".utf8) + Header.big(15, 8),
                "a box is too short"
            ),
            (
                .avif, Header.fileType("avif") + Header.big(1, 4) + Array("meta".utf8) + Header.big(-1, 8),
                "a number in it is larger than any file"
            ),
            (.avif, Header.fileType("avif") + Header.big(1, 4) + Array("meta".utf8) + Header.big(Int.max, 8), early),
            (
                .heic, Header.media(Header.fileType("heic"), properties: [[0, 0, 0, 99] + Array("ispe".utf8)]),
                "a box is longer than the one around it"
            ),
            (
                .heic,
                Header.media(
                    Header.fileType("heic"), primary: Header.primary(9), properties: [Header.extent(4, 4)],
                    associations: Header.box("ipma", [0, 0, 0, 0], Header.big(0xFFFF_FFFF, 4), [0, 9, 1, 1])),
                "its list of associations (ipma) is cut"
            ),
            (
                .heic, croppedHEIC(Header.aperture((5, 1), (4, 1))), "it is cropped to more than there is (clap)"
            ),
            (.heic, croppedHEIC(Header.aperture((4, 1), (4, 0))), "it divides by zero (clap)"),
            (.heic, croppedHEIC(Header.aperture((1, 2), (4, 1))), "it has no pixels"),
            (.tiff, Header.tiff([]), "its directory does not give its size"),
            (.tiff, Header.tiff([(256, 3, 1, 5)]), "its directory does not give its size"),
            (.tiff, Header.tiff([(256, 3, 1, 5), (257, 3, 1, 0)]), "it has no pixels"),
            (.tiff, Header.tiff([(256, 3, 2, 5), (257, 3, 1, 5)]), "its width or height is not one number"),
            (.tiff, Header.tiff([(256, 2, 1, 5), (257, 3, 1, 5)]), "its width or height is not one number"),
            (.tiff, Header.tiff([(256, 16, 1, 5), (257, 3, 1, 5)]), "its width or height is not one number"),
            (
                .tiff, Header.tiff([(256, 16, 1, -1), (257, 3, 1, 5)], isBig: true),
                "a number in it is larger than any file"
            ),
            (.tiff, Header.tiff([], directory: 0xFFFF_FFFF), early),
            (.tiff, Header.tiff([], isBig: true, directory: Int.max), early),
            (.tiff, Header.tiff([], isBig: true, directory: -1), "a number in it is larger than any file"),
            (.tiff, Header.tiff([], directory: 9), early),
            (.icns, Header.icns([]), "it holds no known picture"),
            (.icns, Header.icns([], length: 0), "it holds no known picture"),
            (.icns, Header.icns([("s8mk", [1])]), "it holds no known picture"),
            (.icns, Header.icns([("ic07", [])], length: 17), early),
            (.icns, Header.icns([("ic07", [1])], length: 16), "an element does not fit into it"),
            (
                .icns, Array("icns".utf8) + Header.big(16, 4) + Array("ic07".utf8) + Header.big(7, 4),
                "an element does not fit into it"
            ),
            (.icns, Header.icns([("ic07", Header.png(0, 5))]), "it has no pixels"),
        ] as [(ImageType, [UInt8], String)])
    func containerDamage(type: ImageType, bytes: [UInt8], what: String) {
        #expect(inspector.verdict(on: bytes) == .failure(.damaged(type, what: what)))
    }

    @Test(
        "codes are stable, and sentences say what is wrong",
        arguments: [
            (.notAnImage(hint: nil), "not-an-image", "the data is not an image of an accepted type"),
            (
                .notAnImage(hint: "HTML"), "not-an-image",
                "the data is not an image of an accepted type: it looks like HTML"
            ),
            (
                .damaged(.webp, what: "it ends too early"), "image-damaged",
                "the WEBP image is damaged: it ends too early"
            ),
            (
                .tooLarge(width: 5000, height: 2, limits: ImageLimits()), "image-too-large",
                "the image has 5000 × 2 pixels: a side is longer than images.maxSide (4096)"
            ),
            (
                .tooLarge(width: 50, height: 50, limits: ImageLimits(maxPixels: 100)), "image-too-large",
                "the image has 50 × 50 pixels: more than images.maxPixels (100)"
            ),
        ] as [(ImageRejection, String, String)])
    func words(rejection: ImageRejection, code: String, sentence: String) {
        #expect(rejection.code == code)
        #expect("\(rejection)" == sentence)
    }
}
