// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Reports
import Subprocess
import SyncAgent
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The agent's state folder", .timeLimit(.minutes(15)))
struct StateTests {
    @Test("a damaged state is set aside and reported until its file is removed; no image is evicted because of it")
    func damaged() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
                .setting("SYNCAGENT_EVICTION_HOLD_ABOVE", "50% and 2 images")
            let names = ["Mail", "Maps", "Music"]
            let database = world.folder.appending("state").appending("state.sqlite")
            let file = FilePath(database.string + ".damaged")
            try world.drop(names)
            try await world.agent.whileRunning { _ in try await world.published(names) }
            try Database(database).execute("UPDATE memos SET json = '' WHERE kind = 'icon'")
            // Not only the run that finds it, and also where no agent runs.
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let status = try await world.agent.status { $0.inSync }
                    #expect(status.problems.map(\.code) == ["state-damaged"] && status.storage.damaged == file.string)
                    #expect(try await world.agent.call("status").code == 1)
                }
            }
            expectContains(try await world.agent.call("status").output, "[state-damaged]")
            let events = try await world.agent.call("events", "--since", "0", "--json").output.split(separator: "\n")
            let replaced = events.filter { $0.contains("\"kind\": \"state-replaced\", \"code\": \"damaged\"") }
            #expect(replaced.count == 1, "\(replaced)")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                try #require(unlink(file.string) == 0)
                #expect(try await world.agent.call("sync").code == 0)
                try await world.agent.status { $0.problems.isEmpty }
                try world.remove("apps.plist")
                try await world.agent.status { $0.inSync && $0.eviction.state == "held" }
            }
            // The state forgets that an eviction is held.
            try Database(database).execute(
                "UPDATE memos SET json = json_set(json, '$.values.hold.images', 'many') WHERE kind = 'values'")
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let status = try await world.agent.status { $0.inSync }
                    #expect(status.eviction.state == "held" && status.cache.images == 3, "\(status.eviction)")
                }
            }
            #expect(try files(in: world.folder.appending("state")).contains("state.sqlite.damaged"))
        }
    }

    @Test("a state folder that is removed while the agent runs is made again with its content, with an event")
    func removed() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                #expect(try await world.agent.call("pause").code == 0)
                try #require(try await Program.run("rm", "-r", world.folder.appending("state").string).code == 0)
                #expect(try await world.agent.call("sync").code == 0)
                let event = "\"kind\": \"state-replaced\", \"code\": \"removed\""
                try await waitUntil { try await world.agent.call("events", "--json").output.contains(event) }
            }
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.lists.count == 1 }
                #expect(status.state == .paused && status.storage == StatusReport.Storage(), "\(status.json.line)")
            }
        }
    }

    @Test(
        "the time that the system slept between two runs is no part of a grace",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("unshare"), "only root sets the time since the boot"))
    func slept() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "1h")
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                try world.drop(["Mail"])
                try await world.published(["Mail"])
            }
            // In this namespace `CLOCK_BOOTTIME` is eight hours ahead, as after a sleep, and `CLOCK_MONOTONIC` is not.
            let later = try world.after(in: "unshare --time --boottime 28800 --fork --kill-child")
            try await later.agent.whileRunning(endedBy: .kill) { _ in
                let status = try await later.agent.status { $0.inSync }
                #expect(status.icons.retired == 1 && status.cache.images == 2, "\(status.json.line)")
            }
        }
    }
}
