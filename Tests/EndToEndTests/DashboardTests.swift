// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("The dashboard in a browser", .timeLimit(.minutes(30)))
struct DashboardTests {
    /// `Tests/Dashboard/check` names each of its checks; it is skipped, with a message, where the browser or its driver
    /// is missing.
    @Test("the dashboard is sound in every trouble, size and theme, does what it says, and is served to whom it should")
    func checks() async throws {
        guard Tool.areInstalled("python3") else {
            print("skipped: python3 is not installed")
            return
        }
        let folder = ProcessInfo.processInfo.environment["DASHBOARD_SCREENSHOTS"].map { ["--screenshots", $0] }
        let command = ["\(Article.project)/Tests/Dashboard/check", "--agent", BuiltProducts.path("syncagent").string]
        let end = try await Program.run(command + (folder ?? []))
        if end.code == 77 {
            print(end.output)
            return
        }
        let troubles = end.output.split(separator: "\n").filter { !$0.hasPrefix("ok: ") }.joined(separator: "\n")
        #expect(end.code == 0, "\(troubles)\n\(end.messages)")
    }
}
