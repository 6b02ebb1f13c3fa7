// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The agent under a service manager", .timeLimit(.minutes(10)))
struct ServiceTests {
    @Test("the service manager hears that the agent is ready, reloads and stops, in this order")
    func order() async throws {
        try await World.with { world in
            let listener = try NotifyListener(at: world.folder.appending("notify").string)
            // The watchdog is meant for another process.
            let managed = world.setting("NOTIFY_SOCKET", listener.name).setting("WATCHDOG_USEC", "10000")
                .setting("WATCHDOG_PID", "1")
            try world.drop(["Mail", "Maps"])
            try await managed.agent.whileRunning { agent in
                try await waitUntil { listener.states == ["READY"] }
                let ready = try #require(listener.messages.first { $0.hasPrefix("READY=1\n") })
                #expect(ready.split(separator: "\n").contains("MAINPID=\(agent.value)"))
                // The look has ended before.
                expectContains(try await world.agent.call("status", "--json").output, "\"apps.plist\"")
                try await waitUntil { listener.statuses.last == "2 icons ready" }
                if !isSanitized { try Self.expectOwnVariables(ofHelperOf: agent.value) }
                let before = Self.microseconds()
                try #require(kill(agent.value, SIGHUP) == 0)
                try await waitUntil { listener.states == ["READY", "RELOADING", "READY"] }
                let reload = try #require(listener.messages.first { $0.hasPrefix("RELOADING=1\n") })
                #expect(reload.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
                let time = try #require(reload.split(separator: "\n").last?.split(separator: "=").last)
                #expect((before...Self.microseconds()).contains(Int(time) ?? 0))
            }
            #expect(listener.states == ["READY", "RELOADING", "READY", "STOPPING"])
            #expect(listener.beats == 0)
            // Without its lists folder the agent is ready too, and says so; here to an abstract socket.
            try world.remove("apps.plist")
            try #require(rmdir(world.agent.lists.string) == 0)
            let abstract = try NotifyListener(at: "@syncagent\(world.folder.appending("notify"))")
            try await world.setting("NOTIFY_SOCKET", abstract.name).agent.whileRunning { _ in
                try await waitUntil { abstract.states == ["READY"] }
                try await waitUntil { abstract.statuses.last?.contains("eviction suspended") ?? false }
            }
            #expect(abstract.states == ["READY", "STOPPING"])
            #expect(abstract.beats == 0)
        }
    }

    @Test("the example for NetworkManager pauses and resumes an agent that answers only later")
    func metered() async throws {
        try await World.with { world in
            let programs = world.folder.appending("bin")
            try makeFolder(programs)
            let (state, socket) = (world.folder.appending("metered"), world.folder.appending("control.sock"))
            try makeScript("cat '\(state)'", in: programs).move(to: programs.appending("busctl"))
            try makeScript(
                "exec '\(BuiltProducts.path("syncagent"))' \"$1\" --socket '\(socket)' \"$3\" \"$4\"", in: programs
            ).move(to: programs.appending("syncagent"))
            for (metered, isPaused) in [("u 1", true), ("u 2", false), ("u 3", true)] {
                try write(metered, to: state)
                let hook = try await Program.run(
                    "sh", "\(Article.project)/Packaging/examples/90-syncagent", "wlan0", "up",
                    environment: ["PATH": "\(programs):/usr/bin:/bin"])
                #expect(hook.code == 0 && hook.output.isEmpty && hook.messages.isEmpty, "\(hook)")
                try await world.agent.whileRunning { _ in
                    try await world.agent.status { ($0.state == .paused) == isPaused }
                }
            }
        }
    }

    /// Expects that a helper program has no variables of the agent.
    private static func expectOwnVariables(ofHelperOf agent: pid_t) throws {
        let watcher = try #require(try ProcessTree.child(of: agent, named: "syncagent-watch"))
        let names = try FileBytes.read(FilePath("/proc/\(watcher)/environ")).split(separator: 0).map {
            String(decoding: $0.prefix { $0 != 0x3D }, as: UTF8.self)
        }
        #expect(names.sorted() == ["LIBDISPATCH_LOG", "SWIFT_BACKTRACE"])
    }

    /// The time of the monotonic clock, in microseconds.
    private static func microseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }

    @Test("the watchdog is fed while nothing happens and while lists come and go, but not while a flush hangs")
    func watchdog() async throws {
        try await World.with { world in
            let listener = try NotifyListener(at: world.folder.appending("notify").string)
            let log = world.folder.appending("stderr")
            let managed = try world.setting("NOTIFY_SOCKET", listener.name).setting("WATCHDOG_USEC", "1000000")
                .after("exec 2>'\(log)'")
            try await managed.agent.whileRunning { agent in
                try await waitUntil { listener.beats >= 2 }
                let idle = listener.beats
                var number = 0
                while listener.beats < idle + 4 {
                    let (names, list) = ((0..<5).map { "Icon \(number)-\($0)" }, "\(number % 40).plist")
                    try world.drop(names, as: list)
                    try await world.published(names, as: ListName(list))
                    number += 1
                    // Each takes a tenth of a second and more (lists.settle), and there are two beats a second.
                    try #require(number < 400, "the watchdog is not fed while lists come and go")
                }
                guard Tool.areInstalled("strace") else {
                    print("skipped: a flush that hangs takes strace")
                    return
                }
                @Sendable func complaints() -> Int {
                    String(decoding: (try? FileBytes.read(log)) ?? [], as: UTF8.self).split(separator: "\n")
                        .count { $0.hasSuffix("the watchdog is not fed parts=publisher") }
                }
                let before = complaints()
                let flushes = try await SlowFlushes(of: agent, by: .seconds(60), in: world.folder)
                defer { flushes.end() }
                try world.drop(["Mail"])
                try await waitUntil { complaints() > before }
                let beats = listener.beats
                flushes.end()
                try await waitUntil { listener.beats > beats }
            }
        }
    }

    @Test(
        "run refuses root without --allow-root, and other commands work for root",
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

    @Test("log lines begin with their priority in the journal, and with the time elsewhere")
    func journal() async throws {
        try await World.with { world in
            for isJournal in [true, false] {
                // A list that stays bad is logged once: each run has another one.
                try world.agent.drop("no list", as: "bad \(isJournal).plist")
                let log = world.folder.appending("stderr-\(isJournal)")
                let variable = isJournal ? "$(stat -c %d:%i '\(log)')" : "1:1"
                var logging = try world.after(": >>'\(log)'; export JOURNAL_STREAM=\(variable); exec 2>>'\(log)'")
                logging.agent.runOptions += ["--log-level", "info"]
                #expect(try await logging.agent.call("run", "--once").code == 1)
                // An error of the command line has several lines.
                #expect(try await logging.agent.call("run", "--nonsense").code == 64)
                let text = String(decoding: try FileBytes.read(log), as: UTF8.self)
                let lines = text.split(separator: "\n")
                #expect(lines.contains { $0.hasPrefix(isJournal ? "<6>info cache opened" : "20") })
                expectContains(text, "warning list rejected", "Unknown option")
                for line in lines { #expect((line.prefixMatch(of: /<[2-7]>/) != nil) == isJournal, "\(line)") }
            }
        }
    }
}
