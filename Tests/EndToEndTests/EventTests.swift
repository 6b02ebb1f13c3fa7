// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Events", .serialized, .timeLimit(.minutes(3)))
struct EventTests {
    /// What a program has written so far to a file, as events.
    private static func events(in file: FilePath) throws -> [EventRecord] {
        let text = (try? String(contentsOfFile: file.string, encoding: .utf8)) ?? ""
        // The last line may not be complete yet.
        return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            try JSONDecoder().decode(EventRecord.self, from: Data($0.utf8))
        }
    }

    private static func events(_ world: World, _ options: String...) async throws -> [EventRecord] {
        let call = try await world.agent.call(["events", "--json"] + options)
        #expect(call.code == 0, "\(call.messages)")
        return try call.output.split(separator: "\n").map {
            try JSONDecoder().decode(EventRecord.self, from: Data($0.utf8))
        }
    }

    /// Runs a follower that writes to a file while the body runs, and then ends it as Ctrl-C does.
    private static func following(
        _ world: World, _ file: String, _ options: [String], _ body: @Sendable (FilePath) async throws -> Void
    ) async throws {
        let path = world.folder.appending(file)
        try write("", to: path)
        let output = try FileDescriptor.open(path, .writeOnly, options: .append)
        let state = world.folder.appending("state").string, socket = world.folder.appending("control.sock").string
        let result = try await Subprocess.run(
            .path(BuiltProducts.path("syncagent")),
            arguments: Arguments(["events", "--follow", "--state", state, "--socket", socket] + options),
            input: .none, output: .fileDescriptor(output, closeAfterSpawningProcess: true), error: .discarded
        ) { execution in
            do {
                try await body(path)
            } catch {
                try? execution.send(signal: .kill)
                throw error
            }
            try execution.send(signal: .interrupt)
        }
        #expect(result.terminationStatus == .exited(0))
    }

    @Test("followers get every event in order, and are told of a gap, over an end, a kill and a start of the agent")
    func following() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in try await world.published(["Mail"]) }
            let first = try await Self.events(world)
            #expect(first.map(\.id) == Array(1...first.count) && first.first?.kind == "agent-started")
            #expect(first.contains { $0.kind == "icon-ready" } && first.contains { $0.kind == "agent-stopping" })

            let (started, startedContinuation) = AsyncStream.makeStream(of: Void.self)
            let (stop, stopContinuation) = AsyncStream.makeStream(of: Void.self)
            let firstRun = Task {
                try await world.agent.whileRunning(endedBy: .kill) { _ in
                    startedContinuation.finish()
                    for await _ in stop {}
                }
            }
            for await _ in started {}
            try await Self.following(world, "all", ["--json", "--since", "0"]) { all in
                try await Self.following(world, "new", ["--json"]) { new in
                    try await waitUntil { try Self.events(in: all).count > first.count }
                    // The second follower has begun once it has an event; the agent must not end earlier.
                    try await waitUntil {
                        for command in ["pause", "resume"] { _ = try await world.agent.call(command) }
                        return try !Self.events(in: new).isEmpty
                    }
                    try world.drop(["Mail", "Maps"])
                    try await waitUntil { try Self.events(in: all).contains { $0.url?.text.contains("Maps") == true } }
                    stopContinuation.finish()
                    try await firstRun.value
                    try world.drop(["Mail", "Maps", "Notes"])
                    try await world.agent.whileRunning { _ in
                        for file in [all, new] {
                            try await waitUntil {
                                try Self.events(in: file).contains { $0.url?.text.contains("Notes") == true }
                            }
                        }
                    }
                    let disk = try await Self.events(world, "--since", "0")
                    try await waitUntil { try Self.events(in: all).last?.id == disk.last?.id }
                    let followed = try Self.events(in: all)
                    let gaps = followed.filter { $0.kind == "gap" }
                    #expect(gaps.map(\.code) == ["agent-killed"])
                    #expect(followed.map(\.id) == Array(1...followed.count))
                    #expect(followed.filter { $0.kind != "gap" } == disk.filter { $0.kind != "gap" })
                    let late = try Self.events(in: new)
                    #expect(late.map(\.id) == Array(followed.map(\.id).suffix(late.count)))
                }
            }
        }
    }

    @Test("without an agent, events come from disk; a list that stays bad is one event, however often the agent starts")
    func stopped() async throws {
        try await World.with { world in
            let nothing = try await world.agent.call("events")
            #expect(nothing.code == 69)
            expectContains(nothing.messages, "it does not exist")
            // Not even root can read a link to itself.
            let state = world.folder.appending("state")
            let file = state.appending("events-0.ndjson").string
            try makeFolder(state)
            #expect(symlink(file, file) == 0)
            let unreadable = try await world.agent.call("events")
            #expect(unreadable.code == 69)
            expectContains(unreadable.messages, "events-0.ndjson cannot be read: Too many levels of symbolic links")
            #expect(unlink(file) == 0 && rmdir(state.string) == 0)
            try world.drop(["Mail", "Maps"])
            try write("no list", to: world.agent.lists.appending("bad.plist"))
            #expect(try await world.agent.call("run", "--once").code == 1)
            let shown = try await world.agent.call("events", "--limit", "2")
            #expect(shown.output.split(separator: "\n").count == 2, "\(shown.output)")
            #expect(shown.output.contains(#/Z  \d+  agent-stopping/#), "\(shown.output)")
            expectContains(shown.messages, "The agent is not running. The events are read from")
            let all = try await Self.events(world, "--since", "0")
            #expect(try await Self.events(world, "--since", "2", "--limit", "1").map(\.id) == [3])
            #expect(all.filter { $0.kind == "icon-ready" }.count == 2)
            #expect(try await world.agent.call("events", "--follow").code == 69)
            #expect(try await world.agent.call("events", "--since", "x").code == 64)

            @Sendable func told() async throws -> [String] {
                try await Self.events(world, "--since", "0").filter { $0.list == "bad.plist" }.map(\.kind)
            }
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let more = try await Self.events(world, "--since", "0")
                    #expect(Array(more.prefix(all.count)) == all)
                    #expect(more.dropFirst(all.count).first?.kind == "agent-started")
                    try await world.agent.status { $0.inSync && $0.lists.map(\.state) == ["ok", "rejected"] }
                }
            }
            #expect(try await told() == ["list-rejected"])
            try world.remove("bad.plist")
            try await world.agent.whileRunning { _ in
                try await waitUntil { try await told() == ["list-rejected", "list-removed"] }
            }
        }
    }

    @Test("events are chosen by kind and by list, with the icons of the list; --limit counts what is chosen")
    func chosen() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try world.drop(["Maps", "Music"], as: "other.plist")
            try #require(try await world.agent.call("run", "--once").code == 0)
            let kinds = try await Self.events(world, "--kind", "icon-ready", "--kind", "agent-started")
            #expect(Set(kinds.map(\.kind)) == ["icon-ready", "agent-started"] && kinds.count == 4)
            let list = try await Self.events(world, "--list", "other.plist")
            #expect(list.map(\.kind).sorted() == ["icon-ready", "icon-ready", "list-accepted"])
            let newest = try await Self.events(world, "--kind", "icon-ready", "--limit", "1")
            #expect(newest.count == 1 && newest.last == kinds.last(where: { $0.kind == "icon-ready" }))
            let first = try await Self.events(world, "--kind", "icon-ready", "--since", "0", "--limit", "1")
            #expect(first.count == 1 && first.last == kinds.first(where: { $0.kind == "icon-ready" }))
            let wrong = try await world.agent.call("events", "--kind", "icon-redy")
            #expect(wrong.code == 64)
            expectContains(wrong.messages, "icon-redy is not a kind of event. Did you mean icon-ready?")
            try await world.agent.whileRunning { _ in
                try await Self.following(world, "chosen", ["--json", "--since", "0", "--list", "other.plist"]) {
                    file in
                    try await waitUntil { try Self.events(in: file).contains { $0.list == "other.plist" } }
                    try world.drop(["Mail", "Notes"])
                    try await world.published(["Mail", "Notes"])
                    try world.drop(["Maps"], as: "other.plist")
                    try await waitUntil { try Self.events(in: file).contains { $0.kind == "icon-retired" } }
                    #expect(try Self.events(in: file).allSatisfy { $0.url?.text.contains("Notes") != true })
                }
            }
        }
    }

    @Test(
        "the documented Python example follows the events over a restart of the agent",
        .enabled(if: Tool.areInstalled("python3"), "python3 is not installed"))
    func python() async throws {
        let example = try #require(try Article("Events", of: "SyncAgent").examples(in: "python").first)
        try await World.with { world in
            let socket = world.folder.appending("control.sock").string
            let file = world.folder.appending("output")
            try write("", to: file)
            let output = try FileDescriptor.open(file, .writeOnly, options: .append)
            _ = try await Subprocess.run(
                .name("python3"), arguments: ["-c", example, socket, "0"], input: .none,
                output: .fileDescriptor(output, closeAfterSpawningProcess: true), error: .discarded
            ) { execution in
                @Sendable func waitFor(_ name: String) async throws {
                    let line = "icon-ready \(world.origin.iconURL(name))"
                    try await waitUntil { try String(contentsOfFile: file.string, encoding: .utf8).contains(line) }
                }
                do {
                    for names in [["Mail"], ["Mail", "Maps"]] {
                        try world.drop(names)
                        try await world.agent.whileRunning { _ in try await waitFor(try #require(names.last)) }
                    }
                } catch {
                    try? execution.send(signal: .kill)
                    throw error
                }
                try execution.send(signal: .kill)
            }
            let ids = try String(contentsOfFile: file.string, encoding: .utf8).split(separator: "\n")
                .compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
            #expect(ids == Array(1...ids.count))
        }
    }
}
