// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import SyncAgentCLI

@Suite("The arguments of refresh")
struct RefreshCommandTests {
    @Test(
        "refresh takes URLs and lists, or an app; both also in full",
        arguments: [
            (["apps.plist", "https://h.example/a"], ["apps.plist", "https://h.example/a"], nil, false),
            (["--full", "apps.plist"], ["apps.plist"], nil, true),
            (["--app", "Mail"], [], "Mail", false), (["--full", "--app", "Mail"], [], "Mail", true),
        ] as [([String], [String], String?, Bool)])
    func arguments(line: [String], names: [String], app: String?, isFull: Bool) throws {
        let command = try RefreshCommand.parse(line)
        #expect(command.names == names && command.app == app && command.full == isFull)
    }

    @Test(
        "refresh refuses neither names nor an app, and both",
        arguments: [[], ["--full"], ["--app", "Mail", "apps.plist"], ["--app"]])
    func wrong(line: [String]) {
        #expect(throws: (any Error).self) { _ = try RefreshCommand.parse(line) }
    }
}
