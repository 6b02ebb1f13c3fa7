// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPRules
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

@Suite("Paths in a cache folder")
struct CacheFolderTests {
    /// A cache, and a folder beside it.
    private func withCache(_ body: (CacheFixture, Canary) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            try makeFolder(path)
            try await body(CacheFixture(path), Canary(folder.appending("canary")))
        }
    }

    @Test(
        "a folder is taken as a cache if it is empty, has been one, or is a file system of its own",
        arguments: [
            ([], true), (["lost+found"], true), (["CACHEDIR.TAG", "notes"], false), (["lock", "lost+found"], true),
            (["notes"], false), (["lost+found", "notes"], false), (["icons"], false),
            (["lock", "notes"], false), (["lock", "lists", "staging"], true), (["CACHEDIR.TAG", "icons"], true),
        ])
    func isOurs(names: [String], isOurs: Bool) async throws {
        try await withTemporaryFolder { path in
            let folder = try CacheFolder(path)
            for name in names { try makeFolder(path.appending(name)) }
            #expect(try folder.isOurs == isOurs)
        }
    }

    @Test("a folder with the agent's tag is a cache, whatever else is in it; one with another program's tag is not")
    func tag() async throws {
        try await withTemporaryFolder { path in
            let folder = try CacheFolder(path)
            try makeFolder(path.appending("notes"))
            try write("Signature: 8a477f597d28d172789f06886806bc55\n", to: path.appending(CacheLayout.tag))
            #expect(try !folder.isOurs)
            folder.remove(CacheLayout.tag)
            try folder.makeFolder(CacheLayout.staging, mode: .ownerReadWriteExecute)
            #expect(try folder.makeTag(temporary: "staging/x") && folder.isOurs)
        }
    }

    @Test("readers get the permissions of the mode on everything but staging", arguments: [0o755, 0o750] as [UInt32])
    func modes(mode: UInt32) async throws {
        try await withCache { cache, _ in
            try await cache.publish(1, ["http://a/1": "one"])
            let mode = FilePermissions(rawValue: mode)
            #expect(try await Program.run("chmod", "-R", "go-rwx", cache.path.string).code == 0)
            let common = try cache.folder.checkTrust()
            #expect(common == [.ownerReadWriteExecute])
            try cache.folder.setMode(mode, common: common)
            #expect(try cache.path.stat().permissions == mode && cache.folder.checkTrust() == mode)
            let image = CacheLayout.image(.of("one"), suffix: "png")
            for name in [CacheLayout.manifest, CacheLayout.tag, image, CacheLayout.byURL("http://a/1")] {
                let found = try #require(try cache.folder.status(name))
                #expect(found.st_mode & 0o777 == mode.rawValue & 0o444, "\(name)")
            }
            let staging = try #require(try cache.folder.status(CacheLayout.staging))
            #expect(staging.st_mode & 0o777 == 0o700)
            // systemd can close the folder itself before each start: what is in it stays as it is.
            try #require(chmod(cache.path.string, 0o700) == 0 && chmod(cache.path.appending(image).string, 0o400) == 0)
            try cache.folder.setMode(mode, common: try cache.folder.checkTrust())
            #expect(try cache.path.stat().permissions == mode)
            #expect(try (cache.folder.status(image)?.st_mode ?? 0) & 0o777 == 0o400)
            // Without a manifest, the newest generation says what the last run gave; without one, nothing does.
            let generation = cache.path.appending(CacheLayout.generation(1)).string
            try #require(unlink(cache.path.appending(CacheLayout.manifest).string) == 0)
            #expect(try cache.folder.checkTrust() == mode)
            try #require(chmod(generation, 0o400) == 0)
            #expect(try cache.folder.checkTrust() == FilePermissions(rawValue: mode.rawValue & 0o733))
            try #require(unlink(generation) == 0)
            #expect(try cache.folder.checkTrust() == [])
        }
    }

    @Test("a path that leads out of the folder, or is none, is refused by every call")
    func outside() async throws {
        try await withCache { cache, canary in
            let folder = cache.folder
            try folder.write("x".utf8, to: "x", mode: .ownerReadWrite)
            for path in [
                "../canary/file", "icons/../../canary/file", "..", "/etc/passwd", "", "icons//x", "./icons/x",
                "icons/.",
            ] {
                let calls: [() throws -> Void] = [
                    { _ = try folder.create(path, mode: .ownerReadWrite) }, { _ = try folder.open(path) },
                    { try folder.rename("x", to: path) }, { try folder.rename(path, to: "y") },
                    { try folder.link("x", to: path) }, { try folder.link(path, to: "y") },
                    { if let error = folder.remove(path) { throw error } },
                    { try folder.makeFolder(path, mode: .ownerReadWriteExecute) },
                    { _ = try folder.names(in: path) }, { try folder.sync(path) }, { _ = try folder.status(path) },
                ]
                for call in calls {
                    let error = #expect(throws: FileError.self, "\(path)") { try call() }
                    #expect(error?.errno == .invalidArgument)
                }
            }
            try canary.check()
        }
    }

    @Test(
        "a folder that becomes a link while the agent runs is not followed: what needs it fails, and nothing outside changes",
        arguments: ["icons", "by-url", "lists", "generations", "staging"])
    func becomesLink(name: String) async throws {
        try await withCache { cache, canary in
            let before = try await cache.publish(1, ["http://a/1": "one"])
            let image = CacheLayout.image(.of("one"), suffix: "png")
            let document = try #require(before.lists["apps.plist"])
            let plan = RetirementPlan(
                documents: [document.sha256], images: [CacheFixture.image("one")], urls: ["http://a/1"])
            // In the folder outside there is something by each name.
            let names = Set(
                [image, document.document, CacheLayout.byURL("http://a/1"), "generations/1.json", "staging/2"]
                    .compactMap { $0.split(separator: "/").last.map(String.init) })
            for name in names { try canary.add(name) }
            let staged = try await cache.stage("two")
            try #require(rename(cache.path.appending(name).string, cache.path.appending("aside").string) == 0)
            if ["icons", "by-url"].contains(name) {
                try makeFolder(cache.path.appending(name))
                for fan in CacheLayout.fanOut {
                    try #require(symlink(canary.path.string, cache.path.appending("\(name)/\(fan)").string) == 0)
                }
            } else {
                try #require(symlink(canary.path.string, cache.path.appending(name).string) == 0)
            }

            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.moves = [staged]
            publication.links = [("http://a/2", staged.image.path, before: nil)]
            publication.documents = [Self.document]
            let refusal = try #require(await cache.publisher.publish(publication).refusal)
            #expect(refusal.reason.contains("Not a directory") && refusal.reason.contains(name), "\(refusal.reason)")
            _ = await cache.evictor.remove(plan)
            _ = await cache.evictor.release([GenerationRelease(generation: 1)])
            if name == "staging" { await #expect(throws: Shortage.self) { try await cache.stage("three") } }
            try canary.check(names.union(["file"]))
            #expect(try IconCache(at: cache.path).manifest() == before)
        }
    }

    @Test("a pipe by the name of a file is not waited for, and cannot be read")
    func pipe() async throws {
        try await withCache { cache, _ in
            try #require(mkfifo(cache.path.appending("manifest.json").string, 0o644) == 0)
            let file = try cache.folder.open("manifest.json")
            defer { try? file.close() }
            #expect(throws: Errno.illegalSeek) { try FileBytes.read(file) }
        }
    }

    private static let document = AppListDocument(
        list: "new.plist", source: .init(sha256: .of("new"), bytes: 1, modified: Timestamp(sinceEpoch: .seconds(2))),
        apps: [])

    @Test("a path that is no folder has no entries, and an unreadable entry may exist")
    func entries() async throws {
        try await withCache { cache, _ in
            try cache.folder.write("x".utf8, to: "file", mode: .ownerReadWrite)
            for name in ["none", "none/file", "file/file", "icons"] { #expect(try cache.folder.entry(name) == nil) }
            #expect(try cache.folder.entry("file")?.size == 1)
            #expect(throws: FileError.self) { try cache.folder.entry(String(repeating: "x", count: 300)) }
        }
    }

    /// The seconds of the wall clock.
    private static var seconds: Int { Int(AgentClock.wallTime.sinceEpoch.components.seconds) }

    @Test(
        "a folder is touched so that its time is now, or a whole second after the time that it has, if a clock was ahead",
        arguments: [-86_400, -1, 0, 59, 86_400, 400 * 86_400])
    func touch(ahead: Int) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try cache.folder.makeFolder("theme", mode: .ownerReadWriteExecute)
            var last = Self.seconds + ahead
            let time = timespec(tv_sec: last, tv_nsec: 500_000_000)
            try #require(utimensat(AT_FDCWD, path.appending("theme").string, [time, time], 0) == 0)
            for _ in 0..<3 {
                let start = Self.seconds
                try cache.folder.touch("theme")
                let time = try #require(try cache.folder.status("theme")).st_mtim.tv_sec
                #expect(time >= max(last + 1, start) && time <= max(last + 1, Self.seconds))
                last = time
            }
        }
    }

    @Test("a name leads to a file if it is a link to it, or a copy that the agent may have made")
    func names() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let folder = cache.folder
            for (name, text) in [
                ("one", "one"), ("copy", "one"), ("other", "two"), ("longer", "ones"), ("writable", "one"),
                ("private", "one"),
            ] {
                try folder.write(Array(text.utf8), to: "icons/\(name)", mode: CacheFolder.imageMode)
            }
            #expect(chmod(path.appending("icons/writable").string, 0o666) == 0)
            #expect(chmod(path.appending("icons/private").string, 0o400) == 0)
            try folder.link("icons/one", to: "icons/link")
            #expect(symlink("one", path.appending("icons/symbolic").string) == 0)
            let leading = [
                "one", "link", "copy", "other", "longer", "writable", "private", "symbolic", "missing",
            ].filter {
                (try? folder.leads("icons/\($0)", to: "icons/one")) == true
            }
            #expect(leading == ["one", "link", "copy"])
        }
    }

    @Test("an empty folder by the name of a file is replaced; one with something in it stays")
    func folders() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try cache.folder.write(Array("one".utf8), to: "icons/one", mode: .ownerReadWrite)
            try cache.folder.makeFolder("icons/empty", mode: .ownerReadWriteExecute)
            try cache.folder.replaceLink("icons/one", at: "icons/empty", temporary: "staging/1")
            #expect(try cache.folder.read("icons/empty") == Array("one".utf8))
            try cache.folder.makeFolder("icons/full", mode: .ownerReadWriteExecute)
            try cache.folder.write([], to: "icons/full/file", mode: .ownerReadWrite)
            #expect(throws: FileError.self) {
                try cache.folder.replaceLink("icons/one", at: "icons/full", temporary: "staging/1")
            }
            #expect(cache.exists("icons/full/file") && !cache.exists("staging/1"))
        }
    }
}
