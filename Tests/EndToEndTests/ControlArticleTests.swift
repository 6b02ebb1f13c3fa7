// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Examples of the article on the control API", .timeLimit(.minutes(15)))
struct ControlArticleTests {
    @Test(
        "each example of the control API works as written",
        .enabled(if: Tool.areInstalled("curl", "sh"), "takes curl"), .timeLimit(.minutes(10)))
    func examples() async throws {
        let commands = try Article("ControlAPI", of: "SyncAgent").examples(in: "sh")
            .flatMap { $0.split(separator: "\n").map(String.init) }
        #expect(commands.count > 20)
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                for command in commands {
                    // A stream has no end: curl says so when its time is over. The last option counts.
                    let isEndless = command.contains("--max-time")
                    let result = try await Program.run(
                        "sh", "-c", command.replacing("curl ", with: "curl -sS --fail-with-body --max-time 120 "),
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
}
