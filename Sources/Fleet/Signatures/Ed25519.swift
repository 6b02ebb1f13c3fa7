// SPDX-License-Identifier: Apache-2.0
import CCrypto

/// Ed25519 (RFC 8032) with libcrypto (`EVP_PKEY-ED25519(7ssl)`).
enum Ed25519 {
    /// The algorithm's name in key and signature files.
    static let name = Array("Ed".utf8)

    /// The public key of a secret key's 32-byte seed.
    static func publicKey(of seed: [UInt8]) -> [UInt8] {
        let key = secretKey(seed)
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        let isDone = EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 && count == bytes.count
        precondition(isDone, "libcrypto has no public key of a secret one")
        return bytes
    }

    static func sign(_ message: [UInt8], with seed: [UInt8]) -> [UInt8] {
        let key = secretKey(seed)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
        }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        let isDone =
            EVP_DigestSignInit(context, nil, nil, nil, key) == 1
            && EVP_DigestSign(context, &signature, &count, message, message.count) == 1 && count == signature.count
        precondition(isDone, "libcrypto does not sign with Ed25519")
        return signature
    }

    static func verify(_ signature: [UInt8], of message: [UInt8], with publicKey: [UInt8]) -> Bool {
        let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
            // A wrong signature leaves an error in this thread's queue, where the next TLS connection would take it for
            // its own.
            ERR_clear_error()
        }
        return key != nil && EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// A libcrypto key; the caller frees it.
    private static func secretKey(_ seed: [UInt8]) -> OpaquePointer {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
            preconditionFailure("libcrypto has no Ed25519")
        }
        return key
    }
}
