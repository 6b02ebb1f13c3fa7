// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A signature as `minisign -S -l` writes it: of the bytes themselves, and of a trusted comment.
///
/// signify verifies it too, and ignores the comment.
package struct Signature: Equatable, Sendable {
    package let key: KeyID
    /// 64 bytes, over the message.
    let signature: [UInt8]
    /// The signed comment: UTF-8, or another encoding of its writer.
    let trustedComment: [UInt8]
    /// 64 bytes, over the signature and the comment.
    let commentSignature: [UInt8]
}

extension Signature {
    package init(text: [UInt8]) throws(SignatureError) {
        guard text.count <= Self.longest else { throw .notASignature("it has more than \(Self.longest) bytes") }
        let lines = Lines.of(text)
        guard lines.count == 4 else { throw .notASignature("it has \(counted(lines.count, "line")) instead of 4") }
        guard lines[0].starts(with: "untrusted comment: ".utf8) else {
            throw .notASignature("its first line is not an untrusted comment")
        }
        guard let bytes = Base64.bytes(of: lines[1]), bytes.count == 74 else {
            throw .notASignature("its second line is not 74 bytes in base64")
        }
        guard !bytes.starts(with: "ED".utf8) else { throw .prehashed }
        guard bytes.starts(with: Ed25519.name) else { throw .notASignature("it is not of Ed25519") }
        guard lines[2].starts(with: Self.commentMark) else {
            throw .notASignature("its third line is not a trusted comment")
        }
        guard let comment = Base64.bytes(of: lines[3]), comment.count == 64 else {
            throw .notASignature("its fourth line is not 64 bytes in base64")
        }
        self.init(
            key: KeyID(bytes[2..<10]), signature: Array(bytes[10...]),
            trustedComment: Array(lines[2].dropFirst(Self.commentMark.count)), commentSignature: comment)
    }

    /// The longest signature file, in bytes: minisign's limits on the two comments, and the other lines.
    private static let longest = 10_000

    private static let commentMark = Array("trusted comment: ".utf8)

    package var text: [UInt8] {
        let first = "untrusted comment: signature of syncagent, key \(key)\n\(Base64.text(of: head))\n"
        return Array(first.utf8) + Self.commentMark + trustedComment
            + Array("\n\(Base64.text(of: commentSignature))\n".utf8)
    }

    private var head: [UInt8] { Ed25519.name + key.bytes + signature }
}

/// Verifies the signature of a message and of its trusted comment by one of `keys` (several during a key rotation).
package func verify(_ signature: Signature, of message: [UInt8], by keys: [PublicKey]) throws(SignatureError) {
    // Two keys can have the same number.
    let candidates = keys.filter { $0.id == signature.key }
    guard !candidates.isEmpty else { throw .unknownKey(signature.key, accepted: keys.map(\.id)) }
    guard let key = candidates.first(where: { Ed25519.verify(signature.signature, of: message, with: $0.point) }) else {
        throw .mismatch(signature.key)
    }
    let comment = signature.signature + signature.trustedComment
    guard Ed25519.verify(signature.commentSignature, of: comment, with: key.point) else {
        throw .changedComment(signature.key)
    }
}
