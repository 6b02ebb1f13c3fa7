// SPDX-License-Identifier: Apache-2.0

/// A public key for Ed25519, as minisign and signify write it: `RWQ…`, 56 characters.
package struct PublicKey: Hashable, Sendable {
    /// The number that signatures name this key by.
    package let id: KeyID
    /// The 32 bytes of the key itself.
    let point: [UInt8]

    init(id: KeyID, point: [UInt8]) {
        self.id = id
        self.point = point
    }

    /// Reads the base64 line of a public key: the second line of its file.
    ///
    /// - Throws: ``SignatureError/notAPublicKey(_:)``.
    package init(_ text: String) throws(SignatureError) {
        guard let bytes = Base64.bytes(of: text.utf8) else { throw .notAPublicKey("it is not base64") }
        guard bytes.count == 42 else { throw .notAPublicKey("it has \(bytes.count) bytes instead of 42") }
        guard bytes.starts(with: Ed25519.name) else { throw .notAPublicKey("it is not for Ed25519") }
        self.init(id: KeyID(bytes[2..<10]), point: Array(bytes[10...]))
    }

    /// The contents of a public key's file, which minisign and signify read.
    package var file: String {
        "untrusted comment: minisign public key \(id)\n\(self)\n"
    }
}

extension PublicKey: CustomStringConvertible {
    /// The base64 line.
    package var description: String { Base64.text(of: Ed25519.name + id.bytes + point) }
}
