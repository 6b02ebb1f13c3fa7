// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

extension StateStore {
    /// Stores changes, all of them or none.
    func write(_ changes: MemoChanges) throws {
        try database.transaction {
            try storeIcons(changes)
            try storeOrigins(changes)
            try storeLists(changes)
            if let isPaused = changes.isPaused {
                try database.execute(isPaused ? "INSERT OR IGNORE INTO pause VALUES (1)" : "DELETE FROM pause")
            }
            try storeEvictions(changes)
            if let generation = changes.newestGeneration {
                try database.run("INSERT OR REPLACE INTO newest VALUES (1, ?)", [Database.Value(generation)])
            }
            if let folder = changes.folder {
                try database.run(
                    "INSERT OR REPLACE INTO folder VALUES (1, ?, ?, ?)",
                    [
                        .integer(Int64(bitPattern: folder.fileSystem)), .integer(Int64(bitPattern: folder.device)),
                        .blob(folder.handle),
                    ])
            }
        }
    }

    private func storeIcons(_ changes: MemoChanges) throws {
        for memo in changes.remembered {
            try database.run(
                """
                INSERT OR REPLACE INTO icon
                (url, image, status, response_url, fields, request_time, response_time, fresh_until, failure, message,
                 attempts, next_attempt, trail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(memo.url.text), Database.Value(memo.image?.hex), Database.Value(memo.response?.status),
                    Database.Value(memo.response?.url), Database.Value(memo.response?.fields.text),
                    Database.Value(memo.response?.requestTime.milliseconds),
                    Database.Value(memo.response?.responseTime.milliseconds),
                    .integer(memo.freshUntil.milliseconds), Database.Value(memo.failure?.code),
                    Database.Value(memo.failure?.message), Database.Value(memo.failure?.attempts),
                    Database.Value(memo.failure?.nextAttempt?.milliseconds),
                    Database.Value(memo.trail?.puttingIn(memo.url).text),
                ])
        }
        for url in changes.forgotten { try database.run("DELETE FROM icon WHERE url = ?", [.text(url.text)]) }
    }

    private func storeOrigins(_ changes: MemoChanges) throws {
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

    private func storeLists(_ changes: MemoChanges) throws {
        for memo in changes.lists {
            try database.run(
                "INSERT OR REPLACE INTO list VALUES (?, ?, ?)",
                [.text(memo.list.text), .text(memo.sha256.hex), .text(memo.rules)])
        }
        for list in changes.forgottenLists {
            try database.run("DELETE FROM list WHERE name = ?", [.text(list.text)])
        }
    }

    private func storeEvictions(_ changes: MemoChanges) throws {
        for (generation, time) in changes.superseded {
            let age = StoredAge(of: time, clock: clock)
            try database.run(
                "INSERT OR REPLACE INTO superseded VALUES (?, ?, ?, ?)",
                [Database.Value(generation), .integer(age.elapsed), Database.Value(age.boot), .integer(age.awake)])
        }
        for generation in changes.released {
            try database.run("DELETE FROM superseded WHERE generation = ?", [Database.Value(generation)])
        }
        guard let change = changes.hold else { return }
        try database.execute("DELETE FROM hold")
        guard let hold = change else { return }
        let age = StoredAge(of: hold.since, clock: clock)
        try database.run(
            "INSERT INTO hold VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            [
                Database.Value(hold.generation), Database.Value(hold.images), Database.Value(hold.total),
                .integer(hold.isConfirmed ? 1 : 0), .integer(age.elapsed), Database.Value(age.boot),
                .integer(age.awake),
            ])
    }
}
