// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Glibc
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The status without an agent")
struct DiskStatusTests {
    /// The folders of an agent, all of them empty.
    private func withFolders(_ body: @Sendable (AgentFolders) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let folders = AgentFolders(
                lists: folder.appending("lists.d"), cache: folder.appending("cache"), state: folder.appending("state"),
                socket: folder.appending("socket"))
            for path in [folders.lists, folders.cache, folders.state] {
                try AgentFolders.make(path, mode: .ownerReadWriteExecute)
            }
            try await body(folders)
        }
    }

    /// What is otherwise than when the agent read the list.
    enum Difference: CaseIterable {
        case nothing, contents, rules, memory
    }

    @Test(
        "the status without an agent parses only lists that changed since an agent read them",
        arguments: Difference.allCases)
    func known(difference: Difference) async throws {
        try await withFolders { folders in
            let settings = Settings()
            // The file of this list says "1".
            try await CacheFixture(folders.cache).publish(1, ["https://e.org/a": "a"])
            let memo = ListMemo(
                list: difference == .memory ? "other.plist" : "apps.plist", sha256: .of("1"),
                rules: ListLimits(settings.lists).rules + (difference == .rules ? "!" : ""))
            let store = try StateStore(folder: folders.state, clock: AgentClock(), logger: .silent)
            var changes = MemoChanges()
            changes.lists = [memo.list: memo]
            try await store.apply(changes)
            try await store.close()
            try write(difference == .contents ? "2" : "1", to: folders.lists.appending("apps.plist"))

            // What changed a moment ago is not read yet.
            let change = try ListFile(opening: folders.lists.appending("apps.plist"), maxBytes: .mebibytes(1))
            change.close()
            try await waitUntil {
                AgentClock.wallTime.sinceEpoch >= change.fingerprint.changed + .milliseconds(100)
            }
            let report = await DiskStatus(folders: folders, settings: settings, parser: "/nonexistent/parser").report()
            let row = try #require(report.lists.first)
            #expect(report.lists.count == 1 && row.name == "apps.plist" && row.ready == 1)
            #expect(row.state == (difference == .nothing ? "ok" : "last-good"))
            #expect(row.error == nil || difference != .nothing)
        }
    }

    @Test("pauses and mutes are told without an agent, unless their time is over or the state cannot be read")
    func lapsed() async throws {
        try await withFolders { folders in
            let status = DiskStatus(folders: folders, settings: Settings(), parser: "/nonexistent/parser")
            #expect(status.mutes?.mutes == [] && status.staleIcons(of: nil) == [], "nothing was ever stored")
            let now = AgentClock.wallTime
            let store = try StateStore(folder: folders.state, clock: AgentClock(), logger: .silent)
            var values = RememberedValues(
                isPaused: true,
                pauses: [Pause(reason: "metered"), Pause(reason: "over", until: now + .seconds(-1))])
            values.mutes = [
                Mute(.list("a.plist")), Mute(.icon("https://e.org/a"), until: now + .seconds(-1)),
                Mute(.icon("https://e.org/b"), until: now + .seconds(3600)),
            ]
            var changes = MemoChanges()
            changes.values = values
            try await store.apply(changes)
            // As while an agent holds the database.
            #expect(status.mutes == nil && status.staleIcons(of: nil) == nil)
            #expect(await status.report().muted == nil)
            try await store.close()
            #expect(status.mutes?.mutes.map(\.list) == ["a.plist", nil])
            let report = await status.report()
            #expect(report.downloads.pauses.map(\.reason) == ["metered"] && report.muted == 2)
            #expect(report.problems.filter { $0.code == "paused" }.map(\.detail) == ["metered"])
        }
    }

    @Test(
        "a purge is refused while it is unknown what the lists are, unless nothing was ever published",
        arguments: [
            (true, "whole", nil), (true, "gone", "No such file"), (true, "dangling", "apps.plist"),
            (false, "gone", nil),
        ] as [(Bool, String, String?)])
    func purge(isPublished: Bool, lists: String, reason: String?) async throws {
        try await withFolders { folders in
            if isPublished { try await CacheFixture(folders.cache).publish(1, ["https://e.org/a": "a"]) }
            let list = folders.lists.appending("apps.plist")
            switch lists {
            case "gone": try #require(rmdir(folders.lists.string) == 0)
            case "dangling": try #require(symlink("/nonexistent/list", list.string) == 0)
            default: try write("no list", to: list)
            }
            let status = DiskStatus(
                folders: folders, settings: Settings(), parser: BuiltProducts.path("syncagent-parse"))
            let (refusal, readable) = await status.purgeReview()
            #expect(readable.isEmpty)
            #expect((refusal == nil) == (reason == nil))
            if let reason {
                expectContains(try #require(refusal).sentence, "Not purged: eviction is suspended: ", reason)
            }
        }
    }

    @Test(
        "a purge may leave a list to the next agent if its file says all that is published of it",
        arguments: [
            (#"["https://e.org/a"]"#, true), (#"[{"name": "A", "icon": "https://e.org/a"}, {"name": "B"}]"#, true),
            (#"[{"na"#, false), ("[3]", false),
        ])
    func readable(text: String, isReadable: Bool) async throws {
        try await withFolders { folders in
            try await CacheFixture(folders.cache).publish(1, ["https://e.org/a": "a"], list: "a.json")
            try write(text, to: folders.lists.appending("a.json"))
            let status = DiskStatus(
                folders: folders, settings: Settings(), parser: BuiltProducts.path("syncagent-parse"))
            // A file that was just written may not be whole, and is not read.
            try await waitUntil {
                let code = await status.report().lists.first?.code
                let readable = await status.purgeReview().readable
                return code != nil || !readable.isEmpty
            }
            let (refusal, readable) = await status.purgeReview()
            #expect(refusal == nil && readable.contains("a.json") == isReadable)
        }
    }

    @Test("an icon whose image is not on disk is pending, as a starting agent finds it")
    func missing() async throws {
        try await withFolders { folders in
            let cache = try CacheFixture(folders.cache)
            try await cache.publish(1, ["https://e.org/a": "a", "https://e.org/b": "b"])
            try #require(cache.folder.remove(CacheFixture.image("a").path) == nil)
            let status = DiskStatus(folders: folders, settings: Settings(), parser: "/nonexistent/parser")
            let report = await status.report()
            #expect(report.icons.ready == 1 && report.icons.pending == 1 && report.icons.retired == 0)
            #expect(report.cache.images == 1 && !report.inSync)
            #expect(report.lists.map(\.ready) == [1] && report.lists.map(\.pending) == [1])
            #expect(try await status.report(on: "https://e.org/a")?.state == "pending")
            #expect(try await status.report(on: "https://e.org/b")?.state == "ready")
        }
    }

    @Test("a list whose file was removed is not shown any more")
    func removed() async throws {
        try await withFolders { folders in
            try await CacheFixture(folders.cache).publish(1, ["https://e.org/a": "a"])
            // A folder without any list could be one that is not mounted.
            try write("<plist version=\"1.0\"><array/></plist>", to: folders.lists.appending("other.plist"))
            let status = DiskStatus(
                folders: folders, settings: Settings(), parser: BuiltProducts.path("syncagent-parse"))
            try await waitUntil { await status.report().lists.map(\.name) == ["other.plist"] }
            let report = await status.report()
            #expect(report.generation == 1 && !report.inSync)
        }
    }

    @Test("an icon that only a list names which was not published yet is pending")
    func pending() async throws {
        try await withFolders { folders in
            let new: IconURL = "https://e.org/new"
            try await CacheFixture(folders.cache).publish(1, ["https://e.org/a": "a"])
            try write("(\"\(new)\")", to: folders.lists.appending("new.plist"))
            let status = DiskStatus(
                folders: folders, settings: Settings(), parser: BuiltProducts.path("syncagent-parse"))
            try await waitUntil { try await status.report(on: new) != nil }
            let report = try #require(try await status.report(on: new))
            #expect(report.state == "pending" && report.lists == ["new.plist"])
            #expect(report.holds.isEmpty && report.failure == nil)
            #expect(try await status.report(on: new, agent: .held(nil)) == nil, "its lists may be others")
            #expect(try await status.report(on: "https://e.org/other") == nil)
        }
    }

    @Test("images that an agent wrote and named for a publication that did not follow are not retired")
    func unpublished() async throws {
        try await withFolders { folders in
            let cache = try CacheFixture(folders.cache)
            try await cache.publish(1, ["https://e.org/a": "a", "https://e.org/b": "b"])
            try await cache.publish(2, ["https://e.org/a": "a"])
            let image = CacheFixture.image("c")
            // Times of files are rounded.
            let published = try #require(try cache.folder.status(CacheLayout.manifest)).st_mtim
            repeat {
                cache.folder.remove(image.path)
                try cache.folder.write(Array("c".utf8), to: image.path, mode: CacheFolder.imageMode)
            } while try #require(try cache.folder.status(image.path)).st_mtim.tv_nsec == published.tv_nsec
            try cache.folder.link(image.path, to: CacheLayout.byURL("https://e.org/c"))
            let status = DiskStatus(folders: folders, settings: Settings(), parser: "/nonexistent/parser")
            let report = await status.report()
            #expect(report.cache.images == 3 && report.icons.retired == 1)
        }
    }

    @Test("a copy of a cache needs no more than the manifest and what it names")
    func copy() async throws {
        try await withTemporaryFolder { folder in
            let cache = folder.appending("cache")
            try AgentFolders.make(cache, mode: .ownerReadWriteExecute)
            try await CacheFixture(cache).publish(1, ["https://e.org/a": "a"])
            for name in ["generations/1.json", "generations"] {
                try #require(remove(cache.appending(name).string) == 0)
            }
            let folders = AgentFolders(
                lists: folder.appending("none"), cache: cache, state: folder.appending("none"),
                socket: folder.appending("none"))
            let status = DiskStatus(folders: folders, settings: Settings(), parser: "/nonexistent/parser")
            let report = await status.report(agent: .held(nil))
            #expect(report.generation == 1 && report.icons.ready == 1 && report.publication.error == nil)
            #expect(try await status.report(on: "https://e.org/a")?.state == "ready")
        }
    }
}
