// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// When generations were superseded: a row for each.
enum StoredGenerations {
    static let table = """
        CREATE TABLE superseded (
            generation INTEGER PRIMARY KEY NOT NULL,
            elapsed INTEGER NOT NULL,
            boot TEXT,
            -- Without the time that the system slept.
            since_boot INTEGER NOT NULL
        );
        """

    static func store(_ changes: MemoChanges, in database: Database, clock: AgentClock) throws {
        for (generation, time) in changes.superseded {
            let age = StoredAge(of: time, clock: clock)
            try database.run(
                "INSERT OR REPLACE INTO superseded VALUES (?, ?, ?, ?)", [Database.Value(generation)] + age.values)
        }
        for generation in changes.released {
            try database.run("DELETE FROM superseded WHERE generation = ?", [Database.Value(generation)])
        }
    }

    static func load(from database: Database, clock: AgentClock) throws -> [Int: Timestamp] {
        let rows = try StoredRow.all("superseded", in: database) { (try $0.generation(), try $0.age().time(by: clock)) }
        return Dictionary(rows) { $1 }
    }
}
