// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Dispatch
import FoundationEssentials
import Glibc
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The event journal", .timeLimit(.minutes(5)))
struct EventJournalTests {
    private static let time = Sample.time

    private static func event(_ number: Int) -> AgentEvent { .listRemoved(ListName("\(number).plist")) }

    private static func journal(
        _ folder: FilePath, segmentBytes: Int = EventJournal.segmentBytes,
        mostPending: Int = EventJournal.mostPending, boot: String = "boot 1", _ log: RecordedLog? = nil
    ) -> EventJournal {
        EventJournal(
            in: folder, segmentBytes: segmentBytes, mostPending: mostPending, boot: boot,
            logger: log?.logger ?? .silent)
    }

    /// Appends events, and returns when they are written.
    private static func write(_ numbers: ClosedRange<Int>, to journal: EventJournal) async throws {
        let newest = journal.newest
        journal.append(numbers.map(event), at: time)
        try await waitUntil { journal.newest >= newest + numbers.count }
    }

    /// All that a reader gets, without waiting.
    private static func read(_ journal: EventJournal, from start: EventStart = .after(0)) async throws -> [EventRecord]
    {
        var follower = journal.follower(from: start)
        return try await read(&follower)
    }

    private static func read(_ follower: inout EventFollower, limit: Int = .max) async throws -> [EventRecord] {
        var records: [EventRecord] = []
        while records.count < limit,
            let lines = await follower.lines(limit: limit - records.count, atMost: .zero), !lines.isEmpty
        {
            records += try lines.map { line in
                let record = try JSONDecoder().decode(EventRecord.self, from: Data(line.text.utf8))
                #expect(record.id == line.id && (record.kind == "gap") == line.isGap)
                return record
            }
        }
        return records
    }

    private struct Page: Decodable {
        var format: Int
        var events: [EventRecord]
        var next: Int
        var gap: Bool
    }

    private static func page(_ start: EventStart, _ limit: Int, of journal: EventJournal) async throws -> Page {
        let page = await EventPage.read(from: start, limit: limit, of: journal)
        return try JSONDecoder().decode(Page.self, from: Data(page.text.utf8))
    }

    /// Ends without a word what wrote there, as a signal does, once all is written: another journal takes its place.
    private static func reopen(_ folder: FilePath, boot: String = "boot 1") -> EventJournal {
        journal(folder, boot: boot)
    }

    @Test("events are numbered from 1, and the line on disk is the line that readers get")
    func lines() async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder)
            #expect(try await Self.read(journal).isEmpty)
            try await Self.write(1...3, to: journal)
            var follower = journal.follower(from: .after(0))
            let lines = try #require(await follower.lines(atMost: .zero))
            #expect(lines.map(\.id) == [1, 2, 3])
            let text = try String(contentsOfFile: folder.appending("events-0.ndjson").string, encoding: .utf8)
            #expect(text.split(separator: "\n").dropFirst().map(String.init) == lines.map(\.text))
        }
    }

    @Test("a journal that was closed goes on without a gap, also after a start of the machine")
    func closed() async throws {
        try await withTemporaryFolder { folder in
            for (run, boot) in ["boot 1", "boot 1", "boot 2"].enumerated() {
                let journal = Self.journal(folder, boot: boot)
                try await Self.write(2 * run + 1...2 * run + 2, to: journal)
                await journal.close()
            }
            let records = try await Self.read(EventJournal(reading: folder))
            #expect(records.map(\.id) == Array(1...6))
            #expect(records.map(\.list) == (1...6).map { ListName("\($0).plist") })
        }
    }

    @Test("a journal whose files are removed goes on in new ones, and says what is missing", arguments: [false, true])
    func removed(isFolder: Bool) async throws {
        try await withTemporaryFolder { above in
            let folder = above.appending("state")
            try makeFolder(folder)
            let journal = Self.journal(folder)
            try await Self.write(1...3, to: journal)
            var follower = journal.follower(from: .after(2))
            #expect(try await Self.read(&follower).map(\.id) == [3])
            try #require(unlink(folder.appending("events-0.ndjson").string) == 0)
            if isFolder {
                try #require(unlink(folder.appending(EventNumbers.file).string) == 0)
                try #require(rmdir(folder.string) == 0)
                try makeFolder(folder)
            }
            try await Self.write(4...5, to: journal)
            #expect(try await Self.read(&follower).map(\.id) == [4, 5])
            let records = try await Self.read(journal, from: .after(1))
            #expect(records.map(\.id) == [3, 4, 5] && records[0].code == "removed" && records[0].from == 2)
            await journal.close()
            #expect(try await Self.read(EventJournal(reading: folder)).map(\.id) == [4, 5])
        }
    }

    @Test(
        "event numbers go on after a crash, and readers get a gap",
        arguments: [("boot 1", 4, "agent-killed"), ("boot 2", 1_000_001, "machine-stopped")])
    func killed(boot: String, next: Int, cause: String) async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(1...2, to: Self.journal(folder))
            let journal = Self.reopen(folder, boot: boot)
            try await Self.write(next...next, to: journal)
            let records = try await Self.read(journal)
            #expect(records.map(\.id) == [1, 2, next - 1, next])
            #expect(records[2].code == cause && records[2].from == 3 && records[2].through == next - 1)
            #expect(try await Self.read(journal, from: .after(2)).map(\.id) == [next - 1, next])
            #expect(try await Self.read(journal, from: .after(next - 1)).map(\.id) == [next])
            // Who asks for the newest gets them, and no gap before.
            #expect(try await Self.read(journal, from: .last(1)).map(\.id) == [next])
        }
    }

    @Test(
        "a damaged end is cut off and told, and numbers do not go back",
        arguments: [
            "{ \"id\": 4, \"ti", "\0\0\0\0\0\0\0\0\n", "no event\n", "{ \"id\": 99999999999999999999 }\n",
            "{ \"id\": 999999999999999999 }\n",
            "{ \"format\": 1, \"first\": \(Int.max), \"boot\": null, \"after\": null }\n",
        ])
    func damaged(end: String) async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(1...3, to: Self.journal(folder))
            let path = folder.appending("events-0.ndjson")
            let file = try FileDescriptor.open(path, .writeOnly, options: .append)
            try file.closeAfter { _ = try file.writeAll(end.utf8) }
            let journal = Self.reopen(folder)
            try await Self.write(1...1, to: journal)
            let records = try await Self.read(journal)
            #expect(records.map(\.id) == [1, 2, 3, 1_000_000, 1_000_001])
            #expect(records[3].code == "damaged")
            #expect(try !String(contentsOfFile: path.string, encoding: .utf8).contains(end))
        }
    }

    @Test(
        "files that no agent wrote are passed over and replaced",
        arguments: [
            "", "no journal\n", "{ \"format\": 2 }\n",
            "{ \"format\": 1, \"first\": \(Int.max), \"boot\": null, \"after\": null }\n",
        ])
    func foreign(text: String) async throws {
        try await withTemporaryFolder { folder in
            for name in EventJournal.files { try TestSupport.write(text, to: folder.appending(name)) }
            #expect(try await Self.read(EventJournal(reading: folder)).isEmpty)
            let journal = Self.journal(folder)
            try await Self.write(1...1, to: journal)
            #expect(try await Self.read(journal).map(\.id) == [1_000_001])
        }
    }

    @Test("the ring keeps the newest events in a bounded space, and says to slow readers what is gone")
    func rotation() async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder, segmentBytes: 2000)
            var slow = journal.follower(from: .after(0))
            try await Self.write(1...2, to: journal)
            #expect(try await Self.read(&slow).map(\.id) == [1, 2])
            for number in stride(from: 3, to: 400, by: 2) { try await Self.write(number...number + 1, to: journal) }
            let sizes = try EventJournal.files.map { name -> Int in
                try FileManager.default.attributesOfItem(atPath: folder.appending(name).string)[.size] as? Int ?? 0
            }
            #expect(sizes.allSatisfy { $0 < 2600 })
            let records = try await Self.read(&slow)
            let gap = try #require(records.first)
            #expect(gap.code == "rotated" && gap.from == 3)
            let rest = records.dropFirst().map(\.id)
            #expect(rest == Array(try #require(gap.through) + 1...journal.newest) && rest.count > 20)
            #expect(try await Self.read(Self.reopen(folder)).map(\.id) == rest)
            // Who begins with the oldest one misses nothing.
            #expect(try await Self.read(journal).map(\.id) == rest)
        }
    }

    @Test("a journal on disk is read as it always was, and goes on in the same form")
    func form() async throws {
        try await withTemporaryFolder { folder in
            func line(_ id: Int) -> String { Self.event(id).line(id: id, time: "\(Self.time)") }
            let older = "{ \"format\": 1, \"first\": 5, \"boot\": null, \"after\": null }\n" + line(5)
            let newer =
                "{ \"format\": 1, \"first\": 6, \"boot\": \"boot 1\", \"after\": null }\n" + line(6)
                + "{ \"format\": 1, \"first\": 9, \"boot\": \"boot 1\", \"after\": \"too-many\" }\n" + line(9)
                + "{ \"end\": true }\n"
            let numbers = "{ \"format\": 1, \"first\": 6, \"limit\": 1000000 }\n"
            for (name, text) in [("events-3.ndjson", older), ("events-0.ndjson", newer), (EventNumbers.file, numbers)] {
                try TestSupport.write(text, to: folder.appending(name))
            }
            #expect(try await Self.read(EventJournal(reading: folder)).map(\.id) == [5, 6, 8, 9])
            let journal = Self.journal(folder)
            try await Self.write(10...10, to: journal)
            await journal.close()
            #expect(try await Self.read(EventJournal(reading: folder)).map(\.code) == [nil, nil, "too-many", nil, nil])
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: folder.appending(name).string, encoding: .utf8)
            }
            #expect(try text("events-3.ndjson") == older)
            let begin = "{ \"format\": 1, \"first\": 10, \"boot\": \"boot 1\", \"after\": null }\n"
            #expect(try text("events-0.ndjson") == newer + begin + line(10) + "{ \"end\": true }\n")
            #expect(try text(EventNumbers.file) == numbers)
        }
    }

    @Test("a reader goes on over a file that is gone from the middle", arguments: [false, true], [0, 6, 1000])
    func removedFromMiddle(whileRead: Bool, count: Int) async throws {
        try await withTemporaryFolder { folder in
            func path(_ slot: Int) -> String { folder.appending("events-\(slot).ndjson").string }
            let first = Self.journal(folder, segmentBytes: 600)
            while access(path(2), F_OK) != 0 { try await Self.write(1...1, to: first) }
            await first.close()
            if whileRead {
                // The name of the second file is the next one to be used.
                try #require(rename(path(0), path(3)) == 0 && rename(path(2), path(0)) == 0)
            } else {
                try #require(unlink(path(1)) == 0)
            }
            let journal = Self.journal(folder, segmentBytes: 600)
            var follower = journal.follower(from: .after(1))
            var records = try await Self.read(&follower, limit: count)
            for number in 0..<8 { try await Self.write(number...number, to: journal) }
            records += try await Self.read(&follower)
            // Each number is either that of an event, or in a gap.
            var next = 2
            for record in records {
                #expect((record.from ?? record.id) == next, "\(records)")
                next = record.id + 1
            }
            #expect(next == journal.newest + 1)
        }
    }

    @Test("a reader whose position is beyond the newest event is told, and gets all that there are")
    func beyond() async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder)
            try await Self.write(1...2, to: journal)
            let records = try await Self.read(journal, from: .after(7))
            #expect(records.map(\.id) == [0, 1, 2] && records[0].code == "unknown-position")
        }
    }

    @Test("two readers at different places get everything, as it happens, and end with the journal")
    func followers() async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder, segmentBytes: 100_000)
            try await Self.write(1...10, to: journal)
            func all(from start: EventStart) async -> [Int] {
                var follower = journal.follower(from: start)
                var ids: [Int] = []
                while let lines = await follower.lines(atMost: nil) { ids += lines.map(\.id) }
                return ids
            }
            async let early = all(from: .after(0))
            async let late = all(from: .after(8))
            for number in 0..<50 { journal.append((0...number).map(Self.event), at: Self.time) }
            await journal.close()
            let newest = journal.newest
            #expect(newest == 10 + 50 * 51 / 2)
            #expect(await early == Array(1...newest))
            #expect(await late == Array(9...newest))
        }
    }

    @Test("a waiting reader of events returns after its limit, and when it is cancelled")
    func waiting() async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder)
            var follower = journal.follower(from: .now)
            #expect(await follower.lines(atMost: .milliseconds(10)) == [])
            let waiting = Task { [follower] in
                var follower = follower
                return await follower.lines(atMost: nil)
            }
            waiting.cancel()
            let lines = await waiting.value
            #expect(lines == nil)
        }
    }

    @Test(
        "a file that somebody cuts costs what was in it, and the next events are in another", arguments: [-10, 100, 0])
    func cut(length: Int) async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder)
            try await Self.write(1...20, to: journal)
            let path = folder.appending(EventJournal.files[0])
            let size = try path.stat().size
            #expect(truncate(path.string, off_t(length < 0 ? Int(size) + length : length)) == 0)
            var follower = journal.follower(from: .after(0))
            let before = try await Self.read(&follower)
            #expect(before.map(\.id) == (length < 0 ? Array(1...19) : []))
            try await Self.write(21...22, to: journal)
            let after = try await Self.read(&follower)
            #expect(after.map(\.kind) == ["gap", "list-removed", "list-removed"])
            #expect(after.map(\.id) == [20, 21, 22] && after[0].code == "damaged", "\(after)")
        }
    }

    @Test("a file that was cut while no agent had it open is not filled up")
    func cutBeforeStart() async throws {
        try await withTemporaryFolder { folder in
            let first = Self.journal(folder)
            try await Self.write(1...20, to: first)
            let second = Self.reopen(folder)
            #expect(truncate(folder.appending(EventJournal.files[0]).string, 100) == 0)
            try await Self.write(21...22, to: second)
            for name in EventJournal.files.prefix(2) {
                #expect(try !Data(contentsOf: URL(filePath: folder.appending(name).string)).contains(0))
            }
            var follower = second.follower(from: .after(20))
            let lines = try await Self.read(&follower)
            #expect(lines.suffix(2).map(\.kind) == ["list-removed", "list-removed"])
        }
    }

    @Test("a page has as many as asked for, says whether there is a gap, and with what to go on")
    func page() async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(1...5, to: Self.journal(folder))
            let journal = Self.reopen(folder)
            try await Self.write(7...8, to: journal)
            let first = try await Self.page(.after(0), 3, of: journal)
            #expect(first.format == 1 && first.events.map(\.id) == [1, 2, 3] && first.next == 3 && !first.gap)
            let second = try await Self.page(.after(first.next), 3, of: journal)
            #expect(second.events.map(\.id) == [4, 5, 6] && second.next == 6 && second.gap)
            let last = try await Self.page(.after(second.next), 100, of: journal)
            #expect(last.events.map(\.id) == [7, 8] && last.next == 8 && !last.gap)
            let none = try await Self.page(.after(8), 100, of: journal)
            #expect(none.events.isEmpty && none.next == 8 && !none.gap)
            #expect(try await Self.page(.last(0), 100, of: journal).next == 8)
        }
    }

    @Test("the last lines are counted in the files, whatever numbers were left out", arguments: [500, 2 << 20])
    func last(segmentBytes: Int) async throws {
        try await withTemporaryFolder { folder in
            for run in 0..<3 {
                let journal = Self.journal(folder, segmentBytes: segmentBytes, boot: "boot \(run)")
                for _ in 0..<3 { try await Self.write(run...run, to: journal) }
            }
            let journal = EventJournal(reading: folder)
            let all = try await Self.read(journal)
            // Three events of each run, with a gap after those of a machine that stopped.
            try #require(all.count == 11 && all.count { $0.kind == "gap" } == 2)
            for count in 1...12 {
                let found = try await Self.page(.last(count), count, of: journal).events.map(\.id)
                // No gap comes first.
                let expected = all.suffix(count).drop { $0.kind == "gap" }
                #expect(found == expected.map(\.id), "\(count)")
            }
        }
    }

    @Test("too many events at once cost events of icons only, which readers are told at once")
    func tooMany() async throws {
        try await withTemporaryFolder { folder in
            let log = RecordedLog()
            let journal = Self.journal(folder, mostPending: 15, log)
            var follower = journal.follower(from: .after(0))
            let icons: (Int) -> [AgentEvent] = { count in (0..<count).map { .iconRetired("https://a.example/\($0)") } }
            journal.writing.suspend()
            // One turn has more than may wait: nothing else does.
            journal.append([.listRemoved("a.plist")] + icons(20), at: Self.time)
            journal.append(icons(5) + [.evictionHeld(reason: "much at once")], at: Self.time)
            journal.append(icons(3), at: Self.time)
            journal.writing.resume()
            try await waitUntil { journal.newest == 30 }
            let records = try await Self.read(&follower)
            #expect(records.map(\.id) == Array(1...21) + [26, 27, 30])
            #expect(records.first?.kind == "list-removed" && records[22].kind == "eviction-held")
            let gaps = records.filter { $0.kind == "gap" }
            #expect(gaps.map(\.from) == [22, 28] && gaps.map(\.through) == [26, 30])
            #expect(gaps.map(\.code) == ["too-many", "too-many"])
            #expect(log.messages == ["too many events at once: events are dropped"])
            // Nothing was written behind the last gap.
            #expect(try await Self.read(journal, from: .after(30)).isEmpty)
            #expect(Self.reopen(folder).newest == 30)
            journal.append([.paused], at: Self.time)
            try await waitUntil { journal.newest == 31 }
            #expect(try await Self.read(&follower).map(\.id) == [31])
            await journal.close()
            #expect(try await Self.read(EventJournal(reading: folder)).map(\.id) == records.map(\.id) + [31])
        }
    }

    @Test("a journal whose newest file is removed while it is not open goes on in a new one")
    func removedWhileClosed() async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(1...3, to: Self.journal(folder))
            let journal = Self.reopen(folder)
            try #require(unlink(folder.appending("events-0.ndjson").string) == 0)
            journal.append([.paused], at: Self.time)
            try await waitUntil { journal.newest == 5 }
            #expect(try await Self.read(journal, from: .after(1)).map(\.code) == ["removed", nil])
        }
    }

    /// Takes all room on the disk, by a file.
    private static func fill(_ folder: FilePath) throws -> FilePath {
        let filler = folder.appending("filler")
        let file = try FileDescriptor.open(
            filler, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
        while (try? file.writeAll([UInt8](repeating: 1, count: 512))) != nil {}
        try file.close()
        return filler
    }

    @Test("events on a full disk are dropped and reported as a gap")
    func full() async throws {
        try await withTemporaryFolder { folder in
            try await SmallDisk.mounted("size=64k", at: folder) {
                let log = RecordedLog()
                let journal = EventJournal(in: folder, boot: "boot 1", logger: log.logger)
                try await Self.write(1...10, to: journal)
                let filler = try Self.fill(folder)
                // More than what is left in the last page of the file.
                journal.append((0..<200).map(Self.event), at: Self.time)
                journal.append((0..<200).map(Self.event), at: Self.time)
                try await waitUntil { !log.messages.isEmpty }
                #expect(unlink(filler.string) == 0)
                journal.append([.paused], at: Self.time)
                try await waitUntil { journal.newest == 411 }
                let records = try await Self.read(journal)
                #expect(records.filter { $0.kind == "gap" }.map(\.code) == ["not-written"])
                #expect(records.last?.kind == "paused" && records.map(\.id) == records.map(\.id).sorted())
                #expect(Set(records.map(\.id)).count == records.count)
                #expect(
                    log.messages == ["cannot write the event journal: events are dropped", "events are written again"])
            }
        }
    }

    @Test(
        "the event journal recovers once a disk has room again, and says what is missing, without a new event",
        arguments: [false, true])
    func recovery(isFullAtStart: Bool) async throws {
        try await withTemporaryFolder { folder in
            try await SmallDisk.mounted("size=64k", at: folder) {
                let log = RecordedLog()
                func open() -> EventJournal {
                    EventJournal(in: folder, retryInterval: .milliseconds(5), boot: "boot 1", logger: log.logger)
                }
                var journal = open()
                try await Self.write(1...10, to: journal)
                if isFullAtStart { await journal.close() }
                let filler = try Self.fill(folder)
                if isFullAtStart { journal = open() }
                journal.append((0..<200).map(Self.event), at: Self.time)
                // What is left in the last page of the file may do for the mark, also on a full disk.
                try await waitUntil { !log.messages.isEmpty }
                #expect(unlink(filler.string) == 0)
                try await waitUntil { [journal] in log.messages.count == 2 && journal.failure == nil }
                #expect(journal.newest == 210)
                let missing = try await Self.read(journal, from: .after(10))
                #expect(missing.last?.kind == "gap" && missing.last?.code == "not-written")
                #expect(missing.last?.id == 210)
                journal.append([.paused], at: Self.time)
                try await waitUntil { [journal] in journal.newest == 211 }
                let records = try await Self.read(journal)
                #expect(records.filter { $0.kind == "gap" }.map(\.code) == ["not-written"])
                #expect(records.last?.kind == "paused" && records.map(\.id) == records.map(\.id).sorted())
                #expect(
                    log.messages == ["cannot write the event journal: events are dropped", "events are written again"])
            }
        }
    }

    @Test("a missing folder of the event journal loses events, and nothing else")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            let state = folder.appending("state")
            let journal = Self.journal(state)
            journal.append([.paused], at: Self.time)
            var follower = journal.follower(from: .after(0))
            #expect(await follower.lines(atMost: .zero) == [])
            try makeFolder(state)
            try await waitUntil {
                journal.append([.resumed], at: Self.time)
                return journal.newest > 0
            }
            await journal.close()
        }
    }
}
