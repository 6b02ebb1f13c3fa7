// SPDX-License-Identifier: Apache-2.0
import Fleet
import TestSupport
import Testing

@Suite("A signature")
struct SignatureTests {
    static let message = Array("{ \"format\": 1 }\n".utf8)
    private let key = SecretKey.sample(1)

    @Test(
        "a signature is accepted for the bytes that were signed, and read back from its text",
        arguments: [0, 1, 100, 100_000])
    func roundTrip(count: Int) throws {
        let message = [UInt8](repeating: 7, count: count)
        let signature = key.sign(message, trustedComment: "generation 42")
        let read = try Signature(text: signature.text)
        #expect(read == signature)
        try verify(read, of: message, by: [key.publicKey])
    }

    @Test("a signature is that of RFC 8032, test 2")
    func vector() throws {
        let secret = try SecretKey(file: Array(Self.vectorFile.utf8))
        let signature = secret.sign([0x72], trustedComment: "")
        let expected = "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA=="
        let line = String(decoding: signature.text, as: UTF8.self).split(separator: "\n")[1]
        // The algorithm and the key's number come first.
        let bytes = try #require(Base64Text.bytes(String(line)))
        #expect(Array(bytes.dropFirst(10)) == Base64Text.bytes(expected))
    }

    @Test("a signature is refused for other bytes")
    func otherBytes() {
        let signature = key.sign(Self.message, trustedComment: "")
        for index in Self.message.indices {
            var other = Self.message
            other[index] ^= 1
            #expect(throws: SignatureError.mismatch(key.publicKey.id)) {
                try verify(signature, of: other, by: [key.publicKey])
            }
        }
        #expect(throws: SignatureError.mismatch(key.publicKey.id)) {
            try verify(signature, of: Self.message.dropLast(), by: [key.publicKey])
        }
        #expect(throws: SignatureError.mismatch(key.publicKey.id)) {
            try verify(signature, of: Self.message + [0], by: [key.publicKey])
        }
    }

    @Test("a signature is refused when any byte of it is changed")
    func damaged() {
        let text = key.sign(Self.message, trustedComment: "generation 42").text
        // The untrusted comment ends with the first line, and proves nothing.
        let start = (text.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        for index in start..<text.count {
            for change: UInt8 in [1, 0x20, 0x80] {
                var other = text
                other[index] ^= change
                #expect(throws: SignatureError.self, "byte \(index) changed by \(change)") {
                    try verify(Signature(text: other), of: Self.message, by: [key.publicKey])
                }
            }
        }
    }

    @Test("a signature is refused when it is cut anywhere")
    func truncated() {
        let text = key.sign(Self.message, trustedComment: "generation 42").text
        for count in 0..<text.count - 1 {
            #expect(throws: SignatureError.self, "\(count) bytes") {
                try verify(Signature(text: Array(text[..<count])), of: Self.message, by: [key.publicKey])
            }
        }
    }

    @Test("a signature is accepted by each of several keys, and by none but the one that made it")
    func rotation() throws {
        let keys = (1...3).map { SecretKey.sample($0) }
        for secret in keys {
            try verify(
                secret.sign(Self.message, trustedComment: ""), of: Self.message, by: keys.map(\.publicKey))
        }
        let others = keys.dropFirst().map(\.publicKey)
        #expect(throws: SignatureError.unknownKey(keys[0].publicKey.id, accepted: others.map(\.id))) {
            try verify(keys[0].sign(Self.message, trustedComment: ""), of: Self.message, by: others)
        }
        #expect(throws: SignatureError.unknownKey(keys[0].publicKey.id, accepted: [])) {
            try verify(keys[0].sign(Self.message, trustedComment: ""), of: Self.message, by: [])
        }
    }

    @Test("a signature with the number of another key is refused")
    func forgedNumber() throws {
        let other = SecretKey.sample(2)
        var bytes = try #require(Base64Text.bytes("\(other.publicKey)"))
        bytes.replaceSubrange(2..<10, with: try #require(Base64Text.bytes("\(key.publicKey)"))[2..<10])
        let impostor = try PublicKey(Base64Text.text(bytes))
        #expect(impostor.id == key.publicKey.id)
        let signature = key.sign(Self.message, trustedComment: "")
        #expect(throws: SignatureError.mismatch(key.publicKey.id)) {
            try verify(signature, of: Self.message, by: [impostor])
        }
        // It takes no right from the key that has the number, too.
        try verify(signature, of: Self.message, by: [impostor, key.publicKey])
    }

    @Test("a signature with another trusted comment is refused")
    func comment() throws {
        let text = String(decoding: key.sign(Self.message, trustedComment: "generation 42").text, as: UTF8.self)
        let other = text.split(separator: "generation 42", omittingEmptySubsequences: false)
            .joined(separator: "generation 43")
        let signature = try Signature(text: Array(other.utf8))
        #expect(throws: SignatureError.changedComment(key.publicKey.id)) {
            try verify(signature, of: Self.message, by: [key.publicKey])
        }
    }

    @Test(
        "a signature is not read from other texts",
        arguments: [
            ("", "it has 0 lines instead of 4"),
            ("a\nb\n", "it has 2 lines instead of 4"),
            ("comment: x\n\n\n\n", "its first line is not an untrusted comment"),
            ("untrusted comment: x\nRWQ!\ntrusted comment: \nx\n", "its second line is not 74 bytes in base64"),
            (String(repeating: "x", count: 10_001), "it has more than 10000 bytes"),
        ])
    func notASignature(text: String, reason: String) {
        #expect(throws: SignatureError.notASignature(reason)) { try Signature(text: Array(text.utf8)) }
    }

    @Test("a signature of a hash is refused, and the error says how to sign")
    func prehashed() throws {
        var text = key.sign(Self.message, trustedComment: "").text
        let start = try #require(text.firstIndex(of: UInt8(ascii: "\n"))) + 1
        // "RUQ" is "ED", as "RWQ" is "Ed".
        text[start + 1] = UInt8(ascii: "U")
        #expect(throws: SignatureError.prehashed) { try Signature(text: text) }
        #expect("\(SignatureError.prehashed)".contains("minisign -S -l"))
    }

    /// The key of RFC 8032, section 7.1, test 2, as a file.
    private static let vectorFile: String = {
        let seed: [UInt8] = [
            0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
            0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
        ]
        let point: [UInt8] = [
            0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
            0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c,
        ]
        let zeros = [UInt8](repeating: 0, count: 48)
        let head = Array("Ed".utf8) + [0, 0] + Array("B2".utf8) + zeros
        let bytes = head + [1, 2, 3, 4, 5, 6, 7, 8] + seed + point + zeros.prefix(32)
        return "untrusted comment: x\n\(Base64Text.text(bytes))\n"
    }()
}
