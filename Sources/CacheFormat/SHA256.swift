// SPDX-License-Identifier: Apache-2.0
import CCrypto

/// Computes a digest of bytes that arrive in pieces, with libcrypto (FIPS 180-4; `SHA256_Init(3ssl)`).
///
/// OpenSSL recommends `EVP_DigestInit(3ssl)`, which chooses a provider when the program runs. For that, `syncagent-parse`,
/// which is linked with libcrypto's archive, would contain every algorithm of OpenSSL and a loader for more.
package struct SHA256: ~Copyable {
    private var context = SHA256_CTX()

    package init() {
        SHA256_Init(&context)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    package consuming func finish() -> Digest {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            SHA256_Final(buffer.baseAddress, &context)
            count = buffer.count
        }
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
        return digest
    }
}
