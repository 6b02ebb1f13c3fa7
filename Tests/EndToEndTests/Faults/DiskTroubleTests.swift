// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Disks that fail", .serialized)
struct DiskTroubleTests {
    @Test(
        "a running agent tells why a publication failed, tries again, and comes to an end",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"),
        arguments: [
            ("renameat", "staging/manifest", 1, "ENOSPC", "No space left on device"),
            ("renameat", "staging/manifest", 1, "EIO", "Input/output error"),
            // The first flush is that of the start. A publication flushes twice, on one thread.
            ("syncfs", "", 2, "EIO", "Input/output error"),
        ])
    func running(call: String, file: String, number: Int, error: String, words: String) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let point = FaultPoint(call, on: file, in: world.agent.cache, number: number)
            let agent = try world.traced(
                by: Fault.error(error).options(at: point, lasts: true), log: world.folder.appending("trace"),
                getsSignals: true)
            try world.drop(["Mail", "Maps"])
            try await agent.whileRunning { process in
                let troubled = try await agent.status { $0.publication.error != nil }
                #expect(troubled.publication.error?.contains(words) == true && !troubled.inSync)
                try Tracer(of: process).end()
                #expect(try await agent.status { $0.inSync }.publication.error == nil)
                try await world.published(["Mail", "Maps"])
                #expect(try world.expectWholeCache() == 2)
            }
        }
    }

    @Test(
        "an agent that is killed while it fills an emptied cache leaves nothing that readers take for damage",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"),
        arguments: [("renameat", "manifest.json"), ("linkat", "generations/3.json")])
    func killedInFirst(call: String, file: String) async throws {
        try await World.with { world in
            for names in [["Mail"], ["Mail", "Maps"]] {
                try world.drop(names)
                #expect(try await world.agent.call("run", "--once").code == 0)
            }
            let before = try IconCache(at: world.agent.cache).manifest().generation
            try await Tool.run("rm", "-rf", world.agent.cache.string)
            let point = FaultPoint(
                call, on: file.replacing("3", with: "\(before + 1)"), in: world.agent.cache, number: 1)
            let killed = try world.traced(by: Fault.kill.options(at: point), log: world.folder.appending("trace"))
            #expect(try await killed.call("run", "--once").code == 128 + SIGKILL)
            #expect(CacheCheck(world.agent.cache).damages.isEmpty)
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(try world.expectWholeCache() == 2)
        }
    }

    @Test("on a full disk what is there stays, and the sync is completed when there is room again")
    func full() async throws {
        try await World.with(.ext4, state: true) { world, volume in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let filler = volume.path.appending("filler").string
            await #expect(throws: Tool.Failure.self) {
                try await Tool.run("dd", "if=/dev/zero", "of=\(filler)", "bs=4k")
            }
            let names = ["Mail"] + (0..<20).map { "icon-\($0)" }
            try world.drop(names)
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 1 || run.code == 73)
            #expect(Fault.error("ENOSPC").isNamed(in: run.messages), "\(run.messages)")
            #expect(try world.expectWholeCache() == 1)
            try await Tool.run("rm", filler)
            #expect(try await world.agent.call("run", "--once").code == 0)
            let end = CacheCheck(world.agent.cache)
            let wrong = try end.damages + end.strays()
            #expect(wrong.isEmpty && end.images.count == names.count)
        }
    }

    @Test(
        "one publication flushes four times at most, however many images it has",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
    func flushes() async throws {
        try await World.with { world in
            try world.drop([])
            #expect(try await world.agent.call("run", "--once").code == 0)
            try world.drop((0..<300).map { "icon-\($0)" })
            let log = world.folder.appending("trace")
            let agent = try world.traced(
                by: ["-e", "trace=fsync,fdatasync,syncfs,?sync_file_range,msync"], log: log)
            #expect(try await agent.call("run", "--once").code == 0)
            let calls = String(decoding: try FileBytes.read(log), as: UTF8.self)
                .split(separator: "\n").compactMap { TracedCall($0) }
            let generations = try #require(CacheCheck(world.agent.cache).generation) - 1
            #expect(try world.expectWholeCache() == 300)
            let flushes = calls.count { $0.path.hasPrefix(world.agent.cache.string) }
            // The start's own is one.
            #expect(flushes <= 4 * generations + 1)
            print("300 icons in \(generations) publications: \(flushes) flushes of the cache, \(calls.count) in all")
        }
    }

    @Test(
        "where syncfs cannot be relied on, every file is flushed before the manifest, and every name of it",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
    func eachFile() async throws {
        try await World.with { world in
            // One icon: two may come in two publications.
            try world.drop(["Mail"])
            let log = world.folder.appending("trace")
            let options = ["-e", "trace=fstatfs,fsync,syncfs,renameat", "-e", "inject=fstatfs:error=ENOSYS"]
            #expect(try await world.traced(by: options, log: log).call("run", "--once").code == 0)
            #expect(try world.expectWholeCache() == 1)
            let calls = String(decoding: try FileBytes.read(log), as: UTF8.self)
                .split(separator: "\n").compactMap { TracedCall($0) }
            #expect(!calls.contains { $0.name == "syncfs" })
            let cache = world.agent.cache
            let publication = try #require(calls.lastIndex { $0.path == cache.appending(CacheLayout.manifest).string })
            let flushes = calls.map { $0.name == "fsync" ? $0.path : "" }
            for name in try files(in: cache.appending("icons")).map({ "icons/\($0)" }) + ["staging/manifest"] {
                let path = cache.appending(name)
                let wanted = [path, path.removingLastComponent(), cache].map(\.string)
                #expect(Set(flushes[..<publication]).isSuperset(of: wanted), "\(name)")
            }
            let names =
                try files(in: cache.appending("by-url")).map { "by-url/\($0)" } + [
                    CacheLayout.manifest, "generations/1.json",
                ]
            for name in names {
                let folder = cache.appending(name).removingLastComponent()
                #expect(flushes[publication...].contains(folder.string), "\(name)")
            }
        }
    }

    @Test(
        "a state that is damaged or gone is begun anew, and nothing is downloaded for it",
        arguments: [nil, "", "nonsense", "SQLite format 3\u{0}nonsense"])
    func state(text: String?) async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let database = world.folder.appending("state").appending("state.sqlite")
            try #require(unlink(database.string) == 0)
            if let text {
                let file = try FileDescriptor.open(
                    database, .writeOnly, options: [.create], permissions: .ownerReadWrite)
                try file.closeAfter { _ = try file.writeAll(String(repeating: text, count: 1000).utf8) }
            }
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 0, "\(run.messages)")
            let isDamage = text.map { !$0.isEmpty } ?? false
            #expect(run.messages.contains("state.sqlite.damaged") == isDamage)
            #expect(try world.expectWholeCache() == 2)
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("a state folder that cannot be used is refused, and says so")
    func refused() async throws {
        try await World.with { world in
            let state = world.folder.appending("state")
            try makeFolder(state)
            try makeFolder(state.appending("state.sqlite"))
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 73)
            #expect(run.messages.contains("\(state)/state.sqlite is a folder, not a file"), "\(run.messages)")
        }
    }

    @Test(
        "a start that cannot look at the images says so, and takes none of them for lost",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
    func unseen() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let icons = world.agent.cache.appending("icons")
            let folders = try files(in: icons).map { icons.pushing(FilePath($0)).removingLastComponent().string }
            let options =
                folders.flatMap { ["-P", $0] } + ["-e", "trace=newfstatat", "-e", "inject=newfstatat:error=EMFILE"]
            let run = try await world.traced(by: options, log: world.folder.appending("trace")).call("run", "--once")
            #expect(run.code == 1 && run.messages.contains("Too many open files"), "\(run.messages)")
            #expect(try world.expectWholeCache() == 2)
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(world.origin.requestCount == 2)
        }
    }
}
