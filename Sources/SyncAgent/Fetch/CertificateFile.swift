// SPDX-License-Identifier: Apache-2.0
import CCrypto
import Glibc
package import SystemPackage

/// The file of `fetch.caFile`, with the certificates that servers are verified against.
package enum CertificateFile {
    package enum Flaw: Error, Equatable, CustomStringConvertible {
        case unreadable(path: String, errno: Errno)
        /// A folder or a device, or too large.
        case notAFile(path: String)
        case noCertificate(path: String)

        package var description: String {
            switch self {
            case .unreadable(let path, let errno): "Cannot read \(path): \(errno)."
            case .notAFile(let path): "\(path) is not a certificate file: use a PEM file."
            case .noCertificate(let path): "\(path) contains no readable certificate: use a PEM file."
            }
        }
    }

    /// The largest accepted file, in bytes; the system's own has a quarter of a megabyte.
    private static let longest = 16 << 20

    /// Checks that the file has a certificate.
    ///
    /// Without one, no server would be trusted and every icon from an HTTPS server would fail.
    package static func check(_ path: String) throws(Flaw) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw .unreadable(path: path, errno: Errno(rawValue: errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
            throw .notAFile(path: path)
        }
        guard hasCertificate(path) else { throw .noCertificate(path: path) }
    }

    private static func hasCertificate(_ path: String) -> Bool {
        guard let file = BIO_new_file(path, "r") else { return false }
        defer { BIO_free(file) }
        let certificate = PEM_read_bio_X509(file, nil, nil, nil)
        X509_free(certificate)
        return certificate != nil
    }
}
