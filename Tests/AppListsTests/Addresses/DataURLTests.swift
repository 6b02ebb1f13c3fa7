// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@Suite("URLs that carry their image")
struct DataURLTests {
    private static func bytes(_ text: String) throws -> [UInt8] { try #require(DataURL(text)).bytes() }

    @Test(
        "a data URL has the bytes that it stands for",
        arguments: [
            // As text.
            ("data:,", []), ("data:,ab", [0x61, 0x62]),
            ("data:image/png,%89PNG%0d%0A", [0x89, 0x50, 0x4E, 0x47, 13, 10]),
            ("data:text/plain;charset=utf-8,%C3%BC", [0xC3, 0xBC]), ("DATA:image/gif,x", [0x78]),
            ("data:,a,b", [0x61, 0x2C, 0x62]), ("data:,a+b", [0x61, 0x2B, 0x62]),
            ("data:,a=?&b#c", Array("a=?&b".utf8)),
            ("data://host/,a", [0x61]), ("data:,ü", [0xC3, 0xBC]), ("data:,%25", [0x25]), ("data:,%00", [0]),
            // As base64, with all its padding and without.
            ("data:;base64,", []), ("data:image/png;base64,iVBO", [0x89, 0x50, 0x4E]),
            ("data:;base64,/+8=", [0xFF, 0xEF]), ("data:;base64,/+8", [0xFF, 0xEF]), ("data:;base64,/w==", [0xFF]),
            ("data:;base64,/w", [0xFF]), ("data:;base64,/x==", [0xFF]), ("data:;base64,iVBO#x", [0x89, 0x50, 0x4E]),
            // What of it is percent-encoded.
            ("data:;base64,%2F%2B8%3D", [0xFF, 0xEF]), ("data:;base64,%2f%2b8%3d", [0xFF, 0xEF]),
            ("data:;base64,iV%20BO", [0x89, 0x50, 0x4E]), ("data:;base64,%0D%0A%09iV BO\n", [0x89, 0x50, 0x4E]),
            ("data:;base64,/w%3D%20=", [0xFF]), ("data:;base64,%69VBO", [0x89, 0x50, 0x4E]),
            // What combines with a comma does not hide it.
            ("data:,\u{301}", [0xCC, 0x81]), ("data:\u{301},a#\u{301}", [0x61]),
            // Where it says so.
            ("data:;BASE64,iVBO", [0x89, 0x50, 0x4E]),
            ("data:image/svg+xml;charset=utf-8;base64,iVBO", [0x89, 0x50, 0x4E]),
            ("data:;base64;base64,iVBO", [0x89, 0x50, 0x4E]), ("data:;base64;charset=x,iVBO", Array("iVBO".utf8)),
            ("data:base64,iVBO", Array("iVBO".utf8)), ("data:;base64x,iVBO", Array("iVBO".utf8)),
            ("data:%3Bbase64,iVBO", Array("iVBO".utf8)), ("data:;%62ase64,iVBO", Array("iVBO".utf8)),
        ] as [(String, [UInt8])])
    func decode(text: String, expected: [UInt8]) throws {
        #expect(try Self.bytes(text) == expected)
    }

    @Test(
        "a data URL without bytes is refused, and the error says why",
        arguments: [
            ("data:", "comma"), ("data:image/png;base64", "comma"), ("data:#,a", "comma"), ("data:,%", "hexadecimal"),
            ("data:,%4", "hexadecimal"), ("data:,%4g", "hexadecimal"), ("data:,%+1", "hexadecimal"),
            ("data:,%%41", "hexadecimal"), ("data:;base64,%", "hexadecimal"), ("data:;base64,a", "base64"),
            ("data:;base64,abcde", "base64"), ("data:;base64,=", "base64"), ("data:;base64,a===", "base64"),
            ("data:;base64,abc==", "base64"), ("data:;base64,ab=c", "base64"), ("data:;base64,abcd==", "base64"),
            ("data:;base64,ab-_", "base64"), ("data:;base64,ab.d", "base64"), ("data:;base64,abü", "base64"),
            ("data:;base64,ab%00d", "base64"), ("data:;base64,iVBO,", "base64"),
        ])
    func refuse(text: String, reason: String) throws {
        let refusal = try #require(throws: URLRefusal.self) { try Self.bytes(text) }
        #expect(refusal.code == .badURL && "\(refusal)".contains(reason), "\(refusal)")
    }

    @Test("a data URL may have 64 KiB and no more")
    func length() throws {
        let longest = "data:," + String(repeating: "x", count: DataURL.maxLength - 6)
        #expect(try Self.bytes(longest).count == DataURL.maxLength - 6)
        #expect(throws: URLRefusal.self) { try Self.bytes(longest + "x") }
    }

    @Test(
        "only a URL with the scheme data is a data URL",
        arguments: ["dat:,x", "data", "http://a/data:,x", "", "data;,x", " data:,x"])
    func others(text: String) {
        #expect(DataURL(text) == nil)
    }
}
