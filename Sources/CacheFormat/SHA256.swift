// SPDX-License-Identifier: Apache-2.0
import CCrypto

/// Computes a digest of bytes that arrive in pieces, with libcrypto (FIPS 180-4; `EVP_DigestInit(3ssl)`).
package struct SHA256: ~Copyable {
    /// The algorithm; fetching it takes longer than the digest of a URL, so it is fetched once.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    private let context = EVP_MD_CTX_new()

    package init() {
        precondition(EVP_DigestInit_ex(context, Self.algorithm, nil) == 1, "libcrypto has no SHA-256")
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all bytes.
    package consuming func finish() -> Digest {
        let bytes = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = 32
        }
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
        return digest
    }
}
