// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("The cache's layout")
struct CacheLayoutTests {
    private let digest = Digest.of("abc")
    private let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("the cache layout names files by their digests")
    func paths() {
        #expect(CacheLayout.document(digest) == "lists/\(hex).json")
        #expect(CacheLayout.image(digest, suffix: "png") == "icons/ba/\(hex).png")
        #expect(CacheLayout.byURL("abc") == "by-url/ba/\(hex)")
        #expect(CacheLayout.generation(42) == "generations/42.json")
    }

    @Test(
        "the cache layout knows the generations by their names",
        arguments: [
            ("0.json", 0), ("42.json", 42), ("9007199254740992.json", 1 << 53),
            ("9007199254740993.json", nil), ("9223372036854775807.json", nil), ("9223372036854775808.json", nil),
            ("042.json", nil), ("+42.json", nil), ("-1.json", nil), ("42", nil), ("42.JSON", nil), (".json", nil),
            ("42.json.tmp", nil), ("4２.json", nil), ("a.json", nil), ("", nil),
        ] as [(String, Int?)])
    func generationNumber(name: String, number: Int?) {
        #expect(CacheLayout.generationNumber(fileName: name) == number)
    }

    @Test("the cache layout has a folder for each first byte of a digest")
    func fanOut() {
        #expect(CacheLayout.fanOut.count == 256)
        #expect(CacheLayout.fanOut.sorted() == CacheLayout.fanOut)
        #expect(Set(CacheLayout.fanOut).count == 256)
        #expect(["00", "0f", "10", "ba", "ff"].allSatisfy(CacheLayout.fanOut.contains))
        #expect(CacheLayout.fanOut.allSatisfy { $0.utf8.count == 2 })
    }
}
