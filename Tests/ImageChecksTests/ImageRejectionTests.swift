// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import ImageChecks
import Testing

@Suite("Image rejections")
struct ImageRejectionTests {
    private let inspector = ImageInspector()

    @Test(
        "a rejection names the text format of a file that is no image",
        arguments: [
            ("", "an empty file"), ("<!DOCTYPE html><title>404</title>", "HTML"), ("\n  <html><svg>", "HTML"),
            ("<p>Not found", "HTML"), ("\u{FEFF}<?xml version='1.0'?><feed/>", "XML"),
            ("<?xml version='1.0'?>\n<!-- a --><SVG viewBox='0 0 1 1'/>", "SVG"),
            ("<svg/>", "SVG, which takes images.allowSVG"),
            (#"{"error": 404}"#, "JSON"), (" [1]", "JSON"), ("Not found", "text"), ("žluťoučký kůň", "text"),
            ("BMW: a maker of cars in Munich", "text"), ("%PDF-1.7 \u{1}", "PDF"), ("GIF88a\u{1}", nil),
            ("\u{7F}", nil),
        ])
    func text(text: String, hint: String?) {
        #expect(inspector.verdict(on: Array(text.utf8)) == .failure(.notAnImage(hint: hint)))
    }

    @Test(
        "a rejection names a few binary formats",
        arguments: [
            ([0x1F, 0x8B, 8, 0], "gzip"), ([0x50, 0x4B, 3, 4], "ZIP"),
            ([0, 0, 0, 12] + Array("JXL \r\n".utf8), "JPEG XL"), ([0, 0, 0, 12] + Array("jP  \r\n".utf8), "JPEG 2000"),
            (ImageFile.ico([ImageFile.png(1, 1)], kind: 2), "a Windows cursor"),
            (ImageFile.fileType("isom", "mp41"), "an ISO media file"), ([0xFF, 0xD8], nil), ([0], nil),
            ([0xC3, 0x28, 0x41], nil),
            // Pages in Shift_JIS, in Latin-1, and that their beginning does not tell.
            (Array("\r\n<!DOCTYPE HTML><TITLE>".utf8) + [0x83, 0x8D, 0x83, 0x4F] + Array("</TITLE>".utf8), "HTML"),
            (Array("<HTML lang=fr>Acc".utf8) + [0xE8] + Array("s</HTML>".utf8), "HTML"),
            ([0xE8] + Array("<html>".utf8), nil), (Array("<p>Acc".utf8) + [0xE8] + Array("s</p>".utf8), nil),
            ([0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A], nil),
        ] as [([UInt8], String?)])
    func binary(bytes: [UInt8], hint: String?) {
        #expect(inspector.verdict(on: bytes) == .failure(.notAnImage(hint: hint)))
    }

    private static func tga(
        kind: UInt8 = 2, map: [UInt8] = [0, 0, 0, 0, 0], depth: UInt8 = 24, pixels: Int = 12, hasFooter: Bool = false
    ) -> [UInt8] {
        let header = [0, map[0] == 0 ? 0 : 1, kind, 0, 0] + map[2...] + [0, 0, 0, 0, 2, 0, 2, 0, depth, 0x20]
        let footer = ImageFile.zeros(8) + Array("TRUEVISION-XFILE.\0".utf8)
        return header + ImageFile.zeros(pixels) + (hasFooter ? footer : [])
    }

    @Test(
        "formats that begin alike are told apart",
        arguments: [
            (tga(), "TGA"), (tga(hasFooter: true), "TGA"), (tga(depth: 32, pixels: 16), "TGA"),
            (tga(kind: 10, pixels: 5), "TGA"), (tga(kind: 3, depth: 8, pixels: 4), "TGA"),
            (tga(kind: 1, map: [1, 0, 1, 0, 24], depth: 8, pixels: 7), "TGA"),
            (tga(kind: 5, hasFooter: true), "TGA"), (tga(kind: 5), nil), (tga(pixels: 11), nil), (tga(depth: 7), nil),
            ([0, 0, 2, 0], nil), ([0, 0, 2, 0] + ImageFile.zeros(40), nil),
            (ImageFile.ico([ImageFile.iconBitmap(32, 32)], kind: 2), "a Windows cursor"),
            (Array("RIFF".utf8) + [9, 0, 0, 0] + Array("ACON".utf8), "an animated Windows cursor"),
            (Array("RIFF".utf8) + [9, 0, 0, 0] + Array("WAVE".utf8), nil),
            (Array("%!PS-Adobe-3.0 EPSF-3.0\n".utf8), "PostScript"), ([0xC5, 0xD0, 0xD3, 0xC6, 30], "PostScript"),
            (Array("8BPS".utf8) + [0, 1], "a Photoshop document"), (Array("qoif".utf8) + [0, 0], "QOI"),
            (Array("DDS |".utf8) + [0, 0], "DDS"), ([0x8A, 0x4D, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "MNG"),
            (Array("/* XPM */\nstatic char *a[] = {".utf8), "XPM"), ([0xFF, 0x4F, 0xFF, 0x51, 0], "JPEG 2000"),
            ([0x49, 0x49, 0xBC, 1], "JPEG XR"),
        ] as [([UInt8], String?)])
    func lookalikes(bytes: [UInt8], hint: String?) {
        #expect(inspector.verdict(on: bytes) == .failure(.notAnImage(hint: hint)))
    }

    @Test("text is recognized by its beginning, even if a character is cut there")
    func longText() {
        let bytes = [UInt8]("a".utf8) + Array(String(repeating: "é", count: 1000).utf8)
        #expect(inspector.verdict(on: bytes) == .failure(.notAnImage(hint: "text")))
    }

    @Test(
        "codes of image rejections are stable, and sentences say what is wrong",
        arguments: [
            (.notAnImage(hint: nil), "not-an-image", "the data is not an image of an accepted type"),
            (
                .notAnImage(hint: "HTML"), "not-an-image",
                "the data is not an image of an accepted type: it looks like HTML"
            ),
            (
                .damaged(.webp, what: "it has no picture"), "image-damaged",
                "the WEBP image is damaged: it has no picture"
            ),
            (.truncated(.png), "image-truncated", "the PNG image is truncated"),
            (.truncatedAtSource(.gif), "image-truncated", "the GIF image is truncated at its source"),
            (
                .unsafe(.svg, what: "it has a document type (DOCTYPE)"), "image-unsafe",
                "the SVG image is not safe to show: it has a document type (DOCTYPE)"
            ),
            (
                .tooManyFrames(.gif, count: 2000, limits: ImageLimits()), "image-too-large",
                "the GIF image has 2000 frames: more than 1024"
            ),
            (
                .tooManyLayers(.jxl, pixels: 900, limit: 800), "image-too-large",
                "the layers of the JPEG XL image have 900 pixels: more than 800"
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
        #expect(rejection.code.rawValue == code)
        #expect("\(rejection)" == sentence)
    }
}
