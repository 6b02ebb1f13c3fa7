// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Folders that others prepared")
struct FolderTrustTests {
    /// A cache with a generation in it, and a folder outside that nobody is to touch.
    private func withCache(_ body: (FilePath, Canary) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            try makeFolder(path)
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            _ = try FolderLock(in: cache.folder.descriptor, at: path)
            let canary = try Canary(folder.appending("canary"))
            try await body(path, canary)
            try canary.check()
        }
    }

    private static func expectRefusal(
        _ path: FilePath, _ words: String..., at name: String, from location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: FolderError.self, sourceLocation: location) { try CacheFolder(path).checkTrust() }
        let place = "\(path.pushing(FilePath(name))) "
        for word in [place] + words {
            #expect(error?.description.contains(word) == true, "\(error as Any)", sourceLocation: location)
        }
    }

    private static let folders = [
        "icons", "icons/ab", "by-url", "by-url/cd", "staging", "generations", "lists",
    ]
    private static let files = ["manifest.json", "generations/1.json", "CACHEDIR.TAG", "lock"]

    @Test("folders that the agent made, and a cache behind a link, are trusted")
    func own() async throws {
        try await withCache { path, _ in
            try CacheFolder(path).checkTrust()
            for mode: mode_t in [0o750, 0o700, 0o2755] {
                chmod(path.string, mode)
                try CacheFolder(path).checkTrust()
            }
            let link = path.removingLastComponent().appending("link")
            try #require(symlink(path.string, link.string) == 0)
            try CacheFolder(link).checkTrust()
        }
    }

    @Test(
        "a folder or file that is a symbolic link, or of another kind, is refused by its name, and nothing waits for it"
    )
    func kinds() async throws {
        try await withCache { path, canary in
            for name in Self.folders + Self.files {
                let isFile = Self.files.contains(name)
                let place = path.pushing(FilePath(name)).string
                let aside = path.appending("aside").string
                try #require(rename(place, aside) == 0)
                try #require(symlink(isFile ? canary.file.string : canary.path.string, place) == 0)
                Self.expectRefusal(path, "is a symbolic link", "remove it", at: name)
                try #require(unlink(place) == 0 && mkfifo(place, 0o600) == 0)
                Self.expectRefusal(path, "is a pipe", "remove it", at: name)
                try #require(unlink(place) == 0)
                try #require((isFile ? mkdir(place, 0o755) : mknod(place, S_IFREG | 0o644, 0)) == 0)
                Self.expectRefusal(path, isFile ? "is a folder" : "is a file", "remove it", at: name)
                try #require((isFile ? rmdir(place) : unlink(place)) == 0 && rename(aside, place) == 0)
                try CacheFolder(path).checkTrust()
            }
        }
    }

    @Test("a folder that others may write to is refused with advice, also with a sticky bit")
    func writable() async throws {
        try await withCache { path, _ in
            for name in ["", "icons", "icons/ab", "staging", "lists", "manifest.json", "lock"] {
                let place = path.pushing(FilePath(name)).string
                for mode: mode_t in [0o777, 0o775, 0o757, 0o1777, 0o722] {
                    chmod(place, mode)
                    let words = "is writable by others (mode \(String(mode, radix: 8)))"
                    Self.expectRefusal(path, words, "chmod -R go-w \(path)", at: name)
                    chmod(place, mode & 0o7755)
                    try CacheFolder(path).checkTrust()
                }
            }
        }
    }

    @Test("a folder of another user is refused with advice")
    func owner() async throws {
        try await withCache { path, _ in
            for name in ["", "icons", "by-url/cd", "staging", "CACHEDIR.TAG", "lock"] {
                let place = path.pushing(FilePath(name)).string
                guard chown(place, 12345, 0) == 0 else {
                    print("skipped: giving a file away takes root's rights")
                    return
                }
                Self.expectRefusal(
                    path, "belongs to user 12345", "but syncagent runs as user 0", "remove \(path)", at: name)
                try #require(chown(place, 0, 0) == 0)
            }
        }
    }

    @Test("a folder of root's is to be given to the agent, or to be another one; nothing is to be removed")
    func rootsOwn() {
        let text = "\(FolderError.wrongOwner("/tmp", owner: 0, agent: 7, root: "/tmp"))"
        expectContains(text, "run “sudo chown -R 7 /tmp”", "choose another folder")
        #expect(!text.contains("remove") && !text.contains("sudo -u"))
    }

    @Test("a lock with a second name would be written to there, too: it is refused")
    func hardLink() async throws {
        try await withCache { path, canary in
            try #require(unlink(path.appending("lock").string) == 0)
            try #require(Glibc.link(canary.file.string, path.appending("lock").string) == 0)
            Self.expectRefusal(path, "hard links", at: "lock")
        }
    }

    @Test("files of the state that lead elsewhere are refused", arguments: ["lock"] + StateStore.files)
    func state(name: String) async throws {
        try await withTemporaryFolder { folder in
            let canary = try Canary(folder.appending("canary"))
            let path = folder.appending("state")
            try #require(mkdir(path.string, 0o700) == 0)
            let descriptor = try FileDescriptor.openFolder(path)
            defer { try? descriptor.close() }
            let names = ["lock"] + StateStore.files
            try FolderTrust(root: path).check(descriptor, onlyNames: names)
            for make in [{ symlink($0, $1) }, { Glibc.link($0, $1) }] as [(String, String) -> Int32] {
                try #require(make(canary.file.string, path.appending(name).string) == 0)
                let error = #expect(throws: FolderError.self) {
                    try FolderTrust(root: path).check(descriptor, onlyNames: names)
                }
                #expect(error?.description.hasPrefix("\(path.appending(name)) ") == true)
                try #require(unlink(path.appending(name).string) == 0)
            }
            chmod(path.string, 0o770)
            #expect(throws: FolderError.self) { try FolderTrust(root: path).check(descriptor, onlyNames: names) }
            try canary.check()
        }
    }

    @Test(
        "a socket is put where nobody can put another in its place",
        arguments: [
            (0o700, true), (0o755, true), (0o1777, true), (0o777, false), (0o775, false), (0o757, false),
        ] as [(mode_t, Bool)])
    func socketFolder(mode: mode_t, isGood: Bool) async throws {
        try await withTemporaryFolder { folder in
            chmod(folder.string, mode)
            do {
                try FolderTrust.checkSocketFolder(folder)
                #expect(isGood)
            } catch let error as FolderError {
                #expect(!isGood && error == .unsafeForSocket(folder, owner: geteuid(), mode: mode))
            }
        }
    }
}

/// A folder that must stay as it is.
struct Canary {
    let path: FilePath
    let file: FilePath
    private let text = Array("untouched".utf8)

    init(_ path: FilePath) throws {
        self.path = path
        file = path.appending("file")
        try makeFolder(path)
        try add("file")
    }

    func add(_ name: String) throws {
        try CacheFolder(path).write(text, to: name, mode: [.ownerReadWrite, .groupRead, .otherRead])
    }

    /// Fails if anything in it has changed.
    func check(_ names: Set<String> = ["file"]) throws {
        let folder = try CacheFolder(path)
        #expect(try Set(folder.names(in: ".").map(\.name)) == names)
        for name in names {
            #expect(try FileBytes.read(path.appending(name)) == text)
            let status = try Stat(path.appending(name), followTargetSymlink: false)
            #expect(status.permissions == [.ownerReadWrite, .groupRead, .otherRead])
        }
    }
}
