// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Hostile lists", .timeLimit(.minutes(15)), .serialized)
struct HostileListTests {
    @Test("each hostile file in the lists folder is rejected; the agent and the other lists go on, in little memory")
    func verdicts() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail"], as: "good.plist")
                try await world.published(["Mail"], as: "good.plist")
                var expected = try Self.dropOddFiles(world.agent.lists)
                for refused in RefusedList.all { try Self.put(refused.bytes, world.agent.lists, refused.name) }
                for refused in RefusedList.nested { expected[refused.name] = .tooDeep(limit: 32) }
                try Self.put(Self.largest, world.agent.lists, "largest")
                let rejected = Set(RefusedList.all.map(\.name)).union(expected.keys)
                let report = try await world.agent.status(within: .seconds(200)) { report in
                    report.lists.count == rejected.count + 2
                }
                for list in report.lists where list.name != "good.plist" && list.name != "largest.plist" {
                    let name = String(list.name.text.dropLast(".plist".count))
                    #expect(list.state == "rejected" && rejected.contains(name), "\(name)")
                    #expect(list.error != nil, "\(name)")
                    if let expected = expected[name] { #expect(list.error == expected.message, "\(name)") }
                }
                #expect(report.lists.first { $0.name == "largest.plist" }?.apps == 50_000)
                try world.drop(["Mail", "Maps"], as: "good.plist")
                let last = try await world.agent.status(within: .seconds(60)) { report in
                    report.lists.first { $0.name == "good.plist" }?.ready == 2
                }
                #expect(last.pid == Int(agent.value))
                let peak = try #require(try ProcessStatus(of: agent.value).peakMemory)
                if !isSanitized { #expect(peak < 200 << 10, "\(peak) KiB") }
            }
            try await Self.expectVerdictsAtOnce(world)
        }
    }

    /// Expects `check` to wait for no file that is not a regular one.
    private static func expectVerdictsAtOnce(_ world: World) async throws {
        func file(_ name: String) -> String { world.agent.lists.appending("\(name).plist").string }
        for name in ["pipe", "to-pipe", "to-device", "folder", "socket"] {
            let verdict = try await world.agent.call("check", file(name))
            #expect(verdict.code == 65)
            #expect(verdict.output.hasSuffix("\(ListRejection.notARegularFile.message) [not-a-regular-file]\n"))
        }
        let dangling = try await world.agent.call("check", file("dangling"))
        #expect(dangling.code == 65)
        expectContains(dangling.output, "leads nowhere")
        expectContains(
            try await world.agent.call("check", "--json", file("missing")).output, "There is no such file.")
        for name in ["pipe", "folder", "dangling", "loop"] {
            let list = try await world.agent.call("list", "\(name).plist")
            #expect(list.code == 1)
            expectContains(list.messages, "\(name).plist has no good version: ")
        }
    }

    /// As many entries, and as much text in them, as a list may have.
    private static let largest: [UInt8] = {
        let url = "http://10.0.0.1/" + String(repeating: "x", count: 286)
        return BinaryList.bytes(
            of: [
                BinaryList.array(repeating: 50_000), [0x5F, 0x11] + BinaryList.bigEndian(url.utf8.count, 2) + url.utf8,
            ], referenceSize: 2)
    }()

    private static func put(_ bytes: [UInt8], _ folder: FilePath, _ name: String) throws {
        try write(bytes, to: folder.appending("\(name).plist"))
    }

    /// - Returns: The verdicts that there are to be, by name.
    private static func dropOddFiles(_ folder: FilePath) throws -> [String: ListRejection] {
        func path(_ name: String) -> String { folder.appending("\(name).plist").string }
        try put([], folder, "sparse")
        try #require(truncate(path("sparse"), 1 << 30) == 0)
        try #require(symlink("loop.plist", path("loop")) == 0)
        try #require(symlink("/nowhere/a.plist", path("dangling")) == 0)
        var expected: [String: ListRejection] = [
            "sparse": .tooLarge(limit: .mebibytes(8)), "loop": .unreadable("Too many levels of symbolic links"),
            "dangling": .unreadable("it is a symbolic link that leads nowhere"),
        ]
        if geteuid() != 0 {
            try put([], folder, "unreadable")
            try #require(chmod(path("unreadable"), 0) == 0)
            expected["unreadable"] = .unreadable("Permission denied")
        }
        // These are no lists at all, and must hold nothing up.
        try makeSpecialFiles { folder.appending("\($0).plist").string }
        return expected
    }

    /// A pipe, a socket, a folder, and links to a pipe and to a device.
    private static func makeSpecialFiles(_ path: (String) -> String) throws {
        try #require(mkfifo(path("pipe"), 0o600) == 0)
        try #require(symlink("pipe.plist", path("to-pipe")) == 0)
        try #require(symlink("/dev/zero", path("to-device")) == 0)
        try #require(mkdir(path("folder"), 0o755) == 0)
        try #require(mknod(path("socket"), S_IFSOCK | 0o600, 0) == 0)
    }

    @Test("a parser that dies costs the agent nothing but the list that it had, which keeps its last version")
    func deadParser() async throws {
        try await World.with { plain in
            let world = try await plain.parsing(
                by: """
                    list=$(cat)
                    case $list in *Fatal*) kill -SEGV $$ ;; esac
                    printf %s "$list" | '\(BuiltProducts.path("syncagent-parse"))' "$@"
                    """)
            try world.drop(["Mail"])
            try await world.agent.whileRunning { [world] agent in
                try await world.published(["Mail"])
                try world.drop(["Fatal"])
                try world.drop(["Fatal"], as: "new.plist")
                try world.drop(["Maps"], as: "other.plist")
                try await world.published(["Maps"], as: "other.plist")
                let report = try await world.agent.status { report in
                    report.lists.map(\.state) == ["last-good", "rejected", "ok"]
                }
                let died = ListRejection.parserDied(signal: "SIGSEGV").message
                #expect(report.lists.prefix(2).allSatisfy { $0.error == died })
                #expect(report.pid == Int(agent.value))
                try world.drop(["Mail", "Notes"])
                try await world.published(["Mail", "Notes"])
            }
        }
    }

    @Test("a list keeps its last version while a folder is in its place")
    func folderInPlace() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try world.drop(["Maps"], as: "other.plist")
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                let list = world.agent.lists.appending("apps.plist").string
                try #require(unlink(list) == 0 && mkdir(list, 0o755) == 0)
                try await world.agent.status { $0.lists.first?.state == "last-good" }
                let status = try await world.agent.call("status")
                #expect(status.code == 1)
                expectContains(status.output, "It is not a regular file")
                #expect(try await world.agent.call("sync", "--wait").code == 1)
                try await world.published(["Mail"])
                try #require(rmdir(list) == 0)
                try await world.agent.status { $0.lists.map(\.name) == ["other.plist"] && $0.inSync }
            }
        }
    }

    @Test("a file that goes on growing is rejected after lists.settleMax, and is a list when it is whole")
    func growing() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "500ms").setting("SYNCAGENT_LISTS_SETTLE_MAX", "500ms")
            try await world.agent.whileRunning { _ in
                let file = try FileDescriptor.open(
                    world.agent.lists.appending("growing.plist"), .writeOnly, options: [.create],
                    permissions: [.ownerReadWrite])
                defer { try? file.close() }
                // On a busy machine it may stand still for long enough to be read: it is no list until its end.
                let beginning = Array("( ".utf8)
                _ = try file.writeAll(beginning)
                let report = try await withThrowingTaskGroup(of: StatusReport?.self) { group in
                    group.addTask {
                        while !Task.isCancelled {
                            for _ in 1...1000 {
                                _ = try file.writeAll("\n".utf8)
                                await Task.yield()
                            }
                            try file.resize(to: Int64(beginning.count))
                            try file.seek(offset: 0, from: .end)
                        }
                        return nil
                    }
                    group.addTask {
                        try world.drop(["Maps"], as: "good.plist")
                        return try await world.agent.status(within: .seconds(60)) { report in
                            report.lists.map(\.state) == ["ok", "rejected"] && report.lists[0].ready == 1
                                && report.lists[1].error == ListRejection.stillBeingWritten.message
                        }
                    }
                    let report = try await group.next() ?? nil
                    group.cancelAll()
                    return report
                }
                #expect(report != nil)
                _ = try file.writeAll("\"\(world.origin.iconURL("Mail"))\" )\n".utf8)
                try await world.published(["Mail"], as: "growing.plist")
            }
        }
    }
}
