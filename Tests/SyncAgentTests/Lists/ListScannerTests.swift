// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Scans of the lists folder")
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
            let outcome = await scanner.scan()
            guard case .listed(_, let present, let changed) = outcome.scan else {
                Issue.record("the folder is unavailable")
                return ([], [:])
            }
            readings.merge(changed) { $1 }
            if outcome.unsettled.isEmpty { return (present, readings) }
        }
    }

    @Test("a list is read once, and again when its file changed")
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

    @Test("a deleted folder that a mount still shows is not an empty one")
    func deleted() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let descriptor = try FileDescriptor.open(lists, .readOnly, options: .directory)
            // Leads to the deleted folder, as a bind mount does.
            var scanner = scanner(FilePath("/proc/self/fd/\(descriptor.rawValue)"))
            guard case .listed = await scanner.scan().scan else { throw Tool.Failure(description: "not listed") }
            try #require(rmdir(lists.string) == 0)
            let scan = await scanner.scan().scan
            try descriptor.close()
            guard case .unavailable(let reason) = scan else { throw Tool.Failure(description: "listed: \(scan)") }
            #expect(reason.hasSuffix("It was deleted below its mount: mount it again, or restart the container"))
        }
    }

    @Test("some of many new lists are reported before all are read; known lists are reported together")
    func rounds() async throws {
        // A round takes as long as some listings of the folder: on a busy machine, few lists may fit into one.
        for count in [20, 200, 2000] {
            let told = try await rounds(of: count)
            let old = Set((0..<5).map { ListName("old\($0).plist") })
            #expect(told[0].isSuperset(of: old) && told.reduce(0) { $0 + $1.count } == count + old.count)
            if told.count > 1 { return }
        }
        Issue.record("all new lists are reported at once")
    }

    /// The lists that each scan reports of a folder with five known lists and so many new ones.
    private func rounds(of count: Int) async throws -> [Set<ListName>] {
        try await withTemporaryFolder { folder in
            let new = Set((0..<count).map { ListName("new\($0).plist") })
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
                let outcome = await scanner.scan(isHasty: true, inRounds: true)
                guard case .listed(_, let present, let changed) = outcome.scan else {
                    throw Tool.Failure(description: "the folder is unavailable")
                }
                #expect(present == new.union(old))
                #expect(outcome.rest.isDisjoint(with: changed.keys) && outcome.rest.isSubset(of: new))
                told.append(Set(changed.keys))
                if outcome.rest.isEmpty { break }
            } while told.count < new.count + old.count
            return told
        }
    }

    @Test("a list with known contents is not parsed again until its contents change")
    func known() async throws {
        try await withTemporaryFolder { folder in
            let known = { (text: String, url: IconURL) in
                KnownList(sha256: Digest.of(text), entries: [AppEntry(icon: url)])
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

    @Test("a change through a memory mapping is found by a thorough scan")
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
                guard case .listed(_, _, let changed) = await scanner.scan(isThorough: true).scan else { return }
                #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/\(digit)"])
                return
            }
            Issue.record("no write through the mapping went unnoticed")
        }
    }

    @Test("an unreadable list is present, and is read as soon as it can be")
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

    @Test("a dangling link is a list, a removed name is none")
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

    @Test("a list whose times are set at every scan is read when its contents stay, and then not parsed again")
    func touched() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let list = lists.appending("a.plist")
            let log = folder.appending("log")
            let script = try parser(in: folder, doing: "touch '\(list)'; echo parsed >>'\(log)'", with: "http")
            try write("(\"http://a/1\")", to: list)
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script), maxBytes: .mebibytes(8))
            #expect(await scanner.scan().unsettled == ["a.plist"])
            // Contents that stay the same for as long as time stamps do are those of a whole file.
            let start = ContinuousClock.now
            try await waitUntil { ContinuousClock.now - start > .milliseconds(60) }
            let settled = await scanner.scan()
            guard case .listed(_, _, let changed) = settled.scan else {
                Issue.record("the folder is unavailable")
                return
            }
            #expect(settled.unsettled.isEmpty)
            #expect(try changed["a.plist"]?.verdict.get().entries.map(\.icon) == ["http://a/1"])
            for _ in 0..<3 {
                try await Tool.run("touch", list.string)
                let outcome = await scanner.scan()
                guard case .listed(_, _, let changed) = outcome.scan else { continue }
                #expect(changed.isEmpty && outcome.unsettled.isEmpty)
            }
            #expect(try String(contentsOfFile: log.string, encoding: .utf8) == "parsed\nparsed\n")
        }
    }

    @Test(
        "a list whose parser failed is parsed again by thorough scans, and by no other one",
        arguments: ["kill -ABRT $$", "exit 3", "echo; exit 0", "exec sleep 600"])
    func doubtful(failure: String) async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let list = lists.appending("a.plist")
            let bad = folder.appending("bad")
            let script = try parser(in: folder, doing: "test ! -e '\(bad)' || { \(failure); }", with: "http")
            try write("(\"http://a/1\")", to: list)
            try write("", to: bad)
            // The parser that sleeps ends by its time limit; the others end by themselves, and are mended later.
            let isLate = failure.hasPrefix("exec")
            let limit: Duration = isLate ? .milliseconds(300) : .seconds(60)
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script, timeout: limit), maxBytes: .mebibytes(8))
            let verdict = try await settled(&scanner).changed["a.plist"]?.verdict
            #expect(verdict?.isDoubtful == true)
            #expect(try await settled(&scanner).changed.isEmpty)
            func changed(isThorough: Bool) async -> ListVerdict? {
                let scan = await scanner.scan(isThorough: isThorough).scan
                return if case .listed(_, _, let changed) = scan { changed["a.plist"]?.verdict } else { nil }
            }
            #expect(await changed(isThorough: true) == verdict)
            guard !isLate else { return }
            try #require(unlink(bad.string) == 0)
            #expect(await changed(isThorough: false) == nil)
            try await Tool.run("touch", list.string)
            #expect(await changed(isThorough: false) == nil, "a program can set its times without end")
            let good = ListVerdict.success(AppList(entries: [AppEntry(icon: "http://a/1")]))
            var last = await changed(isThorough: true)
            // Its times are new: it may be left to the scans that follow.
            if last == nil { last = try await settled(&scanner).changed["a.plist"]?.verdict }
            #expect(last == good)
            #expect(await changed(isThorough: true) == nil)
        }
    }

    @Test("a slow known list takes nothing from the time for new lists")
    func longRound() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            let new = Set((0..<5).map { ListName("new\($0).plist") })
            for name in new { try write("()", to: lists.appending(name.text)) }
            try write("(\"http://a/late\")", to: lists.appending("old.plist"))
            var other = self.scanner(lists)
            let start = ContinuousClock.now
            _ = try await settled(&other)
            // Far longer than all lists take, and no longer than the slow one does.
            let round = max(.milliseconds(500), (ContinuousClock.now - start) * 5)
            let seconds: Double = round / .seconds(1)
            let script = try parser(in: folder, doing: "sleep \(seconds)", with: "late")
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script, timeout: .seconds(600)),
                maxBytes: .mebibytes(8), old: ["old.plist"], round: round)
            let outcome = await scanner.scan(inRounds: true)
            guard case .listed(_, _, let changed) = outcome.scan else {
                Issue.record("the folder is unavailable")
                return
            }
            #expect(outcome.rest.isEmpty && Set(changed.keys) == new.union(["old.plist"]))
        }
    }

    @Test("a slow list is read although each scan finds a new list")
    func slowAmongNew() async throws {
        try await withTemporaryFolder { folder in
            let script = try parser(in: folder, doing: "while :; do :; done", with: "hang")
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            try write("(hang)", to: lists.appending("bad.plist"))
            var scanner = ListScanner(
                folder: lists, parser: ParseHelper(executable: script, timeout: .milliseconds(300)),
                maxBytes: .mebibytes(8))
            for number in 0..<10 {
                try write("()", to: lists.appending("new\(number).plist"))
                let outcome = await scanner.scan(isHasty: true, inRounds: true)
                guard case .listed(_, _, let changed) = outcome.scan else { break }
                if let bad = changed["bad.plist"] {
                    #expect(bad.verdict == .failure(.parserTimeout(limit: "300ms")))
                    return
                }
            }
            Issue.record("it was not read")
        }
    }

    @Test("lists that hang their parser get a verdict each, and no other list waits for all of them")
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
            let start = ContinuousClock.now
            _ = await ParseHelper(executable: script, timeout: .seconds(60)).parse(Array("()".utf8))
            // Far longer than a good list takes; a scan waits for two seconds at most.
            let milliseconds = min(1900, 300 + Int((ContinuousClock.now - start) / .milliseconds(1)) * 10)
            let parser = ParseHelper(executable: script, timeout: .milliseconds(milliseconds))
            var scanner = ListScanner(folder: lists, parser: parser, maxBytes: .mebibytes(8))
            var scans: [[ListName: ListReading]] = []
            var outcome: ListScanner.Outcome
            repeat {
                outcome = await scanner.scan(isHasty: true, inRounds: true)
                guard case .listed(_, _, let changed) = outcome.scan else { break }
                scans.append(changed)
            } while !outcome.unsettled.isEmpty || !outcome.slow.isEmpty
            let told = scans.filter { !$0.isEmpty }.map { $0.keys.sorted() }
            #expect(told.first == ["good.plist"] && told.dropFirst().allSatisfy { $0.count <= 2 })
            let verdicts = scans.reduce(into: [:]) { $0.merge($1) { $1 } }.mapValues(\.verdict)
            let limit = DurationText.format(.milliseconds(milliseconds))
            for name in bad { #expect(verdicts[ListName(name)] == .failure(.parserTimeout(limit: limit))) }
            #expect(verdicts["good.plist"] == .success(AppList()))
        }
    }

    @Test("a cancelled scan starts no other list, and reports nothing", arguments: [false, true])
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
                    await service.scanOnce { _ in scans.withLock { $0 += 1 } }
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

    @Test("a single scan waits for a file that is being written, and keeps the others meanwhile")
    func once() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists.d")
            try makeFolder(lists)
            try write("(\"http://a/1\")", to: lists.appending("a.plist"))
            try write("(\"http://b/1\")", to: lists.appending("b.plist"))
            // The second one changes each time it is read.
            let script = try parser(in: folder, doing: "echo >>'\(lists.appending("b.plist"))'", with: "b/1")
            var settings = Settings().lists
            settings.settle = .milliseconds(10)
            settings.rescan = .milliseconds(300)
            let service = ListService(
                folder: lists, watchProgram: "/nowhere", parseProgram: script, settings: settings, clock: AgentClock(),
                logger: .silent)
            var scans: [ListScan] = []
            await service.scanOnce { scans.append($0) }
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
