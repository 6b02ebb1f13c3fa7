// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The examples of the article on the control API")
struct ControlArticleTests {
    @Test(
        "each of them works as written", .enabled(if: Tool.areInstalled("curl", "sh"), "this takes curl"),
        .timeLimit(.minutes(2)))
    func examples() async throws {
        let commands = try Article("ControlAPI", of: "SyncAgent").examples(in: "sh")
            .flatMap { $0.split(separator: "\n").map(String.init) }
        #expect(commands.count > 20)
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                for command in commands {
                    // A stream has no end: curl says then that its time was over.
                    let isEndless = command.contains("--max-time")
                    let result = try await Program.run(
                        "sh", "-c", command.replacing("curl ", with: "curl -sS --fail-with-body --max-time 20 "),
                        environment: [
                            "SOCKET": world.folder.appending("control.sock").string,
                            "URL": world.origin.iconURL("Mail"),
                        ])
                    #expect(
                        result.code == (isEndless ? 28 : 0)
                            && (result.output.contains("\"format\"") || result.output.contains("openapi")),
                        "\(command): \(result.output) \(result.messages)")
                    #expect(isEndless || result.messages.isEmpty, "\(command): \(result.messages)")
                }
            }
        }
    }

    @Test(
        "all articles find the socket in the same way, which works",
        .enabled(if: Tool.areInstalled("jq", "sh"), "this takes jq"))
    func socket() async throws {
        let command = "SOCKET=$(syncagent config --json | jq -r .folders.socket)"
        for name in ["ControlAPI", "Events", "Metrics"] {
            #expect(try Article(name, of: "SyncAgent").text.contains(command))
        }
        let path = "\(BuiltProducts.path("syncagent").removingLastComponent()):/usr/local/bin:/usr/bin:/bin"
        let result = try await Program.run(
            "sh", "-c", "\(command); echo \"$SOCKET\"",
            environment: ["PATH": path, "XDG_RUNTIME_DIR": "/run/user/7"])
        #expect(["/run/user/7/syncagent/control.sock\n", "/run/syncagent/control.sock\n"].contains(result.output))
        #expect(result.messages.isEmpty)
    }
}
