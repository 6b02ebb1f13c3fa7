// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import SyncAgent
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Looking at the lists folder")
struct ListScannerTests {
    private func scanner(_ folder: FilePath) -> ListScanner {
        ListScanner(
            folder: folder,
            parser: ParseHelper(executable: BuiltProducts.path("syncagent-parse"), timeout: .seconds(60)),
            maxBytes: .mebibytes(8))
    }

    /// Scans until nothing is being written any more.
    private func settled(_ scanner: inout ListScanner) async throws -> (
        present: Set<ListName>, changed: [ListName: ListReading]
    ) {
        var readings: [ListName: ListReading] = [:]
        while true {
            let look = await scanner.look()
            guard case .listed(_, let present, let changed) = look.scan else {
                Issue.record("the folder is unavailable")
                return ([], [:])
            }
            readings.merge(changed) { $1 }
            if look.unsettled.isEmpty { return (present, readings) }
        }
    }

    @Test("a file is read once, and again when it changed")
    func change() async throws {
        try await withTemporaryFolder { folder in
            var scanner = scanner(folder)
            try write("(\"http://a/1\")", to: folder.appending("a.plist"))
            #expect(try await settled(&scanner).changed.keys.sorted() == ["a.plist"])
            #expect(try await settled(&scanner).changed.isEmpty)
            try write("(\"http://a/2\")", to: folder.appending("a.plist"))
            let changed = try await settled(&scanner).changed
            #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/2"])
        }
    }

    @Test("new lists are told before all of them are read; lists that were there are told together")
    func rounds() async throws {
        try await withTemporaryFolder { folder in
            let new = Set((0..<20).map { ListName("new\($0).plist") })
            let old = Set((0..<5).map { ListName("old\($0).plist") })
            for name in new.union(old) { try write("(\"http://a/\(name)\")", to: folder.appending(name.text)) }
            // From then on none of them is young enough to be still being written.
            var other = scanner(folder)
            _ = try await settled(&other)
            var scanner = ListScanner(
                folder: folder, parser: ParseHelper(executable: BuiltProducts.path("syncagent-parse")),
                maxBytes: .mebibytes(8), old: old, round: .zero)
            var told: [Set<ListName>] = []
            repeat {
                let look = await scanner.look(isHasty: true, inRounds: true)
                guard case .listed(_, let present, let changed) = look.scan else {
                    Issue.record("the folder is unavailable")
                    return
                }
                #expect(present == new.union(old))
                #expect(look.rest.isDisjoint(with: changed.keys) && look.rest.isSubset(of: new))
                told.append(Set(changed.keys))
                if look.rest.isEmpty { break }
            } while told.count < 25
            #expect(told[0].isSuperset(of: old) && told[0].count < 25)
            #expect(told.count > 1 && told.reduce(Set()) { $0.union($1) } == new.union(old))
        }
    }

    @Test("what is known of a file is not read from it again, until it says something else")
    func known() async throws {
        try await withTemporaryFolder { folder in
            let known = { (text: String, url: IconURL) in
                KnownList(sha256: Digest.of(text), list: AppList(entries: [AppEntry(icon: url)]))
            }
            var scanner = ListScanner(
                folder: folder, parser: ParseHelper(executable: BuiltProducts.path("syncagent-parse")),
                maxBytes: .mebibytes(8),
                known: [
                    "a.plist": known("no property list", "http://a/1"), "b.plist": known("", "http://b/1"),
                    "c.plist": known("", "http://c/1"),
                ])
            for name in ["a", "b"] { try write("no property list", to: folder.appending("\(name).plist")) }
            let changed = try await settled(&scanner).changed
            #expect(changed.keys.sorted() == ["a.plist", "b.plist"])
            #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/1"])
            #expect(changed["a.plist"]?.source?.sha256 == Digest.of("no property list"))
            guard case .failure(let rejection) = changed["b.plist"]?.verdict else {
                Issue.record("a file was taken for what another one is known to say")
                return
            }
            #expect(rejection.code == .notAPropertyList)
        }
    }

    @Test("what is written through a mapping is found by a thorough look")
    func mapped() async throws {
        try await withTemporaryFolder { folder in
            var scanner = scanner(folder)
            let list = folder.appending("a.plist")
            try write("(\"http://a/1\")", to: list)
            let file = try FileDescriptor.open(list, .readWrite)
            defer { try? file.close() }
            let memory = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0))
            defer { munmap(memory, 4096) }
            // The first write to a page changes the file's time, the next one nothing.
            memory.storeBytes(of: UInt8(ascii: "2"), toByteOffset: 11, as: UInt8.self)
            #expect(try await settled(&scanner).changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/2"])
            for digit in 3...9 {
                memory.storeBytes(of: UInt8(ascii: "0") + UInt8(digit), toByteOffset: 11, as: UInt8.self)
                // A page that the system has written to the disk meanwhile changes the time with its next write.
                guard try await settled(&scanner).changed.isEmpty else { continue }
                guard case .listed(_, _, let changed) = await scanner.look(isThorough: true).scan else { return }
                #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/\(digit)"])
                return
            }
            Issue.record("no write through the mapping went unnoticed")
        }
    }

    @Test("a list that cannot be looked at is there all the same, and is read as soon as it can be")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            var scanner = scanner(folder)
            let list = folder.appending("a.plist")
            try #require(symlink("a.plist", list.string) == 0)
            for _ in 1...2 {
                let (present, changed) = try await settled(&scanner)
                #expect(present == ["a.plist"])
                guard case .failure(let rejection) = changed["a.plist"]?.verdict else {
                    Issue.record("a link to itself was read")
                    return
                }
                #expect(rejection.code == .unreadable)
            }
            try #require(unlink(list.string) == 0)
            try write("()", to: list)
            #expect(
                try await settled(&scanner).changed["a.plist"]?.verdict == .success(AppList(entries: [], problems: [])))
        }
    }

    @Test("a link whose target is gone for now is a list, a name that is gone is none")
    func dangling() async throws {
        try await withTemporaryFolder { folder in
            var scanner = scanner(folder)
            try #require(symlink("/nowhere/a.plist", folder.appending("a.plist").string) == 0)
            try write("()", to: folder.appending("b.plist"))
            #expect(try await settled(&scanner).present == ["a.plist", "b.plist"])
            try #require(unlink(folder.appending("b.plist").string) == 0)
            #expect(try await settled(&scanner).present == ["a.plist"])
        }
    }

    /// Makes a parser that runs a command first where a list has a word in it.
    private func parser(in folder: FilePath, doing command: String, with word: String) throws -> FilePath {
        let script = folder.appending("parser")
        try write(
            """
            #!/bin/sh
            list=$(cat)
            case $list in *\(word)*) \(command) ;; esac
            echo "$list" | \(BuiltProducts.path("syncagent-parse")) "$@"

            """, to: script)
        try #require(chmod(script.string, 0o755) == 0)
        return script
    }

    @Test("a list that was there and takes long to parse takes nothing from the time for new ones")
    func longRound() async throws {
        try await withTemporaryFolder { folder in
            let script = try parser(in: folder, doing: "sleep 2", with: "late")
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let new = Set((0..<5).map { ListName("new\($0).plist") })
            for name in new { try write("()", to: lists.appending(name.text)) }
            try write("(\"http://a/late\")", to: lists.appending("old.plist"))
            var other = self.scanner(lists)
            _ = try await settled(&other)
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script), maxBytes: .mebibytes(8), old: ["old.plist"],
                round: .seconds(2))
            let look = await scanner.look(inRounds: true)
            guard case .listed(_, _, let changed) = look.scan else {
                Issue.record("the folder is unavailable")
                return
            }
            #expect(look.rest.isEmpty && Set(changed.keys) == new.union(["old.plist"]))
        }
    }

    @Test("a list that is slow to parse is read although there is a new one at every look")
    func slowAmongNew() async throws {
        try await withTemporaryFolder { folder in
            let script = try parser(in: folder, doing: "while :; do :; done", with: "hang")
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            try write("(hang)", to: lists.appending("bad.plist"))
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script, timeout: .seconds(1)), maxBytes: .mebibytes(8))
            for number in 0..<10 {
                try write("()", to: lists.appending("new\(number).plist"))
                let look = await scanner.look(isHasty: true, inRounds: true)
                guard case .listed(_, _, let changed) = look.scan else { break }
                if let bad = changed["bad.plist"] {
                    #expect(bad.verdict == .failure(.parserTimeout(limit: "1s")))
                    return
                }
            }
            Issue.record("it was not read")
        }
    }

    @Test("lists that hang their parser have a verdict each, and no other list waits for all of them")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let script = try parser(in: folder, doing: "while :; do :; done", with: "hang")
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let bad = ["1.plist", "2.plist", "3.plist"]
            try write("()", to: lists.appending("good.plist"))
            var other = self.scanner(lists)
            _ = try await settled(&other)
            for name in bad { try write("(hang)", to: lists.appending(name)) }
            let parser = ParseHelper(executable: script, timeout: .milliseconds(1500))
            var scanner = ListScanner(folder: lists, parser: parser, maxBytes: .mebibytes(8))
            var looks: [[ListName: ListReading]] = []
            var look: ListScanner.Look
            repeat {
                look = await scanner.look(isHasty: true, inRounds: true)
                guard case .listed(_, _, let changed) = look.scan else { break }
                looks.append(changed)
            } while !look.unsettled.isEmpty || !look.slow.isEmpty
            let told = looks.filter { !$0.isEmpty }.map { $0.keys.sorted() }
            #expect(told.first == ["good.plist"] && told.dropFirst().allSatisfy { $0.count <= 2 })
            let verdicts = looks.reduce(into: [:]) { $0.merge($1) { $1 } }.mapValues(\.verdict)
            for name in bad { #expect(verdicts[ListName(name)] == .failure(.parserTimeout(limit: "1500ms"))) }
            #expect(verdicts["good.plist"] == .success(AppList()))
        }
    }

    @Test("a look that is given up begins no other list, and tells nothing of any", arguments: [false, true])
    func givenUp(isOnce: Bool) async throws {
        try await withTemporaryFolder { folder in
            let script = try makeScript("echo $$ >> \"$0.pids\"\nexec sleep 600", in: folder)
            let pids = FilePath("\(script).pids")
            try write("", to: pids)
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let names = (1...20).map { ListName("\($0).plist") }
            for name in names { try write("()", to: lists.appending(name.text)) }
            let service = ListService(
                folder: lists, watchProgram: BuiltProducts.path("syncagent-watch"), parseProgram: script,
                settings: Settings().lists, old: Set(names), clock: AgentClock(),
                logger: .silent)
            let scans = Mutex(0)
            let task = Task {
                if isOnce {
                    await service.lookOnce { _ in scans.withLock { $0 += 1 } }
                } else {
                    try? await service.run { _ in scans.withLock { $0 += 1 } }
                }
            }
            func begun() throws -> Int {
                try String(contentsOfFile: pids.string, encoding: .utf8).split(separator: "\n").count
            }
            try await waitUntil { try begun() > 0 }
            task.cancel()
            await task.value
            #expect(scans.withLock(\.self) == 0)
            #expect(try begun() <= 2)
        }
    }

    @Test("looking once waits for a file that is being written, and forgets no other one meanwhile")
    func once() async throws {
        try await withTemporaryFolder { folder in
            try write("(\"http://a/1\")", to: folder.appending("a.plist"))
            try write("(\"http://b/1\")", to: folder.appending("b.plist"))
            var settings = Settings().lists
            settings.settle = .milliseconds(10)
            settings.rescan = .milliseconds(300)
            let service = ListService(
                folder: folder, watchProgram: "/nowhere", parseProgram: BuiltProducts.path("syncagent-parse"),
                settings: settings, clock: AgentClock(), logger: .silent)
            let scans = await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        utimensat(AT_FDCWD, folder.appending("b.plist").string, nil, 0)
                        await Task.yield()
                    }
                }
                defer { group.cancelAll() }
                var scans: [ListScan] = []
                await service.lookOnce { scans.append($0) }
                return scans
            }
            var changed: [ListName: ListReading] = [:]
            for (index, scan) in scans.enumerated() {
                guard case .listed(let folder, let present, let new) = scan else {
                    Issue.record("the folder is unavailable")
                    return
                }
                #expect(present == ["a.plist", "b.plist"] && folder.hasUnread == (index < scans.count - 1))
                changed.merge(new) { $1 }
            }
            #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/1"])
            #expect(changed["b.plist"]?.verdict == .failure(.stillBeingWritten))
        }
    }
}
