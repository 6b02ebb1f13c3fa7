// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("The systemd unit in the documentation")
struct ServiceUnitTests {
    @Test("the README and the article install the programs where the unit starts them")
    func installation() throws {
        let readme = try String(contentsOfFile: "\(Article.project)/README.md", encoding: .utf8)
        for text in [readme, try Article("Operation", of: "SyncAgent").text] {
            #expect(text.contains("install -t /usr/local/bin .build/release/syncagent "))
        }
    }

    @Test(
        "systemd accepts it", .enabled(if: Tool.areInstalled("systemd-analyze"), "systemd-analyze is not installed"))
    func verify() async throws {
        let unit = try #require(try Article("Operation", of: "SyncAgent").examples(in: "ini").first)
        let program = BuiltProducts.path("syncagent").string
        try await withTemporaryFolder { folder in
            let path = folder.appending("syncagent.service")
            #expect(unit.contains("/usr/local/bin/syncagent run\n"))
            try write(unit.replacing("/usr/local/bin/syncagent", with: program).utf8, to: path)
            let result = try await Program.run("systemd-analyze", "verify", "--man=no", path.string)
            #expect(result.code == 0 && !result.messages.contains("syncagent"), "\(result.messages)")
        }
    }
}
