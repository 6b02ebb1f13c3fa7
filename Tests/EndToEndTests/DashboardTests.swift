// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("The dashboard in a browser", .timeLimit(.minutes(15)))
struct DashboardTests {
    /// Runs `Tests/Dashboard/check`; skips it, with a message, where the browser or its driver is missing.
    private static func check(_ arguments: String...) async throws {
        guard Tool.areInstalled("python3") else {
            print("skipped: python3 is not installed")
            return
        }
        let folder = ProcessInfo.processInfo.environment["DASHBOARD_SCREENSHOTS"].map { ["--screenshots", $0] }
        let end = try await Program.run(["\(Article.project)/Tests/Dashboard/check"] + (folder ?? []) + arguments)
        if end.code == 77 {
            print(end.output)
            return
        }
        #expect(end.code == 0, "\(end.output)\(end.messages)")
    }

    @Test("the page is sound in every trouble, size and theme, and does what it says")
    func page() async throws {
        try await Self.check()
    }

    @Test("the agent serves it to whom it should, and images to kiosks")
    func agent() async throws {
        try await Self.check("--agent", BuiltProducts.path("syncagent").string, "--only", "agent: ")
    }
}
