// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Lists of the maximum length", .timeLimit(.minutes(15)))
struct LargeListTests {
    @Test("a list of 50,000 entries is planned within the memory of an agent", arguments: ["XML", "binary"])
    func plan(format: String) async throws {
        try await World.with { world in
            let icons = (0..<50_000).map { "\(world.origin.baseURL)/\($0).png" }
            let path = world.folder.appending("new")
            if format == "XML" {
                try write(propertyList(icons.map { ("App", $0) }), to: path)
            } else {
                let encoder = PropertyListEncoder()
                encoder.outputFormat = .binary
                try write(encoder.encode(icons.map { ["name": "App", "icon": $0] }), to: path)
            }
            try await world.agent.whileRunning { agent in
                #expect(try await world.agent.call("pause").code == 0)
                let memory = try ProcessStatus(of: agent.value).peakMemory ?? 0
                let start = ContinuousClock.now
                try await Tool.run("mv", path.string, world.agent.lists.appending("long.plist").string)
                try await world.agent.status(within: .seconds(300)) { $0.lists.first?.apps == 50_000 }
                let time = ContinuousClock.now - start
                let peak = try ProcessStatus(of: agent.value).peakMemory ?? 0
                print(
                    "50,000 entries in \(format): \(DurationText.format(time)) from drop to plan, "
                        + "\(peak / 1024) MiB at most (\(memory / 1024) MiB before)")
                #expect(peak < 512 << 10)
            }
        }
    }
}
