// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Testing

@Suite("The paths of an export")
struct ExportLayoutTests {
    private static let hex = Digest.of("a").hex

    @Test(
        "paths of an export are its own only if a digest names them",
        arguments: [
            ("icons/\(hex.prefix(2))/\(hex).png", true), ("lists/\(hex).json", true),
            ("signatures/\(hex).minisig", true),
            ("icons/\(hex.prefix(2))/\(hex)", false), ("icons/\(hex.prefix(2))/\(hex).", false),
            ("icons/\(hex.prefix(2))/\(hex).p/g", false), ("icons/\(hex.prefix(2))/\(hex).png.bak", false),
            ("icons/00/\(hex).png", false), ("icons/\(hex).png", false), ("lists/\(hex).png", false),
            ("lists/x/\(hex).json", false), ("lists/../\(hex).json", false),
            ("by-url/\(hex.prefix(2))/\(hex).png", false),
            ("manifest.json", false), ("", false), ("/", false), ("index.html", false),
            ("lists/\(hex.uppercased()).json", false),
            ("icons/\(hex.prefix(2))/.\(hex).png.new", false),
        ])
    func isNamed(path: String, isNamed: Bool) {
        #expect(ExportLayout.isNamed(path) == isNamed)
        #expect(ExportLayout.isTemporary(ExportLayout.temporary(path)) == isNamed)
        #expect(!ExportLayout.isNamed(ExportLayout.temporary(path)))
    }

    @Test("paths of an export have a temporary name in the same folder")
    func temporary() {
        #expect(ExportLayout.temporary("manifest.json") == ".manifest.json.new")
        #expect(ExportLayout.temporary("lists/a.json") == "lists/.a.json.new")
    }

    @Test("paths of an export may be kept for a year, and the manifest for a minute")
    func cacheControl() {
        #expect(ExportLayout.cacheControl(of: "manifest.json").hasPrefix("public, max-age=60, "))
        #expect(ExportLayout.cacheControl(of: "lists/\(Self.hex).json") == "public, max-age=31536000, immutable")
    }
}
