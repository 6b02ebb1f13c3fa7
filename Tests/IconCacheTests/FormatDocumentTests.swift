// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import TestSupport
import Testing

@Suite("The description of the format")
struct FormatDocumentTests {
    /// The JSON examples: a manifest, and the documents that it names.
    private static func examples() throws -> [String] {
        try Article("Format").examples(in: "json")
    }

    @Test("the description of the format shows a manifest exactly as it is written")
    func manifest() throws {
        let text = try #require(try Self.examples().first)
        let manifest = try Manifest(json: Array(text.utf8))
        #expect(manifest.json == text)
        #expect(manifest.generation == 42 && manifest.lists.count == 2)
    }

    @Test("the description of the format shows exactly the list documents that its manifest names")
    func documents() throws {
        let examples = try Self.examples()
        let manifest = try Manifest(json: Array(try #require(examples.first).utf8))
        #expect(examples.count == 1 + manifest.lists.count)
        let documents = try examples.dropFirst().map { text in
            let document = try AppListDocument(json: Array(text.utf8))
            #expect(document.json == text)
            return document
        }
        #expect(manifest.lists == Sample.manifest(42, documents).lists)
    }

    @Test("the description of the format shows the name of a URL as it is")
    func byURL() throws {
        #expect(try Article("Format").text.contains("`\(CacheLayout.byURL("https://example.com/mail.png"))`"))
    }
}
