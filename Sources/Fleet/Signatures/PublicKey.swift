// SPDX-License-Identifier: Apache-2.0

/// An Ed25519 public key, as minisign and signify write it: `RWQ…`, 56 characters.
package struct PublicKey: Hashable, Sendable {
    package let id: KeyID
    let point: [UInt8]

    init(id: KeyID, point: [UInt8]) {
        self.id = id
        self.point = point
    }

    /// Reads the base64 line of a public key, which is the second line of its file.
    package init(_ text: String) throws(SignatureError) {
        guard let bytes = Base64.bytes(of: text.utf8) else { throw .notAPublicKey("it is not base64") }
        guard bytes.count == 42 else { throw .notAPublicKey("it has \(bytes.count) bytes instead of 42") }
        guard bytes.starts(with: Ed25519.name) else { throw .notAPublicKey("it is not for Ed25519") }
        self.init(id: KeyID(bytes[2..<10]), point: Array(bytes[10...]))
    }

    /// The contents of a key file that minisign and signify read.
    package var file: String {
        "untrusted comment: minisign public key \(id)\n\(self)\n"
    }
}

extension PublicKey: CustomStringConvertible {
    package var description: String { Base64.text(of: Ed25519.name + id.bytes + point) }
}
