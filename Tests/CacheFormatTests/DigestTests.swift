// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("A SHA-256 digest")
struct DigestTests {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(
        "a digest is that of the text's UTF-8 bytes",
        arguments: [
            ("", empty),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("å", "e83979df9d36090142f23051f8e8d7ad48e5c20dff5c9e7b92ca3454f67469f9"),
        ])
    func vector(text: String, hex: String) {
        #expect(Digest.of(text).hex == hex)
        #expect(Digest.of(Array(text.utf8)) == Digest.of(text))
        #expect("\(Digest.of(text))" == hex)
    }

    @Test("a digest is read back from its digits, and from its bytes")
    func roundTrip() throws {
        let digest = Digest.of("abc")
        #expect(Digest(hex: digest.hex) == digest)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(digest.hex.dropFirst($0).prefix(2), radix: 16) }
        #expect(Digest(bytes: bytes) == digest)
        let all = (0..<32).map { UInt8($0 * 8 + $0 / 4) } as [UInt8]
        let hex = all.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(Digest(bytes: all)?.hex == hex)
        #expect(Digest(hex: "x\(digest.hex)".dropFirst()) == digest)
    }

    @Test(
        "a digest is not read from other texts",
        arguments: [
            "", "e3b0", String(empty.dropLast()), empty + "0", empty.uppercased(), String(empty.dropLast()) + "g",
            " " + empty.dropLast(), "0x" + empty.dropLast(2), String(repeating: "é", count: 32),
        ])
    func notHex(text: String) {
        #expect(Digest(hex: text) == nil)
    }

    @Test("a digest has 32 bytes", arguments: [0, 31, 33, 64])
    func length(count: Int) {
        #expect(Digest(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test("digests differ if any of their bytes does", arguments: 0..<32)
    func bytes(index: Int) {
        var bytes = [UInt8](repeating: 0, count: 32)
        let zero = Digest(bytes: bytes)
        bytes[index] = 0xA5
        let other = Digest(bytes: bytes)
        #expect(other != zero)
        #expect(
            other?.hex == String(repeating: "00", count: index) + "a5" + String(repeating: "00", count: 31 - index))
    }
}
