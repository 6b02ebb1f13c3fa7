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

@Suite("What an agent finds in its state")
struct StateTests {
    /// Makes a world in which the eviction of thirty images is held, and ends its agent.
    private static func withHeld(_ body: @escaping @Sendable (World, FilePath) async throws -> Void) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let names = (0..<30).map { "App \($0)" }
            try world.drop(names)
            try await world.agent.whileRunning { _ in
                try await world.published(names)
                try world.remove("apps.plist")
                try await world.agent.status { $0.inSync && $0.eviction.state == "held" }
            }
            try await body(world, world.folder.appending("state").appending("state.sqlite"))
        }
    }

    private static func execute(_ sql: String, in database: FilePath) throws {
        try Database(database).execute(sql)
    }

    @Test(
        "a state that no agent can have written is set aside, and no image is lost",
        arguments: [
            "UPDATE memos SET json = json_set(json, '$.holdAge.elapsed', 9223372036854775807) WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.holdAge.awake', -9223372036854775808) WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.values.hold.images', 'many') WHERE kind = 'values'",
            "UPDATE memos SET json = json_set(json, '$.elapsed', -1) WHERE kind = 'superseded'",
            "UPDATE memos SET key = '9223372036854775807' WHERE kind = 'superseded'",
            "UPDATE memos SET json = replace(json, ', 1', ', -1') WHERE kind = 'icon'",
            "UPDATE memos SET json = replace(json, '[ \"', '[ \"nothing') WHERE kind = 'icon'",
            "INSERT INTO memos VALUES ('list', 'a', json_object('list', 'a', 'sha256', 'nothing', 'rules', ''))",
            "UPDATE memos SET kind = 'nothing' WHERE kind = 'values'",
        ])
    func unbelievable(sql: String) async throws {
        try await Self.withHeld { world, database in
            try Self.execute(sql, in: database)
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let status = try await world.agent.status { $0.inSync }
                    #expect(status.eviction.state == "held" && status.cache.images == 30, "\(status.json.line)")
                }
            }
            #expect(try files(in: world.folder.appending("state")).contains("state.sqlite.damaged"))
        }
    }

    @Test("a state that was damaged is told until the file that was set aside is removed")
    func damaged() async throws {
        try await World.with { world in
            let state = world.folder.appending("state")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in try await world.published(["Mail"]) }
            try Self.execute("UPDATE memos SET json = '' WHERE kind = 'icon'", in: state.appending("state.sqlite"))
            let file = state.appending("state.sqlite.damaged")
            // Not only the run that finds it, and also where no agent runs.
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let status = try await world.agent.status { $0.inSync }
                    #expect(status.problems.map(\.code) == ["state-damaged"] && status.storage?.damaged == file.string)
                    #expect(try await world.agent.call("status").code == 1)
                }
            }
            #expect(try await world.agent.call("status").output.contains("[state-damaged]"))
            let events = try await world.agent.call("events", "--since", "0", "--json").output.split(separator: "\n")
            let told = events.filter { $0.contains("\"kind\": \"state-replaced\", \"code\": \"damaged\"") }
            #expect(told.count == 1, "\(events)")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                try #require(unlink(file.string) == 0)
                #expect(try await world.agent.call("sync").code == 0)
                try await world.agent.status { $0.problems.isEmpty }
            }
        }
    }

    @Test("a state folder that is removed under an idle agent is made again, with all that was in it, and that is told")
    func removed() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                #expect(try await world.agent.call("pause").code == 0)
                try #require(try await Program.run("rm", "-r", world.folder.appending("state").string).code == 0)
                #expect(try await world.agent.call("sync").code == 0)
                let told = "\"kind\": \"state-replaced\", \"code\": \"removed\""
                try await waitUntil { try await world.agent.call("events", "--json").output.contains(told) }
            }
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.lists.count == 1 }
                #expect(status.state == .paused && status.storage == StatusReport.Storage(), "\(status.json.line)")
            }
        }
    }

    @Test(
        "time that the system slept between two runs is no part of a grace",
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
