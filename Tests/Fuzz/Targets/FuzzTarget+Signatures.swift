// SPDX-License-Identifier: Apache-2.0
import Fleet

extension FuzzTarget {
    /// Files of signatures and of keys.
    static let signatures = FuzzTarget(name: "signatures", isText: true) { bytes in
        if let signature = try? Signature(text: bytes) {
            try hold(try Signature(text: signature.text) == signature, "another signature when written and read again")
            let isAccepted = (try? verify(signature, of: bytes, by: [])) != nil
            try hold(!isAccepted, "accepted without a key")
        }
        if let key = try? SecretKey(file: bytes) {
            let again = try SecretKey(file: Array(key.file.utf8))
            try hold(again.publicKey == key.publicKey, "another secret key when written and read again")
            let signature = key.sign(bytes, trustedComment: "")
            try verify(signature, of: bytes, by: [again.publicKey])
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let key = try? PublicKey(String(line)) else { continue }
            try hold("\(key)".hasBytes(of: String(line)), "another public key when written")
        }
    }
}
