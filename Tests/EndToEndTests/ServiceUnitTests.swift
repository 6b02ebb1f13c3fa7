// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

@Suite("The systemd unit in the documentation")
struct ServiceUnitTests {
    @Test(
        "systemd accepts it", .enabled(if: Tool.areInstalled("systemd-analyze"), "systemd-analyze is not installed"))
    func verify() async throws {
        let unit = try #require(try Article("Operation", of: "SyncAgent").examples(in: "ini").first)
        let program = BuiltProducts.path("syncagent").string
        try await withTemporaryFolder { folder in
            let path = folder.appending("syncagent.service")
            try write(unit.replacing("/usr/bin/syncagent", with: program).utf8, to: path)
            let result = try await Program.run("systemd-analyze", "verify", "--man=no", path.string)
            #expect(result.code == 0 && !result.messages.contains("syncagent"), "\(result.messages)")
        }
    }
}
