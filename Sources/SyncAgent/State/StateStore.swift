// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import IconCache
package import Logging
package import SyncPlan
package import SystemPackage

/// What is remembered over a restart beside the cache itself: validators, freshness, failures.
///
/// It is rebuildable, and never the truth: a damaged database is set aside, and a new one begun.
package actor StateStore {
    private let database: DatabaseQueue
    private let thread = FileThread("state")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens the database in the state folder, or begins one.
    package init(folder: FilePath, logger: Logger) throws {
        let path = folder.appending("state.sqlite")
        do {
            database = try Self.open(path)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            let aside = folder.appending("state.sqlite.damaged")
            logger.error(
                "the state is damaged: it is set aside, and a new one begun",
                metadata: ["aside": "\(aside)", "reason": "\(error.message ?? "")"])
            guard rename(path.string, aside.string) == 0 else { throw error }
            for suffix in ["-wal", "-shm"] { unlink(path.string + suffix) }
            database = try Self.open(path)
        }
    }

    private static func open(_ path: FilePath) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let database = try DatabaseQueue(path: path.string, configuration: configuration)
        try migrator.migrate(database)
        try database.read { _ = try String.fetchAll($0, sql: "PRAGMA quick_check(1)") }
        return database
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("icons") { database in
            try database.execute(
                sql: """
                    CREATE TABLE icon (
                        url TEXT PRIMARY KEY NOT NULL,
                        image TEXT,
                        etag TEXT,
                        last_modified TEXT,
                        fresh_until INTEGER NOT NULL,
                        failure TEXT,
                        message TEXT,
                        attempts INTEGER,
                        next_attempt INTEGER
                    ) WITHOUT ROWID
                    """)
        }
        return migrator
    }

    package func memos() throws -> [IconMemo] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM icon").map(IconMemo.init)
        }
    }

    package func apply(_ changes: MemoChanges) throws {
        try database.write { database in
            let upsert = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO icon
                    (url, image, etag, last_modified, fresh_until, failure, message, attempts, next_attempt)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            for memo in changes.remembered {
                try upsert.execute(arguments: [
                    memo.url, memo.image?.hex, memo.validators.etag, memo.validators.lastModified,
                    memo.freshUntil.milliseconds, memo.failure?.code, memo.failure?.message, memo.failure?.attempts,
                    memo.failure?.nextAttempt?.milliseconds,
                ])
            }
            let delete = try database.cachedStatement(sql: "DELETE FROM icon WHERE url = ?")
            for url in changes.forgotten { try delete.execute(arguments: [url]) }
        }
    }
}

extension IconMemo {
    fileprivate init(_ row: Row) {
        let code: String? = row["failure"]
        let nextAttempt: Int64? = row["next_attempt"]
        let failure = code.map { code in
            IconRecord.Failure(
                code: code, message: row["message"] ?? "", attempts: row["attempts"] ?? 1,
                nextAttempt: nextAttempt.map(Timestamp.init(milliseconds:)))
        }
        let image: String? = row["image"]
        self.init(
            url: row["url"], image: image.flatMap { Digest(hex: $0) },
            validators: Validators(etag: row["etag"], lastModified: row["last_modified"]),
            freshUntil: Timestamp(milliseconds: row["fresh_until"]), failure: failure)
    }
}

extension Timestamp {
    fileprivate var milliseconds: Int64 {
        sinceEpoch.components.seconds * 1000 + sinceEpoch.components.attoseconds / 1_000_000_000_000_000
    }

    fileprivate init(milliseconds: Int64) {
        self.init(sinceEpoch: .milliseconds(milliseconds))
    }
}
