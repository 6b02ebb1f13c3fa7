// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The numbers of events", .timeLimit(.minutes(5)))
struct EventNumbersTests {
    private static func journal(_ folder: FilePath, boot: String = "boot 1", _ log: RecordedLog? = nil) -> EventJournal
    {
        EventJournal(in: folder, segmentBytes: 600, boot: boot, logger: log?.logger ?? .silent)
    }

    /// Appends events one by one, so that they fill several files; returns when they are written.
    private static func write(_ count: Int, to journal: EventJournal) async throws {
        for _ in 0..<count {
            let newest = journal.newest
            journal.append([.paused], at: Sample.time)
            try await waitUntil { journal.newest > newest }
        }
    }

    private static func read(_ journal: EventJournal, from start: EventStart = .after(0)) async throws -> [EventRecord]
    {
        let page = await EventPage.read(from: start, limit: 1000, of: journal)
        return try page.lines.map { try JSONDecoder().decode(EventRecord.self, from: Data($0.text.utf8)) }
    }

    /// What happens to a journal while no agent runs.
    enum Mishap: CaseIterable {
        case newestHeader, newestEnd, newestRemoved, allDamaged, allRemoved

        func happen(in folder: FilePath) throws {
            let files = EventRing.names.map { folder.appending($0) }.filter { access($0.string, F_OK) == 0 }
            let newest = try #require(
                files.max { (firstNumber(of: $0) ?? 0) < (firstNumber(of: $1) ?? 0) })
            switch self {
            case .newestHeader: try damage(newest, at: 0)
            case .newestEnd: try #require(truncate(newest.string, off_t(try newest.stat().size) - 5) == 0)
            case .newestRemoved: try #require(unlink(newest.string) == 0)
            case .allDamaged: for file in files { try damage(file, at: 0) }
            case .allRemoved: for file in files { try #require(unlink(file.string) == 0) }
            }
        }

        private func damage(_ path: FilePath, at offset: Int64) throws {
            let file = try FileDescriptor.open(path, .writeOnly)
            try file.closeAfter { _ = try file.writeAll(toAbsoluteOffset: offset, "\0\0\0".utf8) }
        }

        private func firstNumber(of path: FilePath) -> Int? {
            (try? Data(contentsOf: URL(filePath: path.string)))
                .flatMap { $0.firstIndex(of: 0x0A).map($0.prefix(upTo:)) }
                .flatMap { EventMark($0)?.first }
        }
    }

    @Test(
        "numbers of events are never given twice, however often the journal is damaged, and readers are told",
        arguments: Mishap.allCases, [false, true])
    func damagedAgain(mishap: Mishap, isClosed: Bool) async throws {
        try await withTemporaryFolder { folder in
            var given: Set<Int> = []
            var last = 0
            for round in 0..<3 {
                let log = RecordedLog()
                let journal = Self.journal(folder, log)
                // Enough for several files.
                try await Self.write(12, to: journal)
                let records = try await Self.read(journal, from: .after(last))
                let new = records.filter { $0.kind != "gap" }.map(\.id)
                #expect(new.count == 12 && given.isDisjoint(with: new), "\(new) after \(last)")
                #expect((new.first ?? 0) > last)
                if round > 0 {
                    #expect(records.first?.kind == "gap" && records.first?.code == "damaged", "\(records)")
                    #expect(log.messages == ["event journal damaged: events are missing"])
                }
                given.formUnion(new)
                last = try #require(new.last)
                if isClosed { await journal.close() }
                try mishap.happen(in: folder)
            }
        }
    }

    @Test("numbers of events are not given again after a power failure that took those of another million")
    func millions() async throws {
        try await withTemporaryFolder { folder in
            let first = Self.journal(folder)
            try await Self.write(3, to: first)
            // As if events up to this one had not reached the disk.
            try EventNumbers(first: 1, limit: EventNumbers.limit(for: 1_000_001)).write(in: folder)
            let second = Self.journal(folder, boot: "boot 2")
            try await Self.write(1, to: second)
            #expect(try await Self.read(second).last?.id == 2_000_001)
        }
    }

    @Test(
        "numbers of events go on after a huge one that no agent wrote",
        arguments: [EventRing.highest, 999_999_999_999_999, 1 << 53, Int.max])
    func huge(number: Int) async throws {
        try await withTemporaryFolder { folder in
            let mark = "{ \"format\": 1, \"first\": \(number), \"boot\": null, \"after\": null }\n"
            try TestSupport.write(mark, to: folder.appending(EventRing.names[0]))
            var newest = 0
            for run in 1...3 {
                let journal = Self.journal(folder, boot: "boot \(run)")
                try await Self.write(2, to: journal)
                #expect(journal.newest > newest)
                #expect(try await Self.read(journal).last?.id == journal.newest)
                newest = journal.newest
            }
        }
    }

    @Test(
        "numbers of events are reserved by the million",
        arguments: [(1, 1_000_000), (1_000_000, 1_000_000), (1_000_001, 2_000_000)])
    func limit(id: Int, limit: Int) async throws { #expect(EventNumbers.limit(for: id) == limit) }

    @Test(
        "an unreadable file of event numbers counts as missing",
        arguments: ["", "{}", "{ \"format\": 2, \"first\": 1, \"limit\": 5 }"])
    func unreadable(text: String) async throws {
        try await withTemporaryFolder { folder in
            try TestSupport.write(text, to: folder.appending(EventNumbers.file))
            #expect(EventNumbers.read(in: folder) == nil)
            let journal = Self.journal(folder)
            try await Self.write(2, to: journal)
            #expect(try await Self.read(journal).map(\.id) == [1, 2])
            #expect(EventNumbers.read(in: folder)?.limit == 1_000_000)
        }
    }

    @Test("a folder in the place of a journal file is a failure until it is gone", arguments: EventJournal.files)
    func folder(name: String) async throws {
        try await withTemporaryFolder { folder in
            let journal = Self.journal(folder)
            try await Self.write(1, to: journal)
            #expect(journal.failure == nil)
            let path = folder.appending(name).string
            try #require(unlink(path) == 0 || errno == ENOENT)
            try makeFolder(FilePath(path))
            // Each file is written in its turn.
            try await waitUntil {
                journal.append([.paused], at: Sample.time)
                return journal.failure != nil
            }
            let failure = try #require(journal.failure)
            #expect(failure.contains(path) && failure.contains("s a directory"), "\(failure)")
            try #require(rmdir(path) == 0)
            try await waitUntil {
                journal.append([.paused], at: Sample.time)
                return journal.failure == nil
            }
            let ids = try await Self.read(journal).map(\.id)
            #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        }
    }
}
