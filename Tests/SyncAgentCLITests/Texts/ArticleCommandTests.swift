// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

/// `EndToEndTests/ControlArticleTests` runs the examples that take an agent.
@Suite("Commands in the articles")
struct ArticleCommandTests {
    @Test(
        "articles find the control socket by one command, and the command works",
        .enabled(if: Tool.areInstalled("jq", "sh"), "takes jq"))
    func socket() async throws {
        let command = "SOCKET=$(syncagent config --json | jq -r .folders.socket)"
        for name in ["ControlAPI", "Events", "Metrics"] {
            #expect(try Article(name, of: "SyncAgent").text.contains(command), "\(name)")
        }
        let path = "\(BuiltProducts.path("syncagent").removingLastComponent()):/usr/local/bin:/usr/bin:/bin"
        let result = try await Program.run(
            "sh", "-c", "\(command); echo \"$SOCKET\"",
            environment: ["PATH": path, "XDG_RUNTIME_DIR": "/run/user/7"])
        #expect(["/run/user/7/syncagent/control.sock\n", "/run/syncagent/control.sock\n"].contains(result.output))
        #expect(result.messages.isEmpty)
    }
}
