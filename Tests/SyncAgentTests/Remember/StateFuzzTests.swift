// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import Fleet
@testable import SyncAgent

/// Whatever is in the database: the agent starts, and no image is lost by it.
@Suite("A damaged state database")
struct StateFuzzTests {
    private static let url: IconURL = "https://example.com/a.png"
    private static let retired: IconURL = "https://example.com/b.png"

    /// A state with a row of each kind, and the image that it is about.
    private static func fill(_ folder: FilePath) async throws {
        let clock = AgentClock()
        var changes = MemoChanges()
        for index in 0..<20 {
            changes.remembered.append(
                IconMemo(
                    url: index == 0 ? url : "\(url)?\(index)", image: .of("x"),
                    packedResponse: PackedResponse(
                        StoredResponse(
                            fields: HTTPFields([("ETag", "\"x\""), ("Cache-Control", "max-age=100")]),
                            requestTime: clock.now, responseTime: clock.now)),
                    freshUntil: clock.now + .seconds(100),
                    failure: IconRecord.Failure(
                        code: .http(503), message: "the server answered 503", attempts: 3, nextAttempt: clock.now),
                    trail: FetchTrail([
                        FetchTrail.Hop(try FetchTarget(url.text)), FetchTrail.Hop(try FetchTarget(retired.text)),
                    ])
                ))
        }
        let health = OriginHealth(failures: 7, waitsUntil: clock.now)
        let rules = ListLimits(Settings().lists).rules
        let failure = RenderFailure(.unsupported, "image/tiff")
        let rejection = RejectionMemo(list: "b.plist", code: "empty-file", message: "empty", isKept: true)
        changes.origins["https://example.com"] = OriginMemo(origin: "https://example.com", health: health)
        changes.lists["apps.plist"] = ListMemo(list: "apps.plist", sha256: .of(url.text), rules: rules)
        changes.rejections["b.plist"] = rejection
        changes.renderFailures[.of("a")] = RenderMemo(image: .of("a"), failure: failure)
        changes.superseded = [1: clock.now]
        changes.values = RememberedValues(
            isPaused: true, holds: [EvictionBrake.Hold(since: clock.now, generation: 1, images: 30, total: 40)],
            folder: FolderIdentity(fileSystem: 1, device: 2, handle: [3]), newestGeneration: 2, purged: 1,
            upstreams: [
                UpstreamMemo(url: "https://u.example", published: clock.now, generation: 4, sha256: .of("m"))
            ])
        let store = try StateStore(folder: folder, clock: clock, logger: .silent)
        try await store.apply(changes)
        try await store.close()
    }

    private static func document(_ url: IconURL, _ word: String) -> AppListDocument {
        let image = AppListDocument.Image(
            path: CacheLayout.image(.of(word), suffix: "png"), sha256: .of(word), bytes: 1, type: "image/png", width: 1,
            height: 1)
        let source = AppListDocument.Source(sha256: .of(url.text), bytes: 1, modified: AgentClock.wallTime)
        return AppListDocument(
            list: "apps.plist", source: source,
            apps: [AppListDocument.App(name: nil, icon: url, download: nil, state: .ready(image))])
    }

    /// Starts an agent's plan with what is in the database, lets a day pass, and stores what it says.
    ///
    /// - Returns: Whether all that was stored came back.
    @discardableResult
    private static func start(in folder: FilePath, _ comment: String) async throws -> Bool {
        let clock = AgentClock()
        let store: StateStore
        do {
            store = try StateStore(folder: folder, clock: clock, logger: .silent)
        } catch {
            Issue.record("\(comment): \(error)")
            return false
        }
        var restored = RestoredState()
        restored.nextGeneration = 3
        for (generation, document) in [(1, document(retired, "y")), (2, document(url, "x"))] {
            let digest = Digest.of(document.json)
            restored.documents[digest] = document
            restored.manifests.append(
                Manifest(
                    generation: generation, published: clock.now,
                    lists: [document.list: Manifest.List(sha256: digest, apps: 1, ready: 1, pending: 0, failed: 0)]))
        }
        let found = store.remembered
        restored.memory = found
        var now = clock.now
        var plan = Reconciler(settings: Settings(), seed: 1, restored: restored, now: now)
        let listed = ListedFolder(
            path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 2, handle: [3]))
        let events: [Reconciler.Event] = [
            .scanned(.listed(listed, present: ["apps.plist"], changed: [:])), .resume(nil),
            .evict(isConfirmed: false),
        ]
        for event in events + Array(repeating: .tick, count: 4) {
            for case .start(.remove(let removal)) in plan.handle([event], now: now) {
                let names = removal.images.map(\.sha256)
                #expect(!names.contains(.of("x")), "\(comment): an image would be removed that a list names")
            }
            _ = (
                plan.status.json.line, plan.evictionSnapshot(now: now).report().json.line,
                plan.report(on: url, now: now)?.json
            )
            now = now + .seconds(4 * 3600)
        }
        #expect(
            plan.report(on: url, now: now)?.path == CacheLayout.image(.of("x"), suffix: "png"),
            "\(comment): an image is lost")
        _ = plan.handle([.stopping], now: now)
        let isWhole = try await store.apply(plan.drainMemoChanges()) == nil
        #expect(isWhole, "\(comment): what was just read is damaged when it is written")
        try await store.close()
        return found.values.hold != nil && found.icons.count == 20 && found.origins.count == 1
    }

    private static let values = [
        "NULL", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9007199254740993", "4000000000000",
        "1e308", "-1e308", "9e999", "''", "'text'", "x''", "x'ff00fe'", "'-1'", "CAST(x'ff' AS TEXT)",
        "zeroblob(100000)", "hex(zeroblob(100000))",
    ]
    private static let jsonValues = [
        "null", "true", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9007199254740993",
        "4000000000000", "1e308", "1e999", "01", "\"\"", "\"text\"", "\"-1\"", "\"\\ud800\"", "\"", "[]", "{}", "[ ]",
        "",
    ]

    @Test("no value in a column of the state database, or in its JSON, is fatal")
    func values() async throws {
        try await withTemporaryFolder { folder in
            try await Self.fill(folder)
            let path = folder.appending("state.sqlite")
            let whole = try CacheFolder(folder).read("state.sqlite")
            #expect(try await Self.start(in: folder, "nothing is changed"))
            let places = ["kind", "key", "json"].flatMap { column in
                Self.values.map { "UPDATE OR IGNORE memos SET \(column) = \($0)" }
            }
            // Values at each place of the JSON, in the layout that it has: most kinds have fewer places. Each place gets
            // a third of the values, and the next two get the others.
            let members = (0..<24).flatMap { place in
                Self.jsonValues.enumerated().filter { ($0.offset + place) % 3 == 0 }.map { _, value in
                    """
                    UPDATE memos SET json = replace(json, (
                        SELECT iif(type IN ('true', 'false'), type, json_quote(atom)) FROM json_tree(memos.json)
                        WHERE type NOT IN ('object', 'array') LIMIT 1 OFFSET \(place)), '\(value)')
                    """
                }
            }
            var changed = 0
            for kind in ["icon", "origin", "list", "rejection", "render", "superseded", "values"] {
                for statement in places + members {
                    try write(whole, to: path)
                    let database = try Database(path)
                    let sql = "\(statement) WHERE kind = '\(kind)'"
                    let isChanged = (try? database.execute(sql)) != nil
                    try database.close()
                    guard isChanged else { continue }
                    changed += 1
                    try await Self.start(in: folder, sql)
                }
            }
            #expect(changed > 250)
        }
    }

    @Test("no byte of the state database is fatal")
    func bytes() async throws {
        try await withTemporaryFolder { folder in
            try await Self.fill(folder)
            let path = folder.appending("state.sqlite")
            let whole = try CacheFolder(folder).read("state.sqlite")
            var generator = SeededGenerator(seed: UInt64(environmentNumber("FUZZ_SEED") ?? 1))
            var restored = 0
            let rounds = environmentNumber("FUZZ_ROUNDS") ?? 150
            for round in 0..<rounds {
                var bytes = whole
                switch round % 4 {
                case 0:
                    // The header, where each byte has a meaning.
                    bytes[round / 4 % 100] = .random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &generator)...)
                default:
                    for _ in 0...Int.random(in: 0..<8, using: &generator) {
                        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                            in: 0...255, using: &generator)
                    }
                }
                try write(bytes, to: path)
                if try await Self.start(in: folder, "round \(round)") { restored += 1 }
            }
            // Most bytes are free space: a database that is whole otherwise is kept.
            #expect(restored > 0 && restored < rounds)
        }
    }

    @Test("a table that disappears from the state database in use is damage")
    func tableGone() async throws {
        try await withTemporaryFolder { folder in
            let memo = IconMemo(
                url: Self.url, image: nil, freshUntil: AgentClock.wallTime, failure: nil)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(try await store.apply(MemoChanges(remembered: [memo])) == nil)
            try await store.dropTable("memos")
            #expect(try await store.apply(MemoChanges(remembered: [memo])) == .damaged)
            #expect(try await store.apply(MemoChanges(forgotten: [memo.url])) == nil)
            try await store.close()
            let again = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(again.remembered.icons.isEmpty)
        }
    }
}

extension StateStore {
    fileprivate func dropTable(_ name: String) throws {
        try database.execute("DROP TABLE \(name)")
    }
}
