// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A key that signs: one of minisign without a password (`minisign -G -W`).
///
/// Such a key is for services, which have nobody to type a password. Whoever can read its file can sign.
package struct SecretKey: Sendable {
    /// The key that verifies what this one signs.
    package let publicKey: PublicKey
    private let seed: [UInt8]

    /// Makes a new key.
    ///
    /// - Parameter generator: Where its 40 random bytes come from; the generator of the system, except in tests.
    package init(using generator: inout some RandomNumberGenerator) {
        let number = (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        publicKey = PublicKey(id: KeyID(number), point: Ed25519.publicKey(of: seed))
    }

    /// Reads the file of a secret key.
    ///
    /// - Throws: ``SignatureError/notASecretKey(_:)``.
    package init(file text: [UInt8]) throws(SignatureError) {
        let lines = Lines.of(text)
        guard lines.count == 2 else { throw .notASecretKey("it has \(counted(lines.count, "line")) instead of 2") }
        guard let bytes = Base64.bytes(of: lines[1]) else { throw .notASecretKey("its second line is not base64") }
        guard bytes.starts(with: Ed25519.name) else { throw .notASecretKey("it is not one of minisign") }
        guard bytes.count == Self.length else {
            throw .notASecretKey("it has \(bytes.count) bytes instead of \(Self.length)")
        }
        guard bytes[2..<4].elementsEqual([0, 0]) else { throw .notASecretKey("a password protects it") }
        let id = KeyID(bytes[54..<62])
        seed = Array(bytes[62..<94])
        publicKey = PublicKey(id: id, point: Ed25519.publicKey(of: seed))
        guard publicKey.point.elementsEqual(bytes[94..<126]) else { throw .notASecretKey("it is damaged") }
    }

    /// The number of bytes in base64: names of algorithms, what a password would need, the key, and its checksum.
    private static let length = 6 + 48 + 8 + 64 + 32

    /// The contents of the secret key's file, which minisign reads.
    package var file: String {
        // Without a password nothing is derived from it: minisign leaves those fields and the checksum empty.
        let head = Ed25519.name + [0, 0] + Array("B2".utf8) + [UInt8](repeating: 0, count: 48)
        let key = publicKey.id.bytes + seed + publicKey.point
        return "untrusted comment: minisign secret key \(publicKey.id), without a password\n"
            + Base64.text(of: head + key + [UInt8](repeating: 0, count: 32)) + "\n"
    }

    /// Signs a message.
    ///
    /// - Parameters:
    ///   - message: The bytes to sign.
    ///   - trustedComment: A line that is signed, too, and that minisign shows.
    /// - Returns: The signature.
    package func sign(_ message: [UInt8], trustedComment: String) -> Signature {
        precondition(!trustedComment.utf8.contains { $0 < 0x20 && $0 != 0x09 }, "a comment is one line")
        let signature = Ed25519.sign(message, with: seed)
        let comment = Array(trustedComment.utf8)
        return Signature(
            key: publicKey.id, signature: signature, trustedComment: comment,
            commentSignature: Ed25519.sign(signature + comment, with: seed))
    }
}
