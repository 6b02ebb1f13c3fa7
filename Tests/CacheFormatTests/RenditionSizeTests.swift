// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import CacheFormat

@Suite("Images in other sizes")
struct RenditionSizeTests {
    @Test(
        "a rendition size is a length, with a scale or not, in one spelling",
        arguments: [
            ("8", 8), ("64", 64), ("1024", 1024), ("64@2", 128), ("1024@4", 4096), ("7", nil), ("1025", nil),
            ("064", nil),
            ("64@1", nil), ("64@5", nil), ("64@", nil), ("@2", nil), ("64@02", nil), ("64@2@2", nil), ("+64", nil),
            ("64 ", nil), ("", nil), ("٦٤", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func sizes(text: String, pixels: Int?) {
        let size = RenditionSize(text)
        #expect(size?.pixels == pixels)
        if let size { #expect(size.description == text) }
    }

    private static func image(_ word: String, _ pixels: Int) -> AppListDocument.Image {
        AppListDocument.Image(
            suffix: "png", sha256: .of(word), bytes: 10, type: "image/png", width: pixels, height: pixels)
    }

    private static func document(_ sizes: [String]) throws -> AppListDocument {
        var app = AppListDocument.App(
            name: "Mail", icon: "https://e.org/mail.png", download: nil, state: .ready(image("mail", 512)))
        app.renditions = try sizes.map { text in
            let size = try #require(RenditionSize(text))
            return AppListDocument.Rendition(size: size, image: image(text, size.pixels))
        }
        let source = AppListDocument.Source(sha256: .of("list"), bytes: 1, modified: .distantPast)
        return AppListDocument(list: "a.plist", source: source, apps: [app])
    }

    @Test("renditions in a document are in the order of their pixels, and are read in any layout")
    func roundTrip() throws {
        let document = try Self.document(["48", "64", "64@2", "128@2"])
        #expect(try AppListDocument(json: document.text) == document)
        #expect(AppListDocument(written: document.text) == document)
        let spread = document.json.replacing("\"renditions\": {", with: "\"renditions\" :\n{")
        #expect(try AppListDocument(json: Array(spread.utf8)) == document)
        let longer = document.json.replacing("\"height\": 48 }", with: "\"height\": 48, \"later\": [ 1 ] }")
        #expect(try AppListDocument(json: Array(longer.utf8)) == document)
    }

    @Test(
        "the smallest rendition that is large enough is chosen, or else the image itself",
        arguments: [(1, "48"), (48, "48"), (49, "64"), (128, "64@2"), (129, "mail"), (100_000, "mail")])
    func choice(pixels: Int, word: String) throws {
        let app = try Self.document(["48", "64", "64@2"]).apps[0]
        #expect(app.image(forPixels: pixels)?.sha256 == .of(word))
    }

    @Test(
        "a rendition that no agent writes is damage",
        arguments: [
            ("\"48\"", "\"048\""), ("\"48\"", "\"mail\""), ("\"width\": 48", "\"width\": -48"),
            ("\"bytes\": 10, \"width\": 48", "\"bytes\": \"10\", \"width\": 48"),
            ("\"48\": {", "\"48\": null, \"47\": {\"a\":"),
            ("icons/\(Digest.of("48").hex.prefix(2))/\(Digest.of("48").hex).png", "../\(Digest.of("48").hex).png"),
            ("\"sha256\": \"\(Digest.of("48").hex)\"", "\"sha256\": \"\(Digest.of("49").hex)\""),
        ])
    func damage(text: String, other: String) throws {
        let json = try Self.document(["48"]).json
        #expect(json.contains(text))
        #expect(throws: FormatError.self) {
            try AppListDocument(json: Array(json.replacing(text, with: other).utf8))
        }
    }
}
