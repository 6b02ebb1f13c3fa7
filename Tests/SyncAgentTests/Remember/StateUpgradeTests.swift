// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Glibc
import HTTPRules
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A database of an earlier version")
struct StateUpgradeTests {
    /// What version 1 had.
    private static let first = """
        CREATE TABLE icon (url TEXT PRIMARY KEY NOT NULL, image TEXT, status INTEGER, response_url TEXT, fields TEXT,
            request_time INTEGER, response_time INTEGER, fresh_until INTEGER NOT NULL, failure TEXT, message TEXT,
            attempts INTEGER, next_attempt INTEGER, trail TEXT) WITHOUT ROWID;
        CREATE TABLE origin (origin TEXT PRIMARY KEY NOT NULL, failures INTEGER NOT NULL, waits_until INTEGER NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE superseded (generation INTEGER PRIMARY KEY NOT NULL, elapsed INTEGER NOT NULL, boot TEXT,
            since_boot INTEGER NOT NULL);
        CREATE TABLE pause (id INTEGER PRIMARY KEY CHECK (id = 1));
        CREATE TABLE hold (id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, images INTEGER NOT NULL,
            total INTEGER NOT NULL, is_confirmed INTEGER NOT NULL, elapsed INTEGER NOT NULL, boot TEXT,
            since_boot INTEGER NOT NULL);
        CREATE TABLE folder (id INTEGER PRIMARY KEY CHECK (id = 1), file_system INTEGER NOT NULL,
            device INTEGER NOT NULL, handle BLOB NOT NULL);
        CREATE TABLE newest (id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL);
        PRAGMA user_version = 1;
        """

    /// What versions 2 to 4 added.
    private static let later = """
        CREATE TABLE list (name TEXT PRIMARY KEY NOT NULL, sha256 TEXT NOT NULL, rules TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE rejection (name TEXT PRIMARY KEY NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL,
            kept INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE upstream (url TEXT PRIMARY KEY NOT NULL, published INTEGER NOT NULL, generation INTEGER NOT NULL,
            manifest TEXT NOT NULL) WITHOUT ROWID;
        PRAGMA user_version = 4;
        """

    private static let image = Digest.of("a")

    private static let icons = """
        INSERT INTO icon VALUES ('https://a.example/“a”', '\(image)', 200, 'https://a.example/“a”',
            'etag: "x"' || char(10) || 'date: y' || char(10), 1795000000001, 1795000000002, 1795000000003,
            'http-503', 'it' || char(8) || 's "x\\y"', 3, 1795000000004,
            '[ { "url": "https://a.example/“a”", "status": 302, "allowedBy": null, "proxy": "p:1" }, '
                || '{ "url": "https://c.example/\\"", "status": null, "allowedBy": "network.allow", "proxy": null } ]');
        INSERT INTO icon (url, status, response_url, fields, request_time, response_time, fresh_until)
            VALUES ('https://b.example', 200, 'https://cdn.example', '', 5, 6, -62167219200000);
        INSERT INTO icon (url, status, fields, request_time, response_time, fresh_until, failure, message, attempts)
            VALUES ('https://c.example', 200, '', 5, 6, 0, 'no-such-code', '', 1);
        """

    private static let rest = """
        INSERT INTO origin VALUES ('https://a.example', 5, 1795000000000);
        INSERT INTO superseded VALUES (4, 300000, NULL, 1000), (5, 0, 'another', 0);
        INSERT INTO pause VALUES (1);
        INSERT INTO hold VALUES (1, 5, 30, 40, 1, 3600000, 'another', 1000);
        INSERT INTO folder VALUES (1, 9223372036854775807, -1, x'00ff1a');
        INSERT INTO newest VALUES (1, 7);
        """

    private static let laterRows = """
        INSERT INTO list VALUES ('a“b.plist', '\(image)', '0.1.0' || char(10) || 'icon');
        INSERT INTO rejection VALUES ('b.plist', 'empty-file', 'It''s “empty”.', 1), ('c.plist', 'code', '', 0);
        INSERT INTO upstream VALUES ('https://u.example', 1795000000000, 9, '\(image)');
        """

    private static func write(_ scripts: [String], to folder: FilePath) throws {
        let database = try Database(folder.appending(StateStore.files[0]))
        for script in scripts { try database.execute(script) }
        try database.close()
    }

    @Test("an earlier state database is taken over with all of its rows", arguments: [true, false])
    func upgrade(isFirst: Bool) async throws {
        try await withTemporaryFolder { folder in
            let scripts = [Self.first, Self.icons, Self.rest]
            try Self.write(isFirst ? scripts : scripts + [Self.later, Self.laterRows], to: folder)
            for _ in 0..<2 {
                let clock = AgentClock()
                let store = try StateStore(folder: folder, clock: clock, logger: .silent)
                #expect(store.lossAtStart == nil)
                try Self.check(store.remembered, isFirst: isFirst, clock: clock)
                try await store.close()
            }
            let database = try Database(folder.appending(StateStore.files[0]))
            #expect(try database.text("SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'") == "memos")
        }
    }

    private static func check(_ found: Remembered, isFirst: Bool, clock: AgentClock) throws {
        func time(_ milliseconds: Int64) -> Timestamp { Timestamp(sinceEpoch: .milliseconds(milliseconds)) }
        let icons = found.icons.sorted { $0.url < $1.url }
        try #require(icons.map(\.url) == ["https://a.example/“a”", "https://b.example", "https://c.example"])
        let response = StoredResponse(
            url: "https://a.example/“a”", fields: HTTPFields([("etag", "\"x\""), ("date", "y")]),
            requestTime: time(1_795_000_000_001), responseTime: time(1_795_000_000_002))
        let failure = IconRecord.Failure(
            code: .http(503), message: "it s \"x\\y\"", attempts: 3, nextAttempt: time(1_795_000_000_004))
        let trail = FetchTrail([
            FetchTrail.Hop(url: "", status: 302, allowedBy: nil, proxy: "p:1"),
            FetchTrail.Hop(url: "https://c.example/\"", status: nil, allowedBy: "network.allow", proxy: nil),
        ])
        #expect(
            icons[0]
                == IconMemo(
                    url: icons[0].url, image: image, response: response, freshUntil: time(1_795_000_000_003),
                    failure: failure, trail: trail))
        let others: [(String?, Timestamp)] = [("https://cdn.example", .distantPast), (nil, time(0))]
        for (icon, (url, freshUntil)) in zip(icons.dropFirst(), others) {
            let response = StoredResponse(url: url, fields: HTTPFields(), requestTime: time(5), responseTime: time(6))
            #expect(
                icon == IconMemo(url: icon.url, image: nil, response: response, freshUntil: freshUntil, failure: nil))
        }

        let health = OriginHealth(failures: 5, waitsUntil: time(1_795_000_000_000))
        #expect(found.origins == [OriginMemo(origin: "https://a.example", health: health)])
        let ages = found.superseded.mapValues { (clock.now - $0).components.seconds }
        #expect(ages.keys.sorted() == [4, 5])
        #expect((300..<600).contains(ages[4] ?? 0) && (0..<300).contains(ages[5] ?? 300))

        let values = found.values
        #expect(values.isPaused && values.newestGeneration == 7)
        #expect(values.folder == FolderIdentity(fileSystem: UInt64(Int64.max), device: .max, handle: [0, 0xFF, 0x1A]))
        let hold = try #require(values.hold)
        #expect(hold.generation == 5 && hold.images == 30 && hold.total == 40 && hold.isConfirmed)
        #expect((3600..<7200).contains((clock.now - hold.since).components.seconds))

        let lists = [ListMemo(list: "a“b.plist", sha256: image, rules: "0.1.0\nicon")]
        let rejections = [
            RejectionMemo(list: "b.plist", code: "empty-file", message: "It's “empty”.", isKept: true),
            RejectionMemo(list: "c.plist", code: "code", message: "", isKept: false),
        ]
        let upstream = UpstreamMemo(
            url: "https://u.example", published: time(1_795_000_000_000), generation: 9, sha256: image)
        #expect(found.lists == (isFirst ? [] : lists) && found.rejections == (isFirst ? [] : rejections))
        #expect(values.upstreams == (isFirst ? [] : [upstream]))
    }

    @Test("an earlier state database with hardly a row is taken over")
    func empty() async throws {
        try await withTemporaryFolder { folder in
            try Self.write([Self.first, Self.later], to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == nil && store.remembered.values == RememberedValues())
            #expect(store.remembered.icons.isEmpty && store.remembered.superseded.isEmpty)
        }
    }

    @Test(
        "an earlier state database that no agent wrote is set aside",
        arguments: [
            "UPDATE icon SET image = 'nothing'", "UPDATE icon SET fields = NULL",
            "UPDATE icon SET fresh_until = 'soon'", "UPDATE icon SET fields = x'ff'", "UPDATE icon SET trail = '[]'",
            "UPDATE origin SET failures = -1",
            "UPDATE hold SET elapsed = 9223372036854775807", "UPDATE hold SET images = 'many'",
            "UPDATE superseded SET generation = 9223372036854775807 WHERE generation = 4",
            "UPDATE superseded SET since_boot = -1", "UPDATE newest SET generation = -1",
            "UPDATE upstream SET manifest = ''", "UPDATE upstream SET published = 9e999",
            "UPDATE list SET sha256 = x'00'", "DROP TABLE hold",
        ])
    func damaged(sql: String) async throws {
        try await withTemporaryFolder { folder in
            try Self.write([Self.first, Self.later, Self.icons, Self.rest, Self.laterRows, sql], to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == .damaged && store.remembered.icons.isEmpty)
        }
    }
}

@Suite("A database of a later version")
struct LaterStateTests {
    /// Makes the database of a paused agent, and runs these statements on it.
    private static func write(_ statements: String..., to folder: FilePath) async throws {
        var changes = MemoChanges()
        changes.values = RememberedValues(isPaused: true)
        let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
        try await store.apply(changes)
        try await store.close()
        let database = try Database(folder.appending(StateStore.files[0]))
        for statement in statements { try database.execute(statement) }
        try database.close()
    }

    @Test("a state database of version 5 has the same table, and is taken over")
    func fifth() async throws {
        try await withTemporaryFolder { folder in
            try await Self.write("PRAGMA user_version = 5", to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == nil && store.remembered.values.isPaused)
            try await store.close()
            let upgraded = try Database(folder.appending(StateStore.files[0]))
            #expect(try StateStore.version(of: upgraded) == StateStore.version)
            try upgraded.close()
        }
    }

    @Test("a state database of a later version is read as far as it is known", arguments: [0, 1])
    func later(ahead: Int) async throws {
        try await withTemporaryFolder { folder in
            try await Self.write(
                "INSERT INTO memos VALUES ('unknown', '', '')",
                "PRAGMA user_version = \(StateStore.version + ahead)",
                "UPDATE memos SET json = json_set(json, '$.values.unknown', 1) WHERE kind = 'values'",
                "INSERT INTO memos VALUES ('icon', 'u', '[ null, 7, null, null, null, [ 1 ] ]')",
                to: folder)
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            #expect(store.lossAtStart == (ahead == 0 ? .damaged : nil))
            #expect(store.remembered.values.isPaused == (ahead == 1))
            #expect(store.remembered.icons.map(\.url) == (ahead == 1 ? ["u"] : []))
        }
    }
}
