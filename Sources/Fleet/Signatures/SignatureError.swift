// SPDX-License-Identifier: Apache-2.0

package enum SignatureError: Error, Equatable, Sendable {
    /// The text is not a public key; the reason is a clause.
    case notAPublicKey(String)
    /// The text is not a usable secret key; the reason is a clause.
    case notASecretKey(String)
    /// The text is not a signature; the reason is a clause.
    case notASignature(String)
    /// The signature is of a hash of the message (`minisign -S` without `-l`).
    case prehashed
    case unknownKey(KeyID, accepted: [KeyID])
    /// The message does not match.
    case mismatch(KeyID)
    /// The message matches, but the trusted comment was changed.
    case changedComment(KeyID)
}

extension SignatureError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAPublicKey(let reason):
            "not a public key: \(reason). Use the base64 line of a key file of minisign, signify or syncagent key generate."
        case .notASecretKey(let reason):
            "not a secret key that can be used: \(reason). Make one with syncagent key generate or minisign -G -W."
        case .notASignature(let reason):
            "not a signature of minisign: \(reason)."
        case .prehashed:
            "the signature is of a hash of the file, which signify cannot verify. Sign with syncagent export --sign or minisign -S -l."
        case .unknownKey(let key, let accepted):
            "signed with key \(key); accepted: \(accepted.isEmpty ? "none" : accepted.map(\.description).joined(separator: ", "))."
        case .mismatch(let key):
            "the signature of key \(key) does not match the file."
        case .changedComment(let key):
            "the trusted comment was changed after key \(key) signed it."
        }
    }
}
