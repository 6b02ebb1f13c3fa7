// SPDX-License-Identifier: GPL-2.0-only
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite("Watching a folder", .timeLimit(.minutes(5)))
struct WatchCommandTests {
    /// What can be done in a folder that has a file `there`.
    private static let deeds: [(name: String, deed: @Sendable (FilePath) throws -> Void)] = [
        ("an empty file is made", { try write("", to: $0.appending("new")) }),
        ("a file is written", { try write("more", to: $0.appending("there")) }),
        ("a file is written and stays open", { try writeKeepingOpen($0.appending("there")) }),
        ("a file is renamed", { try $0.appending("there").move(to: $0.appending("elsewhere")) }),
        ("a file is moved away", { try $0.appending("there").move(to: $0.removingLastComponent().appending("out")) }),
        ("a file is moved in", { try $0.removingLastComponent().appending("beside").move(to: $0.appending("in")) }),
        ("a file is removed", { try check(unlink($0.appending("there").string)) }),
        ("a file gets other permissions", { try check(chmod($0.appending("there").string, 0o600)) }),
        ("a file gets another time", { try check(utimes($0.appending("there").string, nil)) }),
        (
            "a hard link is made",
            { try check(link($0.removingLastComponent().appending("beside").string, $0.appending("link").string)) }
        ),
        ("a symbolic link is made", { try check(symlink("nowhere", $0.appending("link").string)) }),
        ("a folder is made", { try makeFolder($0.appending("folder")) }),
        ("the folder gets other permissions", { try check(chmod($0.string, 0o700)) }),
    ]

    @Test("each kind of change in a folder is reported", arguments: deeds.indices)
    func change(index: Int) async throws {
        try await withFolder { folder in
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try Self.deeds[index].deed(folder)
                #expect(try await watch.next() == "changed", "\(Self.deeds[index].name)")
            }
            #expect(status == .exited(0))
        }
    }

    /// Ways to change a list that cause no event in its folder: what is there before, and what is done.
    private static let silentDeeds: [(name: String, before: @Sendable (FilePath) throws -> Void, deed: Deed)] = [
        ("the target of a link is written", makeLink, { try write("more", to: $0.beside("beside")) }),
        ("the target of a link is replaced", makeLink, { try $0.beside("other").move(to: $0.beside("beside")) }),
        ("the target of a link is removed", makeLink, { try check(unlink($0.beside("beside").string)) }),
        (
            "a link on the way to the target is changed", makeTwoLinks,
            { try $0.beside("next").move(to: $0.beside("current")) }
        ),
        (
            "a list is written by another hard link",
            { try check(Glibc.link($0.beside("beside").string, $0.appending("a.plist").string)) },
            { try write("more", to: $0.beside("beside")) }
        ),
    ]

    private typealias Deed = @Sendable (FilePath) throws -> Void

    @Sendable private static func makeLink(_ folder: FilePath) throws {
        try write("other", to: folder.beside("other"))
        try check(symlink("../beside", folder.appending("a.plist").string))
    }

    @Sendable private static func makeTwoLinks(_ folder: FilePath) throws {
        try check(symlink("../current", folder.appending("a.plist").string))
        try check(symlink("beside", folder.beside("current").string))
        try check(symlink("nowhere", folder.beside("next").string))
    }

    @Test("a change of a list that causes no event in its folder is reported", arguments: silentDeeds.indices)
    func silentChange(index: Int) async throws {
        try await withFolder { folder in
            try Self.silentDeeds[index].before(folder)
            try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try Self.silentDeeds[index].deed(folder)
                #expect(try await watch.next() == "changed", "\(Self.silentDeeds[index].name)")
            }
        }
    }

    @Test("the watch reports one event once, and the next one too")
    func single() async throws {
        try await withFolder { folder in
            try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                for mode: mode_t in [0o600, 0o640, 0o644] {
                    try check(chmod(folder.appending("there").string, mode))
                    #expect(try await watch.next() == "changed")
                }
                #expect(try await watch.recordsUntilMoved(folder) == ["lost move-self"])
            }
        }
    }

    @Test("a thousand new files at once are reported, also by a helper that was stopped", arguments: [false, true])
    func burst(isStopped: Bool) async throws {
        try await withFolder { folder in
            try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                for round in 0..<3 {
                    // A helper that stands still has them all to read at once.
                    if isStopped { try watch.send(.suspend) }
                    for number in 0..<1000 { try write("", to: folder.appending("\(round)-\(number)")) }
                    if isStopped { try watch.send(.resume) }
                    #expect(try await watch.next() == "changed")
                }
                let records = try await watch.recordsUntilMoved(folder)
                #expect(records.last == "lost move-self")
                #expect(records.dropLast().allSatisfy { $0 == "changed" })
                if isStopped { #expect(records.count < 100) }
            }
        }
    }

    @Test("more events than the kernel keeps are reported as an overflow, and later ones as changes")
    func overflow() async throws {
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let count = try #require(Int(limit.dropLast()))
        try await withFolder { folder in
            try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try watch.send(.suspend)
                // Two changes in turn, because one that is like the last is not kept.
                for number in 0...count {
                    try check(chmod(folder.appending(number.isMultiple(of: 2) ? "there" : "other").string, 0o600))
                }
                try watch.send(.resume)
                var record = try await watch.next()
                while record == "changed" { record = try await watch.next() }
                #expect(record == "overflow")
                try check(chmod(folder.appending("there").string, 0o644))
                #expect(try await watch.next() == "changed")
            }
        }
    }

    @Test("a folder that is deleted is lost")
    func deletion() async throws {
        try await withFolder { folder in
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try FileManager.default.removeItem(atPath: folder.string)
                let records = try await watch.rest()
                #expect(Set(records.dropLast()) == ["changed"])
                #expect(records.last == "lost delete-self")
            }
            #expect(status == .exited(0))
        }
    }

    @Test("a folder that is moved is lost, even if another takes its name")
    func move() async throws {
        try await withFolder { folder in
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try folder.move(to: FilePath("\(folder).old"))
                try makeFolder(folder)
                #expect(try await watch.rest() == ["lost move-self"])
            }
            #expect(status == .exited(0))
        }
    }

    @Test("the watch answers a question after the changes before it")
    func question() async throws {
        try await withFolder { folder in
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try await watch.ask()
                #expect(try await watch.next() == "alive")
                try write("", to: folder.appending("new"))
                try await watch.ask()
                #expect(try await watch.next() == "changed")
                var record = try await watch.next()
                while record == "changed" { record = try await watch.next() }
                #expect(record == "alive")
            }
            #expect(status == .exited(0))
        }
    }

    @Test("a renamed parent of the watched folder is noticed at the next question", arguments: [false, true])
    func parent(isReplaced: Bool) async throws {
        try await withFolder { folder in
            let parent = folder.appending("parent")
            try makeFolder(parent)
            let watched = parent.appending("watched")
            try makeFolder(watched)
            let status = try await withWatch(watched.string) { watch in
                #expect(try await watch.next() == "ready")
                try parent.move(to: folder.appending("elsewhere"))
                if isReplaced { for path in [parent, watched] { try makeFolder(path) } }
                try await watch.ask()
                #expect(try await watch.rest() == ["lost replaced"])
            }
            #expect(status == .exited(0))
        }
    }

    @Test("a mount over the watched folder ends the watch, a mount elsewhere does not")
    func mountOver() async throws {
        try await withFolder { folder in
            let other = folder.removingLastComponent().appending("other")
            try makeFolder(other)
            guard mount("tmpfs", other.string, "tmpfs", 0, "size=64k") == 0 else {
                print("skipped: mounting a file system takes root's rights")
                return
            }
            defer { umount2(other.string, Int32(MNT_DETACH)) }
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try check(umount2(other.string, 0))
                try await watch.ask()
                #expect(try await watch.next() == "alive")
                try check(mount("tmpfs", folder.string, "tmpfs", 0, "size=64k"))
                defer { umount2(folder.string, Int32(MNT_DETACH)) }
                #expect(try await watch.rest() == ["lost replaced"])
            }
            #expect(status == .exited(0))
        }
    }

    @Test(
        "a path that is no folder is refused with the name of the error",
        arguments: [("missing", "ENOENT"), ("lists/there", "ENOTDIR"), ("lists/loop", "ELOOP")])
    func refusal(name: String, errno: String) async throws {
        try await withFolder { folder in
            try check(symlink("loop", folder.appending("loop").string))
            let path = folder.removingLastComponent().pushing(FilePath(name))
            let status = try await withWatch(path.string) { watch in
                let records = try await watch.rest()
                #expect(records == ["refused \(errno)"])
            }
            #expect(status == .exited(EX_CANTCREAT))
        }
    }

    @Test("the watch follows a symbolic link to a folder")
    func symbolicLink() async throws {
        try await withFolder { folder in
            let link = folder.removingLastComponent().appending("link")
            try check(symlink("lists", link.string))
            try await withWatch(link.string) { watch in
                #expect(try await watch.next() == "ready")
                try write("", to: folder.appending("new"))
                #expect(try await watch.next() == "changed")
            }
        }
    }

    @Test("the watch ends when its standard input does, and not before")
    func input() async throws {
        try await withFolder { folder in
            let status = try await withWatch(folder.string) { watch in
                #expect(try await watch.next() == "ready")
                try write("", to: folder.appending("new"))
                #expect(try await watch.next() == "changed")
                try await watch.closeInput()
                #expect(try await watch.rest().allSatisfy { $0 == "changed" })
            }
            #expect(status == .exited(0))
        }
    }

    @Test("the watch ends when nobody reads its output", .timeLimit(.minutes(5)))
    func output() async throws {
        try await withFolder { folder in
            let (reader, writer) = try FileDescriptor.pipe()
            try reader.close()
            // Its standard input stays open until it has ended.
            let (silence, voice) = try FileDescriptor.pipe()
            defer { try? voice.close() }
            let result = try await Subprocess.run(
                .path(BuiltProducts.path("syncagent-watch")), arguments: [folder.string],
                input: .fileDescriptor(silence, closeAfterSpawningProcess: true),
                output: .fileDescriptor(writer, closeAfterSpawningProcess: true), error: .string(limit: 4096))
            #expect(result.terminationStatus == .exited(0))
            #expect(result.standardError == "")
        }
    }

    @Test("the watch needs its standard streams", arguments: ["<&-", ">&-", "2>&-"])
    func missingStream(redirection: String) async throws {
        let result = try await Subprocess.run(
            .path("/bin/sh"),
            arguments: ["-c", "exec \"$0\" / \(redirection)", BuiltProducts.path("syncagent-watch").string],
            output: .string(limit: 4096), error: .discarded)
        #expect(result.terminationStatus == .exited(EX_USAGE))
        #expect(result.standardOutput == "")
    }

    @Test("syncagent-watch takes exactly one folder", arguments: [[], ["a", "b"]])
    func usage(arguments: [String]) async throws {
        let result = try await Subprocess.run(
            .path(BuiltProducts.path("syncagent-watch")), arguments: Arguments(arguments),
            output: .string(limit: 4096), error: .string(limit: 4096))
        #expect(result.terminationStatus == .exited(EX_USAGE))
        #expect(result.standardOutput == "")
        #expect(result.standardError == "syncagent-watch: usage: syncagent-watch FOLDER\n")
    }
}

/// Runs the body with a folder `lists` that has two files, beside a file `beside`.
private func withFolder(_ body: (FilePath) async throws -> Void) async throws {
    try await withTemporaryFolder { parent in
        let folder = parent.appending("lists")
        try makeFolder(folder)
        for file in [folder.appending("there"), folder.appending("other"), parent.appending("beside")] {
            try write("text", to: file)
        }
        try await body(folder)
    }
}

/// Leaves the file open until this process ends.
private func writeKeepingOpen(_ path: FilePath) throws {
    _ = try FileDescriptor.open(path, .writeOnly, options: [.append, .closeOnExec]).writeAll("more".utf8)
}

extension FilePath {
    /// A file beside a folder.
    fileprivate func beside(_ name: String) -> FilePath { removingLastComponent().appending(name) }
}
