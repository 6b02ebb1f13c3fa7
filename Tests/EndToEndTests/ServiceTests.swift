// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The agent under a service manager")
struct ServiceTests {
    enum Address: String, CaseIterable, Sendable {
        case path, abstract
    }

    /// Runs the body with a world whose agent has a service manager.
    ///
    /// - Parameters:
    ///   - address: The kind of its socket.
    ///   - watchdog: The value of `WATCHDOG_USEC`.
    ///   - body: Gets the world and what the service manager hears.
    /// - Throws: What the body throws.
    private func withManager(
        _ address: Address = .path, watchdog: String? = nil,
        _ body: @escaping @Sendable (World, NotifyListener) async throws -> Void
    ) async throws {
        try await World.with { world in
            let path = world.folder.appending("notify").string
            let listener = try NotifyListener(at: address == .path ? path : "@syncagent\(path)")
            var world = world.setting("NOTIFY_SOCKET", listener.name)
            if let watchdog { world = world.setting("WATCHDOG_USEC", watchdog) }
            try await body(world, listener)
        }
    }

    @Test("it tells that it is ready, reloads and stops, in this order", arguments: Address.allCases)
    func order(address: Address) async throws {
        try await withManager(address) { world, listener in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { agent in
                try await waitUntil { listener.states == ["READY"] }
                let ready = try #require(listener.messages.first { $0.hasPrefix("READY=1\n") })
                #expect(ready.split(separator: "\n").contains("MAINPID=\(agent.value)"))
                // The look has ended before.
                let status = try await world.agent.call("status", "--json")
                #expect(status.output.contains("\"apps.plist\""))
                try await waitUntil { listener.statuses.last == "2 icons ready" }
                try #require(kill(agent.value, SIGHUP) == 0)
                try await waitUntil { listener.states == ["READY", "RELOADING", "READY"] }
                let reload = try #require(listener.messages.first { $0.hasPrefix("RELOADING=1\n") })
                let time = try #require(reload.split(separator: "\n").last?.split(separator: "=").last)
                #expect(reload.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
                var now = timespec()
                clock_gettime(CLOCK_MONOTONIC, &now)
                let age = now.tv_sec - (Int(time) ?? 0) / 1_000_000
                #expect((0...60).contains(age))
            }
            #expect(listener.states == ["READY", "RELOADING", "READY", "STOPPING"])
            #expect(listener.beats == 0, "nobody wants to hear of it")
        }
    }

    @Test("it is ready although the lists folder is missing, and tells that it is")
    func missingFolder() async throws {
        try await withManager { world, listener in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try world.remove("apps.plist")
            try #require(rmdir(world.agent.lists.string) == 0)
            try await world.agent.whileRunning { _ in
                try await waitUntil { listener.states == ["READY"] }
                try await waitUntil { listener.statuses.last?.contains("eviction suspended") ?? false }
            }
        }
    }

    @Test("the watchdog is fed while nothing happens and while lists come and go")
    func watchdog() async throws {
        let limit: Duration = .seconds(4)
        try await withManager(watchdog: "4000000") { world, listener in
            try await world.agent.whileRunning { agent in
                try await waitUntil { listener.beats >= 2 }
                let end = ContinuousClock.now + .seconds(6)
                var number = 0
                while ContinuousClock.now < end {
                    let (names, list) = ((0..<20).map { "Icon \(number)-\($0)" }, "\(number % 40).plist")
                    try world.drop(names, as: list)
                    try await world.published(names, as: ListName(list))
                    number += 1
                    _ = listener.beats
                }
                let beats = listener.timed.filter { $0.message == "WATCHDOG=1" }.map(\.time)
                let gaps = zip(beats.dropFirst(), beats).map { $0 - $1 }
                #expect(beats.count >= 4)
                #expect(gaps.allSatisfy { $0 < limit }, "\(gaps)")
            }
        }
    }

    @Test("the watchdog of another process is not fed")
    func otherProcess() async throws {
        try await withManager(watchdog: "10000") { world, listener in
            try await world.setting("WATCHDOG_PID", "1").agent.whileRunning { _ in
                try await waitUntil { listener.states == ["READY"] }
            }
            #expect(listener.beats == 0)
        }
    }

    @Test(
        "the watchdog is not fed while a flush hangs, and stderr names the part",
        .enabled(if: Tool.areInstalled("strace"), "a flush that hangs takes strace"))
    func hangingFlush() async throws {
        try await withManager(watchdog: "1000000") { world, listener in
            let log = world.folder.appending("stderr")
            let logging = try world.after("exec 2>'\(log)'")
            try await logging.agent.whileRunning { agent in
                try await waitUntil { listener.beats >= 2 }
                let flushes = try await SlowFlushes(of: agent, by: .seconds(4), in: world.folder)
                defer { flushes.end() }
                try world.drop(["Mail"])
                try await waitUntil {
                    let text = String(decoding: (try? FileBytes.read(log)) ?? [], as: UTF8.self)
                    return text.contains("the watchdog is not fed parts=publisher\n")
                }
                let beats = listener.beats
                try await waitUntil { listener.beats > beats }
            }
        }
    }

    @Test(
        "as root it refuses to run without --allow-root, and other commands work",
        .enabled(if: geteuid() == 0, "only root is refused"))
    func root() async throws {
        try await World.with { world in
            let program = BuiltProducts.path("syncagent").string
            let folders = [
                "--lists", world.agent.lists.string, "--cache", world.agent.cache.string, "--state",
                world.folder.appending("state").string, "--socket", world.folder.appending("control.sock").string,
            ]
            for options in [[], ["--once"]] {
                let refusal = try await Program.run([program, "run"] + options + folders)
                #expect(refusal.code == 78 && refusal.messages.contains("--allow-root"), "\(refusal.messages)")
                #expect(access(world.agent.cache.string, F_OK) != 0, "it made folders")
            }
            #expect(try await Program.run([program, "status"] + folders).code == 3)
            #expect(try await Program.run([program, "run", "--once", "--allow-root"] + folders).code == 0)
            #expect(try await Program.run([program, "verify"] + folders).code == 0)
        }
    }

    @Test("to the journal, lines begin with their priority, and elsewhere with the time", arguments: [true, false])
    func journal(isJournal: Bool) async throws {
        try await World.with { world in
            let log = world.folder.appending("stderr")
            let variable = isJournal ? "$(stat -c %d:%i '\(log)')" : "1:1"
            var world = try world.after(": >>'\(log)'; export JOURNAL_STREAM=\(variable); exec 2>>'\(log)'")
            world.agent.runOptions += ["--log-level", "info"]
            try world.agent.drop("no list", as: "bad.plist")
            try await world.agent.whileRunning { [world] _ in
                try await world.agent.status { $0.lists.first?.state == "rejected" }
            }
            // An error of the command line has several lines.
            #expect(try await world.agent.call("run", "--nonsense").code == 64)
            let lines = String(decoding: try FileBytes.read(log), as: UTF8.self).split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix(isJournal ? "<6>info cache opened" : "20") })
            #expect(lines.contains { $0.contains("warning list rejected") })
            #expect(lines.contains { $0.contains("Unknown option") })
            for line in lines { #expect((line.prefixMatch(of: /<[2-7]>/) != nil) == isJournal, "\(line)") }
        }
    }

    @Test("status says that the agent runs or that it does not, also while it ends")
    func ending() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            for _ in 0..<3 {
                let asking = try await world.agent.whileRunning { _ in
                    try await world.published(["Mail"])
                    let isAsked = Gate()
                    let asking = Task {
                        var codes: [Int32] = []
                        while codes.last != 3 {
                            codes.append(try await world.agent.call("status").code)
                            isAsked.open()
                        }
                        return codes
                    }
                    try await isAsked.wait()
                    return asking
                }
                let codes = try await asking.value
                #expect(codes.dropLast().allSatisfy { $0 == 0 }, "\(codes)")
            }
        }
    }

    @Test("helper programs get none of its variables", .disabled(if: isSanitized, sanitizerNote))
    func helpers() async throws {
        try await withManager(watchdog: "60000000") { world, listener in
            try await world.agent.whileRunning { agent in
                try await waitUntil { listener.states == ["READY"] }
                let watcher = try #require(try ProcessTree.child(of: agent.value, named: "syncagent-watch"))
                let variables = try FileBytes.read(FilePath("/proc/\(watcher)/environ"))
                let names = variables.split(separator: 0).map {
                    String(decoding: $0.prefix { $0 != 0x3D }, as: UTF8.self)
                }
                #expect(names.sorted() == ["LIBDISPATCH_LOG", "SWIFT_BACKTRACE"])
            }
        }
    }
}
