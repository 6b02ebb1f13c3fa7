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

@Suite("Disks that fail", .timeLimit(.minutes(15)), .serialized)
struct DiskTroubleTests {
    @Test(
        "a running agent says why a publication failed, and tries again until it works",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"),
        arguments: [
            ("renameat", "staging/manifest", 1, "ENOSPC", "No space left on device"),
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
        "an image that cannot be published waits, is downloaded once, and the folder at fault is named",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("chattr"), "takes root and chattr"))
    func refused() async throws {
        try await World.with { world in
            let generations = world.agent.cache.appending("generations")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                try await PurgeTests.whileImmutable([generations]) {
                    try world.drop(["Mail", "Maps"])
                    for _ in 0..<3 {
                        let sync = try await world.agent.call("sync", "--wait")
                        #expect(sync.code == 1)
                        expectContains(sync.output + sync.messages, generations.string)
                        let status = try await world.agent.status { $0.publication.error != nil }
                        #expect(status.publication.error?.contains(generations.string) == true)
                        #expect([status.icons.ready, status.icons.pending, status.icons.failed] == [1, 1, 0])
                        expectContains(try await world.agent.call("list", "--failed").output, "No icon failed.")
                    }
                    #expect(world.origin.requestCount == 2)
                }
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                try await world.published(["Mail", "Maps"])
                #expect(world.origin.requestCount == 2)
            }
        }
    }

    @Test(
        "a folder that refuses an image holds up no other list, and takes the image once it can be written",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("chattr"), "takes root and chattr"))
    func refusedFolder() async throws {
        try await World.with { world in
            let image = CacheLayout.image(Digest.of(IconDrawing("Maps").png()), suffix: "png")
            let folder = world.agent.cache.pushing(FilePath(image)).removingLastComponent()
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                try await PurgeTests.whileImmutable([folder]) {
                    try world.drop(["Maps"], as: "maps.plist")
                    let status = try await world.agent.status { $0.publication.error != nil }
                    #expect(status.publication.error?.contains(folder.string) == true)
                    try world.drop(["Music"], as: "music.plist")
                    let cache = IconCache(at: world.agent.cache)
                    try await waitUntil { (try? cache.document(of: "music.plist"))?.apps.map(\.isReady) == [true] }
                    #expect(try cache.document(of: "maps.plist")?.apps.map(\.isReady) == [false])
                    #expect(try await world.agent.call("status").code == 1)
                }
                try await world.published(["Maps"], as: "maps.plist")
                #expect(world.origin.requestCount == 3)
                #expect(try world.expectWholeCache() == 3)
            }
        }
    }

    @Test(
        "a run that is killed while it fills an emptied cache leaves nothing that readers take for damage",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
    func killedInFirst() async throws {
        try await World.with { world in
            for names in [["Mail"], ["Mail", "Maps"]] {
                try world.drop(names)
                #expect(try await world.agent.call("run", "--once").code == 0)
            }
            for call in ["renameat", "linkat"] {
                let next = try IconCache(at: world.agent.cache).manifest().generation + 1
                try await Tool.run("rm", "-rf", world.agent.cache.string)
                let file = call == "renameat" ? CacheLayout.manifest : CacheLayout.generation(next)
                let point = FaultPoint(call, on: file, in: world.agent.cache, number: 1)
                let killed = try world.traced(by: Fault.kill.options(at: point), log: world.folder.appending("trace"))
                #expect(try await killed.call("run", "--once").code == 128 + SIGKILL, "\(point)")
                #expect(CacheCheck(world.agent.cache).damages.isEmpty, "\(point)")
                #expect(try await world.agent.call("run", "--once").code == 0, "\(point)")
                #expect(try world.expectWholeCache() == 2)
            }
        }
    }

    @Test("a full disk takes no image away, and the sync is completed when there is room again")
    func full() async throws {
        try await World.with(.ext4, state: true) { world, volume in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let filler = volume.path.appending("filler").string
            await #expect(throws: Tool.Failure.self) {
                try await Tool.run("dd", "if=/dev/zero", "of=\(filler)", "bs=4k")
            }
            let names = ["Mail"] + (0..<8).map { "icon-\($0)" }
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
        "a publication flushes four times, however many images it has; without syncfs every file before the manifest",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
    func flushes() async throws {
        try await World.with { world in
            let cache = world.agent.cache
            // One icon: two may come in two publications.
            try world.drop(["Mail"])
            let options = ["-e", "trace=fstatfs,fsync,syncfs,renameat", "-e", "inject=fstatfs:error=ENOSYS"]
            let single = try await Self.runOnce(in: world, tracedBy: options)
            #expect(try world.expectWholeCache() == 1)
            #expect(!single.contains { $0.name == "syncfs" })
            let publication = try #require(single.lastIndex { $0.path == cache.appending(CacheLayout.manifest).string })
            let flushed = single.map { $0.name == "fsync" ? $0.path : "" }
            for name in try files(in: cache.appending("icons")).map({ "icons/\($0)" }) + ["staging/manifest"] {
                let path = cache.appending(name)
                let wanted = [path, path.removingLastComponent(), cache].map(\.string)
                #expect(Set(flushed[..<publication]).isSuperset(of: wanted), "\(name)")
            }
            let names = try files(in: cache.appending("by-url")).map { "by-url/\($0)" }
            for name in names + [CacheLayout.manifest, "generations/1.json"] {
                let folder = cache.appending(name).removingLastComponent()
                #expect(flushed[publication...].contains(folder.string), "\(name)")
            }

            try world.drop((0..<100).map { "icon-\($0)" })
            let calls = try await Self.runOnce(
                in: world, tracedBy: ["-e", "trace=fsync,fdatasync,syncfs,?sync_file_range,msync"])
            let generations = try #require(CacheCheck(cache).generation) - 1
            #expect(try world.expectWholeCache() == 100)
            let flushes = calls.count { $0.path.hasPrefix(cache.string) }
            // The start's own is one.
            #expect(flushes <= 4 * generations + 1)
            print("100 icons in \(generations) publications: \(flushes) flushes of the cache, \(calls.count) in all")
        }
    }

    /// The calls of a run under strace.
    private static func runOnce(in world: World, tracedBy options: [String]) async throws -> [TracedCall] {
        let log = world.folder.appending("trace")
        #expect(try await world.traced(by: options, log: log).call("run", "--once").code == 0)
        return String(decoding: try FileBytes.read(log), as: UTF8.self)
            .split(separator: "\n").compactMap { TracedCall($0) }
    }

    @Test("a start downloads no image again because the state is damaged or gone, or the images cannot be looked at")
    func state() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let database = world.folder.appending("state").appending("state.sqlite")
            for text in [nil, "", "nonsense", "SQLite format 3\u{0}nonsense"] {
                try #require(unlink(database.string) == 0)
                _ = unlink(database.string + ".damaged")
                if let text {
                    try write(String(repeating: text, count: 1000).utf8, to: database, mode: .ownerReadWrite)
                }
                let run = try await world.agent.call("run", "--once")
                #expect(run.code == 0, "\(run.messages)")
                let isDamage = text.map { !$0.isEmpty } ?? false
                #expect(run.messages.contains("state.sqlite.damaged") == isDamage, "\(text ?? "gone")")
                #expect(try world.expectWholeCache() == 2)
            }
            if Tool.areInstalled("strace") {
                let icons = world.agent.cache.appending("icons")
                let folders = try files(in: icons).map { icons.pushing(FilePath($0)).removingLastComponent().string }
                let options =
                    folders.flatMap { ["-P", $0] } + ["-e", "trace=newfstatat", "-e", "inject=newfstatat:error=EMFILE"]
                let blind = try world.traced(by: options, log: world.folder.appending("trace"))
                let run = try await blind.call("run", "--once")
                #expect(run.code == 1)
                expectContains(run.messages, "Too many open files")
                #expect(try world.expectWholeCache() == 2)
                #expect(try await world.agent.call("run", "--once").code == 0)
            }
            #expect(world.origin.requestCount == 2)
        }
    }
}
