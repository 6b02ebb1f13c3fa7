// SPDX-License-Identifier: Apache-2.0
import CCrypto
import Glibc
package import HTTPRules
package import SystemPackage

/// The file of `fetch.caFile`, with the certificates that servers are verified against.
package enum CertificateFile {
    package enum Flaw: Error, Equatable, CustomStringConvertible {
        case unreadable(path: String, errno: Errno)
        /// A folder or a device, or too large.
        case notAFile(path: String)
        case noCertificate(path: String)
        case readableKey(path: String)
        case noPair(ClientCertificate)

        package var description: String {
            switch self {
            case .unreadable(let path, let errno): "Cannot read \(path): \(errno)."
            case .notAFile(let path): "\(path) is not a certificate file: use a PEM file."
            case .noCertificate(let path): "\(path) contains no readable certificate: use a PEM file."
            case .readableKey(let path): "Everyone can read the private key \(path): run chmod o= \(path)."
            case .noPair(let pair):
                "\(pair.key) is not the private key of \(pair.file): use PEM files that belong together, without a "
                    + "passphrase."
            }
        }
    }

    /// The largest accepted file, in bytes; the system's own has a quarter of a megabyte.
    private static let longest = 16 << 20

    /// Checks that the file has a certificate.
    ///
    /// Without one, no server would be trusted and every icon from an HTTPS server would fail.
    package static func check(_ path: String) throws(Flaw) {
        try checkFile(path)
        guard hasCertificate(path) else { throw .noCertificate(path: path) }
    }

    private static func checkFile(_ path: String) throws(Flaw) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw .unreadable(path: path, errno: Errno(rawValue: errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
            throw .notAFile(path: path)
        }
    }

    /// Checks that a client certificate and its key are there, and belong together.
    package static func check(_ certificate: ClientCertificate) throws(Flaw) {
        try check(certificate.file)
        try checkFile(certificate.key)
        var status = stat()
        guard stat(certificate.key, &status) == 0, status.st_mode & 0o007 == 0 else {
            throw .readableKey(path: certificate.key)
        }
        guard isPair(certificate) else { throw .noPair(certificate) }
    }

    private static func isPair(_ certificate: ClientCertificate) -> Bool {
        guard let file = BIO_new_file(certificate.file, "r"), let keyFile = BIO_new_file(certificate.key, "r") else {
            return false
        }
        defer {
            BIO_free(file)
            BIO_free(keyFile)
        }
        let leaf = PEM_read_bio_X509(file, nil, nil, nil)
        // Without a function, OpenSSL would ask for the passphrase on the terminal.
        let key = PEM_read_bio_PrivateKey(keyFile, nil, { _, _, _, _ in -1 }, nil)
        defer {
            X509_free(leaf)
            EVP_PKEY_free(key)
        }
        guard let leaf, let key else { return false }
        return X509_check_private_key(leaf, key) == 1
    }

    private static func hasCertificate(_ path: String) -> Bool {
        guard let file = BIO_new_file(path, "r") else { return false }
        defer { BIO_free(file) }
        let certificate = PEM_read_bio_X509(file, nil, nil, nil)
        X509_free(certificate)
        return certificate != nil
    }
}
