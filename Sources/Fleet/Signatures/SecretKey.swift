// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A signing key of minisign, without a password (`minisign -G -W`).
///
/// A service cannot type a password. Anyone who can read the file can sign.
package struct SecretKey: Sendable {
    package let publicKey: PublicKey
    private let seed: [UInt8]

    /// Generates a key.
    ///
    /// - Parameter generator: The source of 40 random bytes; the system's generator, except in tests.
    package init(using generator: inout some RandomNumberGenerator) {
        let number = (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        publicKey = PublicKey(id: KeyID(number), point: Ed25519.publicKey(of: seed))
    }

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

    /// The decoded length: algorithm names, key derivation fields for a password, the key, its checksum.
    private static let length = 6 + 48 + 8 + 64 + 32

    /// The contents of a key file that minisign reads.
    package var file: String {
        // No key is derived without a password, so minisign leaves those fields and the checksum zero.
        let head = Ed25519.name + [0, 0] + Array("B2".utf8) + [UInt8](repeating: 0, count: 48)
        let key = publicKey.id.bytes + seed + publicKey.point
        return "untrusted comment: minisign secret key \(publicKey.id), without a password\n"
            + Base64.text(of: head + key + [UInt8](repeating: 0, count: 32)) + "\n"
    }

    /// Signs a message and a trusted comment: one line that minisign shows.
    package func sign(_ message: [UInt8], trustedComment: String) -> Signature {
        precondition(!trustedComment.utf8.contains { $0 < 0x20 && $0 != 0x09 }, "a comment is one line")
        let signature = Ed25519.sign(message, with: seed)
        let comment = Array(trustedComment.utf8)
        return Signature(
            key: publicKey.id, signature: signature, trustedComment: comment,
            commentSignature: Ed25519.sign(signature + comment, with: seed))
    }
}
