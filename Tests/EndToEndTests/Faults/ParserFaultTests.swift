// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Faults on the way to the parser", .timeLimit(.minutes(15)),
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct ParserFaultTests {
    @Test("a list that cannot be sent to the parser to its end is never taken for a shorter one")
    func unsent() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            let list = world.agent.lists.appending("apps.plist").string
            for (error, code) in [
                ("ENOBUFS", "out-of-resources"), ("ENOMEM", "out-of-resources"), ("EACCES", "unreadable"),
            ] {
                let options = ["-e", "trace=sendto", "-e", "inject=sendto:error=\(error)"]
                let agent = try world.traced(by: options, log: world.folder.appending("trace"))
                expectContains(try await agent.call("check", list).output, "[\(code)]")
            }
        }
    }
}
