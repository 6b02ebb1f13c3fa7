// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Glibc
import HTTPRules
import SyncPlan
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

    @Test("after a reload, the certificates are those in the file, also where connections are open", .hasIdentity)
    func renewed() async throws {
        let (own, other) = (try await TLSIdentity.shared, try await TLSIdentity())
        let icon = MisbehavingStream.icon
        try await RawOrigin.runSecure(protocols: ["http/1.1"]) { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"), .send(icon)]
        } _: { origin, trust in
            var settings = Settings()
            settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
            trust(&settings)
            let file = FilePath(try #require(settings.fetch.caFile))
            try await withTemporaryFolder { [settings] folder in
                try await Fetching.run(settings, into: try CacheFixture(folder).staging) { downloads in
                    for (number, identity) in [own, other, own].enumerated() {
                        try write(identity.certificate, to: file)
                        var settings = settings
                        settings.fetch.caDigest = Digest.of(identity.certificate)
                        downloads.configure(settings)
                        let url = IconURL("\(origin.baseURL)/\(number)")
                        let request = FetchRequest(
                            url: url, source: try settings.network.source(of: url), reason: .notCached)
                        let outcome = await downloads.fetch(request).outcome
                        let isImage = if case .image = outcome { true } else { false }
                        #expect(isImage == (number != 1), "\(outcome)")
                    }
                }
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
