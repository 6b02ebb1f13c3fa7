// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Faults on the way to the parser", .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct ParserFaultTests {
    @Test(
        "a list that cannot be sent to the end is never taken for a shorter one",
        arguments: [("ENOBUFS", "out-of-resources"), ("ENOMEM", "out-of-resources"), ("EACCES", "unreadable")])
    func unsent(error: String, code: String) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            let agent = try world.traced(
                by: ["-e", "trace=sendto", "-e", "inject=sendto:error=\(error)"], log: world.folder.appending("trace"))
            let end = try await agent.call("check", world.agent.lists.appending("apps.plist").string)
            #expect(end.output.contains("[\(code)]"), "\(end)")
        }
    }
}
