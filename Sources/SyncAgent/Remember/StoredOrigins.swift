// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// What is remembered of origins that are not well: a row for each.
enum StoredOrigins {
    static let table = """
        CREATE TABLE origin (
            origin TEXT PRIMARY KEY NOT NULL,
            failures INTEGER NOT NULL,
            waits_until INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    static func store(_ changes: MemoChanges, in database: Database) throws {
        for memo in changes.origins {
            try database.run(
                "INSERT OR REPLACE INTO origin VALUES (?, ?, ?)",
                [
                    .text(memo.origin), Database.Value(memo.health.failures),
                    .integer(memo.health.waitsUntil.milliseconds),
                ])
        }
        for origin in changes.forgottenOrigins {
            try database.run("DELETE FROM origin WHERE origin = ?", [.text(origin)])
        }
    }

    static func load(from database: Database) throws -> [OriginMemo] {
        try StoredRow.all("origin", in: database, OriginMemo.init)
    }
}

extension OriginMemo {
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            origin: try row.text("origin"),
            health: OriginHealth(
                failures: min(try row.count("failures"), 1000), waitsUntil: try row.time("waits_until")))
    }
}
