// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import HTTPRules
import Reports
import SyncAgent
import SyncPlan
import SystemPackage
import TestSupport
import Testing

/// The database is of one process; what is seeded into it is what a damaged disk or a curious person leaves.
@Suite("A state database with any contents")
struct DatabaseTests {
    private let rounds = getenv("FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 30

    @Test("an agent starts, decides and reports with any values in its state database")
    func values() async throws {
        try await withTemporaryFolder { folder in
            let whole = try await Self.whole(in: folder)
            var generator = SeededGenerator(seed: 2026)
            for round in 0..<rounds {
                try Self.write(whole, to: folder)
                let statements = (0...generator.next() % 4).map { _ in Lie.random(using: &generator).sql }
                let database = try Database(folder.appending("state.sqlite"))
                // What a column does not take is no lie that can be there.
                for statement in statements { try? database.execute(statement) }
                try database.close()
                try await start(in: folder, "round \(round): \(statements)")
            }
        }
    }

    @Test("an agent starts, decides and reports with any bytes in its state database")
    func bytes() async throws {
        try await withTemporaryFolder { folder in
            let whole = try await Self.whole(in: folder)
            var generator = SeededGenerator(seed: 2027)
            for round in 0..<rounds {
                var bytes = whole
                for _ in 0...generator.next() % 8 {
                    // Half of the changes are where the file and its pages begin.
                    let page = Int(generator.next() % UInt64(bytes.count / 4096)) * 4096
                    let reach = generator.next() & 1 == 0 ? UInt64(112) : 4096
                    bytes[page + Int(generator.next() % reach)] = UInt8(truncatingIfNeeded: generator.next())
                }
                if generator.next() % 16 == 0 { bytes.removeLast(Int(generator.next() % UInt64(bytes.count))) }
                try Self.write(bytes, to: folder)
                try await start(in: folder, "round \(round)")
            }
        }
    }

    /// Starts as the agent does, and asks what it would be asked.
    private func start(in folder: FilePath, _ comment: String) async throws {
        _ = StateStore.read(folder: folder)
        let clock = AgentClock()
        let store: StateStore
        do {
            store = try StateStore(folder: folder, clock: clock, logger: .silent)
        } catch {
            // An agent that cannot use its database ends with a message; nothing here keeps it from that.
            Issue.record("\(error), \(comment)")
            return
        }
        var restored = RestoredState()
        restored.memory = store.remembered
        let now = clock.now
        var reconciler = Reconciler(settings: Settings(), seed: 1, restored: restored, now: now)
        for step in 0..<3 {
            let actions = reconciler.handle([.tick], now: now + .seconds(step * 100_000))
            for case .background(.remember(let changes)) in actions { await Self.apply(changes, to: store) }
        }
        _ = reconciler.status.json.text
        for memo in restored.memory.icons { _ = reconciler.report(on: memo.url, now: now)?.json.text }
        await Self.apply(MemoChanges(remembered: Array(restored.memory.icons)), to: store)
        try? await store.close()
    }

    /// Damage that is only found by writing, as a column of another name, is an error that the agent goes on with.
    private static func apply(_ changes: MemoChanges, to store: StateStore) async {
        do {
            try await store.apply(changes)
        } catch {
            #expect(error is DatabaseError)
        }
    }

    /// The bytes of a database with rows of most kinds.
    private static func whole(in folder: FilePath) async throws -> [UInt8] {
        let clock = AgentClock()
        let store = try StateStore(folder: folder, clock: clock, logger: .silent)
        let now = clock.now
        let response = StoredResponse(
            fields: HTTPFields([("ETag", "\"x\""), ("Cache-Control", "max-age=60")]), requestTime: now,
            responseTime: now)
        let failure = IconRecord.Failure(
            code: .http(503), message: "the server answered 503", attempts: 3, nextAttempt: now + .seconds(60))
        var changes = MemoChanges(remembered: [
            IconMemo(
                url: "https://example.com/a.png", image: Digest.of("a"), packedResponse: PackedResponse(response),
                freshUntil: now + .seconds(60), failure: failure)
        ])
        changes.origins["https://example.com:443"] = OriginMemo(
            origin: "https://example.com:443", health: OriginHealth(failures: 5, waitsUntil: now + .seconds(60)))
        changes.superseded = [1: now, 2: now]
        changes.values = RememberedValues(
            isPaused: true,
            holds: [EvictionBrake.Hold(since: now, generation: 2, images: 30, total: 40)],
            folder: FolderIdentity(fileSystem: 1, device: 2, handle: [1, 2, 3]))
        try await store.apply(changes)
        try await store.close()
        return try [UInt8](Data(contentsOf: URL(filePath: folder.appending("state.sqlite").string)))
    }

    private static func write(_ bytes: [UInt8], to folder: FilePath) throws {
        for name in ["state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal", "state.sqlite.damaged"] {
            unlink(folder.appending(name).string)
        }
        try Data(bytes).write(to: URL(filePath: folder.appending("state.sqlite").string))
    }
}

/// A value where another was written.
private struct Lie {
    var sql: String

    private static let values = [
        "9223372036854775807", "-9223372036854775808", "-1", "0", "1", "4294967296", "NULL", "''", "'x'", "1e308",
        "9e999", "-9e999", "x''", "x'ff00'", "'https://e.org/\u{202E}'", "'data:image/gif;base64,AAAA'",
        "'[{\"url\":\"u\",\"status\":9223372036854775807}]'", "'[]'", "'null'", "'\"\"'", "'true'",
        "'\"https://e.org/\"'", "'\"\\ud800\"'", "'\u{301}'", "CAST(x'ff80' AS TEXT)", "253402300800000",
        "-62167219200001",
    ]

    static func random(using generator: inout SeededGenerator) -> Lie {
        func pick<T>(_ values: [T]) -> T { values[Int(generator.next() % UInt64(values.count))] }
        if generator.next() % 64 == 0 { return Lie(sql: "DROP TABLE memos") }
        let kind = pick(["icon", "origin", "superseded", "values"])
        // Half of the lies are in the layout that the JSON has.
        let isMember = generator.next() & 1 == 0
        let place = """
            json = replace(json, (
                SELECT iif(type IN ('true', 'false'), type, json_quote(atom)) FROM json_tree(memos.json)
                WHERE type NOT IN ('object', 'array') LIMIT 1 OFFSET \(generator.next() % 16)),
            """
        let change = isMember ? "\(place) \(pick(values)))" : "\(pick(["kind", "key", "json"])) = \(pick(values))"
        return Lie(sql: "UPDATE memos SET \(change) WHERE kind = '\(kind)'")
    }
}
