// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import GRDB
import IconCache
import SyncPlan

extension StateStore {
    /// Stores changes, all of them or none.
    func write(_ changes: MemoChanges) throws {
        try database.write { database in
            let upsert = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO icon
                    (url, image, status, fields, request_time, response_time, fresh_until,
                     failure, message, attempts, next_attempt, trail, response_url)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            for memo in changes.remembered {
                try upsert.execute(arguments: [
                    memo.url.text, memo.image?.hex, memo.response?.status, memo.response?.fields.text,
                    memo.response?.requestTime.milliseconds, memo.response?.responseTime.milliseconds,
                    memo.freshUntil.milliseconds, memo.failure?.code, memo.failure?.message, memo.failure?.attempts,
                    memo.failure?.nextAttempt?.milliseconds, memo.trail?.text, memo.response?.url,
                ])
            }
            let delete = try database.cachedStatement(sql: "DELETE FROM icon WHERE url = ?")
            for url in changes.forgotten { try delete.execute(arguments: [url.text]) }
            try store(changes.origins, forgotten: changes.forgottenOrigins, in: database)
            if let isPaused = changes.isPaused {
                try database.execute(sql: isPaused ? "INSERT OR IGNORE INTO pause VALUES (1)" : "DELETE FROM pause")
            }
            try storeEvictions(changes, in: database)
            if let generation = changes.newestGeneration {
                try database.execute(sql: "INSERT OR REPLACE INTO newest VALUES (1, ?)", arguments: [generation])
            }
            if let folder = changes.folder {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO folder VALUES (1, ?, ?, ?)",
                    arguments: [
                        Int64(bitPattern: folder.fileSystem), Int64(bitPattern: folder.device), Data(folder.handle),
                    ])
            }
        }
    }

    private nonisolated func storeEvictions(_ changes: MemoChanges, in database: Database) throws {
        for (generation, time) in changes.superseded {
            let age = StoredAge(of: time, clock: clock)
            try database.execute(
                sql: "INSERT OR REPLACE INTO superseded VALUES (?, ?, ?, ?)",
                arguments: [generation, age.elapsed, age.boot, age.awake])
        }
        for generation in changes.released {
            try database.execute(sql: "DELETE FROM superseded WHERE generation = ?", arguments: [generation])
        }
        guard let change = changes.hold else { return }
        try database.execute(sql: "DELETE FROM hold")
        guard let hold = change else { return }
        let age = StoredAge(of: hold.since, clock: clock)
        try database.execute(
            sql: "INSERT INTO hold VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                hold.generation, hold.images, hold.total, hold.isConfirmed, age.elapsed, age.boot, age.awake,
            ])
    }
}

private func store(_ origins: [OriginMemo], forgotten: [String], in database: Database) throws {
    let upsert = try database.cachedStatement(sql: "INSERT OR REPLACE INTO origin VALUES (?, ?, ?)")
    for memo in origins {
        try upsert.execute(arguments: [memo.origin, memo.health.failures, memo.health.waitsUntil.milliseconds])
    }
    let delete = try database.cachedStatement(sql: "DELETE FROM origin WHERE origin = ?")
    for origin in forgotten { try delete.execute(arguments: [origin]) }
}
