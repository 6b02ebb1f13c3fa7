// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@Suite("Files of the package")
struct PackagingTests {
    @Test("both changelogs begin with the version of the program")
    func version() throws {
        let changelog = try text("debian/changelog")
        #expect(changelog.hasPrefix("syncagent (\(Version.current)) "))
        let changes = try text("../Sources/SyncAgent/SyncAgent.docc/Changes.md")
        let entries = changes.split(separator: "\n").filter { $0.hasPrefix("## ") && $0 != "## Overview" }
        #expect(entries.first == "## \(Version.current)")
    }

    @Test(
        "systemd accepts the units",
        .enabled(if: Tool.areInstalled("systemd-analyze"), "systemd-analyze is not installed"),
        arguments: ["system", "user"])
    func unit(kind: String) async throws {
        let unit = try text("systemd/\(kind)/syncagent.service")
        let program = BuiltProducts.path("syncagent").string
        #expect(unit.contains("/usr/bin/syncagent run\n"))
        // Only the agent knows what it can read.
        #expect(unit.contains("\nExecReload=/bin/sh -c '/usr/bin/syncagent reload --\(kind); "))
        try await withTemporaryFolder { folder in
            let path = folder.appending("syncagent.service")
            try write(unit.replacing("/usr/bin/syncagent", with: program).utf8, to: path)
            let result = try await Program.run("systemd-analyze", "verify", "--man=no", path.string)
            #expect(result.code == 0 && !result.messages.contains("syncagent"), "\(result.messages)")
        }
    }

    @Test(
        "systemd accepts the units of exports, which have the rights of the agent and no more",
        .enabled(if: Tool.areInstalled("systemd-analyze"), "systemd-analyze is not installed"))
    func export() async throws {
        let names = ["syncagent-export.service", "syncagent-export.path", "syncagent-export.timer"]
        let service = try text("systemd/system/\(names[0])")
        let sandbox = try text("systemd/system/syncagent.service").split(separator: "CapabilityBoundingSet=")[1]
        for line in sandbox.split(separator: "\n") where line.contains("=") && !line.hasPrefix("#") {
            guard !line.hasPrefix("WantedBy=") else { continue }
            #expect(service.contains("\n\(line)\n"), "\(line)")
        }
        #expect(service.contains("/usr/bin/syncagent export --system $EXPORT\n"))
        let program = BuiltProducts.path("syncagent").string
        try await withTemporaryFolder { folder in
            for name in names {
                let unit = try text("systemd/system/\(name)").replacing("/usr/bin/syncagent", with: program)
                try write(unit.utf8, to: folder.appending(name))
            }
            let command = ["systemd-analyze", "verify", "--man=no"] + names.map { folder.appending($0).string }
            let result = try await Program.run(command)
            #expect(result.code == 0 && !result.messages.contains("syncagent"), "\(result.messages)")
        }
    }

    @Test("syncagent export accepts the options that syncagent-export.default suggests")
    func exportOptions() async throws {
        let suggestions = try text("syncagent-export.default").split(separator: "\n").filter {
            $0.hasPrefix("#EXPORT=")
        }
        #expect(suggestions.count == 2)
        for suggestion in suggestions {
            let options = suggestion.dropFirst("#EXPORT=".count).split(separator: " ").map(String.init)
            // There is no cache: that is said once the options are right.
            let result = try await Program.run(
                [BuiltProducts.path("syncagent").string, "export", "--cache", "/nonexistent"] + options)
            #expect([1, 73, 78].contains(result.code), "\(result)")
        }
    }

    @Test("the installed syncagent.toml changes nothing, and config check accepts its suggestions")
    func configuration() async throws {
        let file = try text("syncagent.toml")
        let lines = file.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.hasPrefix("#") })
        // A comment has a blank after its sign, and a suggestion has none.
        let suggestions = lines.filter { !$0.hasPrefix("# ") }.map { $0.dropFirst() }.joined(separator: "\n")
        #expect(suggestions.contains("allowHosts"))
        try await withTemporaryFolder { folder in
            let path = folder.appending("syncagent.toml")
            try write(suggestions.replacing("\"adm\"", with: "\"root\"").utf8, to: path)
            let result = try await Program.run(BuiltProducts.path("syncagent").string, "config", "check", path.string)
            #expect(result.code == 0, "\(result.messages)")
        }
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Article.project)/Packaging/\(name)", encoding: .utf8)
    }
}
