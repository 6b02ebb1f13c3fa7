// SPDX-License-Identifier: Apache-2.0
import CTLS
import Glibc
import SystemPackage

/// The certificate and key that a server shows, and the protocols that it agrees to: a context of libssl.
final class TLSContext: Sendable {
    /// libssl counts the references to a context, and any thread may make a connection of it.
    nonisolated(unsafe) private let context: OpaquePointer

    /// The protocols as ALPN has them: each behind its length.
    nonisolated(unsafe) private let protocols: UnsafeMutablePointer<UnsafeMutableBufferPointer<UInt8>>

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - certificate: The certificate, as PEM.
    ///   - key: Its key, as PEM.
    ///   - names: The protocols to agree on, by preference.
    /// - Throws: `Errno.invalidArgument` if libssl takes one of them for damaged.
    init(certificate: String, key: String, protocols names: [String]) throws(Errno) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .noMemory }
        self.context = context
        let wire = names.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        let names = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: wire.count)
        _ = names.initialize(from: wire)
        protocols = .allocate(capacity: 1)
        protocols.initialize(to: names)
        let x509 = Self.read(certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        let secret = Self.read(key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer {
            X509_free(x509)
            EVP_PKEY_free(secret)
        }
        guard let x509, let secret, SSL_CTX_use_certificate(context, x509) == 1,
            SSL_CTX_use_PrivateKey(context, secret) == 1
        else { throw .invalidArgument }
        let select: SSL_CTX_alpn_select_cb_func = { _, chosen, length, offered, count, own in
            guard let own = own?.assumingMemoryBound(to: UnsafeMutableBufferPointer<UInt8>.self).pointee else {
                return SSL_TLSEXT_ERR_NOACK
            }
            let result = chosen?.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 1) {
                SSL_select_next_proto($0, length, own.baseAddress, UInt32(own.count), offered, count)
            }
            // A server that has none of the client's protocols refuses it (RFC 7301, section 3.2).
            if result != OPENSSL_NPN_NEGOTIATED, !own.isEmpty { return SSL_TLSEXT_ERR_ALERT_FATAL }
            return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
        }
        SSL_CTX_set_alpn_select_cb(context, select, protocols)
    }

    deinit {
        SSL_CTX_free(context)
        protocols.pointee.deallocate()
        protocols.deallocate()
    }

    /// One connection's half of the protocol, as its server; `nil` if there is no memory for it.
    func connection() -> OpaquePointer? { SSL_new(context) }

    private static func read<T>(_ text: String, _ parse: (OpaquePointer?) -> T?) -> T? {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let source = BIO_new_mem_buf(bytes.baseAddress, CInt(bytes.count))
            defer { BIO_free(source) }
            return parse(source)
        } ?? nil
    }
}
