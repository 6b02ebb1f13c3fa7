// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import FoundationEssentials
import Glibc
import IconCache
import Reports
import SyncAgent
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// An agent on a machine whose clock is wrong at its start, and is set later.
@Suite(
    "The clock is set while an agent runs",
    .enabled(if: Tool.areInstalled("faketime"), "faketime is not installed"),
    .disabled(if: isSanitized, sanitizerNote), .timeLimit(.minutes(10)))
struct ClockTests {
    /// A world in which the wall clock of the agent is what a file says, and no other clock is changed.
    private static func with(
        offset: String, _ body: @escaping @Sendable (World, _ clock: FilePath) async throws -> Void
    ) async throws {
        try await World.with { world in
            let clock = world.folder.appending("clock")
            try write(offset + "\n", to: clock)
            let libraries = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
            let library = try #require(libraries.first { access($0, F_OK) == 0 })
            let variables = [
                "LD_PRELOAD=\(library)", "FAKETIME_TIMESTAMP_FILE=\(clock)",
                "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
            ]
            // The library makes what processes share in the first one that has it, which must not be the agent. Commands
            // have the clock of the tests.
            let program = BuiltProducts.path("syncagent")
            let command = "exec env \(variables.joined(separator: " ")) /usr/bin/env '\(program)' \"$@\""
            try await body(try world.after("if [ \"$1\" = run ]; then \(command); fi"), clock)
        }
    }

    /// Whether a time is that of the right clock.
    private static func isRight(_ text: String?) -> Bool {
        guard let time = text.flatMap({ Timestamp($0) }) else { return false }
        let age = AgentClock.wallTime - time
        return max(age, .zero - age) < .seconds(86_400)
    }

    @Test("a seeder that started with a wrong clock publishes again with the right time once the clock is set")
    func seeder() async throws {
        try await Self.with(offset: "+30d") { world, clock in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                let cache = IconCache(at: world.agent.cache)
                let before = try cache.manifest()
                let wrong = before.published - AgentClock.wallTime
                try #require(max(wrong, .zero - wrong) > .seconds(29 * 86_400), "\(before.published)")
                try write("+0d\n", to: clock)
                try await waitUntil {
                    _ = try await world.agent.call("sync")
                    return try cache.manifest().generation > before.generation
                }
                let published = "\(try cache.manifest().published)"
                #expect(Self.isRight(published), "\(published)")
                // So have reports and events.
                let why = try await world.agent.call("why", world.origin.iconURL("Mail"), "--json").output
                let report = try JSONDecoder().decode(IconReport.self, from: Data(why.utf8))
                #expect(Self.isRight(report.response?.received), "\(why)")
                try await waitUntil {
                    let line = try await world.agent.call("events", "--json", "--limit", "1").output
                    return Self.isRight(try JSONDecoder().decode(EventRecord.self, from: Data(line.utf8)).time)
                }
            }
        }
    }

    @Test("a follower takes a manifest of the right time once its clock is right")
    func follower() async throws {
        try await World.with { seeder in
            try seeder.drop(["Mail"])
            try #require(try await seeder.agent.call("run", "--once").code == 0)
            let cache = seeder.agent.cache
            try await RawOrigin.run { request in
                let path = String(decoding: request.target.utf8.dropFirst(), as: UTF8.self)
                guard let bytes = try? FileBytes.read(cache.appending(path)) else {
                    return [.send("HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")]
                }
                return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"), .send(bytes)]
            } _: { upstream in
                let base = upstream.baseURL
                // By the clock of its start, the manifest is of the future.
                try await Self.with(offset: "-30d") { world, clock in
                    let world = world.setting("SYNCAGENT_UPSTREAM_URLS", base)
                        .setting("SYNCAGENT_UPSTREAM_POLL", "15s")
                    let icon = seeder.origin.iconURL("Mail")
                    try world.agent.drop(propertyList([("Mail", icon)]), as: "apps.plist")
                    let agent = world.agent
                    try await agent.whileRunning { _ in
                        try await agent.status { $0.upstreams.first?.state == "refused" }
                        try write("+0d\n", to: clock)
                        try await waitUntil {
                            _ = try await agent.call("sync")
                            return try await agent.status { _ in true }.upstreams.first?.state == "fresh"
                        }
                        try await agent.status { $0.icons.ready == 1 && $0.inSync }
                    }
                }
            }
            #expect(seeder.origin.requestCount == 1, "the follower asks no origin")
        }
    }
}
