// SPDX-License-Identifier: Apache-2.0
import Glibc
import Subprocess
import SystemPackage

/// A certificate for 127.0.0.1 and a name that has signed itself, and its key.
package struct TLSIdentity: Sendable {
    /// The name that it is for, which no name server knows.
    package static let name = "icons.test"

    /// The certificate as PEM, for those who are to trust it.
    package let certificate: String
    private let key: String

    /// Whether openssl(1) is there to make one.
    package static let isAvailable = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains {
        access("\($0)/openssl", X_OK) == 0
    }

    private static let made = Task { try await TLSIdentity() }

    /// The same one for all the tests of a run.
    ///
    /// - Throws: `Errno` if openssl(1) fails, or the error with which it could not be started.
    package static var shared: TLSIdentity {
        get async throws { try await made.value }
    }

    /// Another one than the shared one.
    package init() async throws {
        // Both come on the standard output, the key first.
        let result = try await Subprocess.run(
            .name("openssl"),
            arguments: [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:\(Self.name)",
                "-keyout", "-", "-out", "-",
            ], output: .string(limit: 1 << 16), error: .discarded)
        let text = result.standardOutput
        guard result.terminationStatus.isSuccess,
            let start = text.firstRange(of: "-----BEGIN CERTIFICATE")?.lowerBound
        else { throw Errno.ioError }
        key = String(text[..<start])
        certificate = String(text[start...])
    }

    /// What a server needs to show it, and to agree on one of the protocols (ALPN).
    func context(protocols: [String]) throws(Errno) -> TLSContext {
        try TLSContext(certificate: certificate, key: key, protocols: protocols)
    }
}
