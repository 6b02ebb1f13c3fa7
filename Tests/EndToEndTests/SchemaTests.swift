// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The control API under schemathesis", .timeLimit(.minutes(15)))
struct SchemaTests {
    @Test(
        "the control API answers as it is described, refuses malformed requests, and goes on",
        .enabled(if: Tool.areInstalled("schemathesis", "python3"), "takes schemathesis (PyPI)"),
        .timeLimit(.minutes(20)))
    func conformance() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try world.agent.drop(propertyList([("Gone", world.origin.iconURL("Gone") + "/404")]), as: "b.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.icons.ready >= 2 && $0.lists.count == 2 }
                let bridge = FilePath(#filePath).removingLastComponent().removingLastComponent()
                    .appending("Tools/socket-bridge")
                // Two streams do not end, a purge takes seconds, and no schema can say what can be pinned and muted.
                let chosen = ["pin", "mute"]
                let runs = [
                    (["streamStatus", "dashboard", "purge"] + chosen).flatMap { ["--exclude-operation-id", $0] },
                    chosen.flatMap { ["--include-operation-id", $0] }
                        + ["--exclude-checks", "positive_data_acceptance"],
                ]
                for options in runs {
                    let result = try await Program.run(
                        [
                            "python3", bridge.string, world.folder.appending("control.sock").string, "schemathesis",
                            "run", "http://127.0.0.1:PORT/v1/openapi.json", "--url", "http://127.0.0.1:PORT",
                            "--max-examples", "15", "--request-timeout", "120", "--seed", "2026",
                            "--suppress-health-check", "all", "--no-color",
                        ] + options)
                    #expect(result.code == 0, "\(result.output.suffix(8000))\(result.messages.suffix(2000))")
                }
                #expect(try await world.agent.call("resume").code == 0)
                try await world.agent.status { $0.pid != nil && $0.icons.ready >= 2 }
            }
        }
    }
}
