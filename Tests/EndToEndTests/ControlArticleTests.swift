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
        "each of them works as written", .enabled(if: Tool.areInstalled("curl", "sh", "head"), "this takes curl"),
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
                    // What comes after the first line of a stream, nobody reads.
                    let isPiped = command.contains("| head")
                    let limit = isPiped ? 4 : 20
                    let result = try await Program.run(
                        "sh", "-c", command.replacing("curl ", with: "curl -sS --fail-with-body --max-time \(limit) "),
                        environment: [
                            "SOCKET": world.folder.appending("control.sock").string,
                            "URL": world.origin.iconURL("Mail"),
                        ])
                    #expect(
                        result.code == 0 && result.output.contains("\"format\"") || result.output.contains("openapi"),
                        "\(command): \(result.output) \(result.messages)")
                    #expect(isPiped || result.messages.isEmpty, "\(command): \(result.messages)")
                }
            }
        }
    }
}
