// SPDX-License-Identifier: Apache-2.0
import Fleet
import TestSupport
import Testing

@Suite("Keys for signatures")
struct KeyTests {
    private static let line = "RWRYHipIlG89XhPGVChr5wfT7dfbLQ7eCX5aTmIUK+vIeNmEp30a8b2t"

    @Test("a public key is read from its line, and written as the same")
    func publicKey() throws {
        let key = try PublicKey(Self.line)
        #expect("\(key)" == Self.line)
        #expect("\(key.id)" == "5E3D6F94482A1E58", "as minisign prints it")
        #expect(key.file == "untrusted comment: minisign public key 5E3D6F94482A1E58\n\(Self.line)\n")
    }

    @Test(
        "a public key is not read from other texts",
        arguments: [
            ("", "it is not base64"), ("key.pub", "it is not base64"), (" " + line, "it is not base64"),
            (line + "\n", "it is not base64"), ("RWQ=", "it has 2 bytes instead of 42"),
            (line + "AAAA", "it has 45 bytes instead of 42"),
            // Its last digit has bits of no byte, and they must not make two texts of one key.
            (line.dropLast() + "=", "it is not base64"),
            ("RUQ" + line.dropFirst(3), "it is not for Ed25519"),
        ])
    func notAPublicKey(text: String, reason: String) {
        #expect(throws: SignatureError.notAPublicKey(reason)) { try PublicKey(text) }
    }

    @Test("a secret key is read back from its file")
    func secretKey() throws {
        let key = SecretKey.sample(1)
        let read = try SecretKey(file: Array(key.file.utf8))
        #expect(read.publicKey == key.publicKey)
        let message = SignatureTests.message
        #expect(read.sign(message, trustedComment: "x") == key.sign(message, trustedComment: "x"))
    }

    @Test("two new keys differ")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let keys = (0..<2).map { _ in SecretKey(using: &generator).publicKey }
        #expect(keys[0] != keys[1] && keys[0].id != keys[1].id)
    }

    @Test("a secret key that is cut or changed is refused, or is the same key")
    func damaged() throws {
        let key = SecretKey.sample(1)
        let file = Array(key.file.utf8)
        for count in 0..<file.count - 1 {
            #expect(throws: SignatureError.self, "\(count) bytes") { try SecretKey(file: Array(file[..<count])) }
        }
        // The 64 bytes of the key itself, which begin after 62 others: a change there would sign for nobody.
        let start = try #require(file.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for index in start + 62 / 3 * 4 + 4..<start + 126 / 3 * 4 {
            var other = file
            other[index] = other[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: SignatureError.notASecretKey("it is damaged"), "byte \(index)") {
                try SecretKey(file: other)
            }
        }
    }

    @Test("a secret key with a password is refused, and says how to make one without")
    func password() throws {
        let lines = SecretKey.sample(1).file.split(separator: "\n").map(String.init)
        var bytes = try #require(Base64Text.bytes(lines[1]))
        bytes.replaceSubrange(2..<4, with: Array("Sc".utf8))
        let file = "\(lines[0])\n\(Base64Text.text(bytes))\n"
        let refusal = SignatureError.notASecretKey("a password protects it")
        #expect(throws: refusal) { try SecretKey(file: Array(file.utf8)) }
        #expect("\(refusal)".contains("minisign -G -W"))
    }
}
