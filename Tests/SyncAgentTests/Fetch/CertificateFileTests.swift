// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The file of fetch.caFile")
struct CertificateFileTests {
    @Test("a file without a certificate is refused, and a device is not even read")
    func flaws() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let pipe = folder.appending("pipe").string
            try #require(mkfifo(pipe, 0o600) == 0)
            let texts = ["", "junk", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
            var paths = ["/dev/null", "/dev/zero", folder.string, folder.appending("missing").string, pipe]
            for (index, text) in texts.enumerated() {
                try cache.folder.write(text.utf8, to: "staging/\(index)", mode: .ownerReadWrite)
                paths.append(cache.folder.path.appending("staging/\(index)").string)
            }
            for path in paths {
                let flaw = #expect(throws: CertificateFile.Flaw.self, "\(path)") { try CertificateFile.check(path) }
                #expect(flaw?.description.contains(path) == true)
            }
        }
    }

    @Test("a file with a certificate is taken", .hasIdentity)
    func good() async throws {
        try await RawOrigin.runSecure { _ in
            []
        } _: { _, trust in
            var settings = Settings()
            trust(&settings)
            try CertificateFile.check(try #require(settings.fetch.caFile))
        }
    }
}
