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

    /// What an earlier run left.
    package nonisolated let restored: [IconMemo]

    /// Opens the database in the state folder, or begins one.
    ///
    /// - Throws: ``FileError`` if the database cannot be read and written.
    package init(folder: FilePath, logger: Logger) throws(FileError) {
        let path = folder.appending("state.sqlite")
        do {
            do {
                (database, restored) = try Self.open(path)
            } catch let error as DatabaseError where error.isDamage {
                let aside = folder.appending("state.sqlite.damaged")
                logger.error(
                    "the state is damaged: it is set aside, and a new one begun",
                    metadata: ["aside": "\(aside)", "reason": "\(error.message ?? "")"])
                guard rename(path.string, aside.string) == 0 else {
                    throw FileError("set aside", path.string, Errno(rawValue: errno))
                }
                for suffix in ["-wal", "-shm"] { unlink(path.string + suffix) }
                (database, restored) = try Self.open(path)
            }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError("use the database", path.string, (error as? DatabaseError)?.errno ?? .ioError)
        }
    }

    private static func open(_ path: FilePath) throws -> (DatabaseQueue, [IconMemo]) {
        var configuration = GRDB.Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let database = try DatabaseQueue(path: path.string, configuration: configuration)
        try migrator.migrate(database)
        let memos = try database.read { database in
            guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "quick_check found damage")
            }
            return try Row.fetchAll(database, sql: "SELECT * FROM icon").compactMap(IconMemo.init)
        }
        return (database, memos)
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

    /// Ends the use of the database, with everything in its one file.
    package func close() throws {
        try database.close()
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

extension DatabaseError {
    /// Whether the file is not, or no longer, a database with our tables.
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(resultCode) }

    fileprivate var errno: Errno {
        switch resultCode {
        case .SQLITE_CANTOPEN, .SQLITE_PERM: .permissionDenied
        case .SQLITE_READONLY: .readOnlyFileSystem
        case .SQLITE_FULL: .noSpace
        case .SQLITE_BUSY, .SQLITE_LOCKED: .resourceBusy
        default: .ioError
        }
    }
}

extension IconMemo {
    /// What a row says; `nil` for one with values of other types than were written.
    fileprivate init?(_ row: Row) {
        func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
            (row[column] as DatabaseValue?).flatMap(T.fromDatabaseValue)
        }
        guard let url: String = value("url"), let freshUntil: Int64 = value("fresh_until") else { return nil }
        let failure = (value("failure") as String?).map { code in
            IconRecord.Failure(
                code: code, message: value("message") ?? "", attempts: max(value("attempts") ?? 1, 1),
                nextAttempt: value("next_attempt").map(Timestamp.init(milliseconds:)))
        }
        self.init(
            url: url, image: (value("image") as String?).flatMap { Digest(hex: $0) },
            validators: Validators(etag: value("etag"), lastModified: value("last_modified")),
            freshUntil: Timestamp(milliseconds: freshUntil), failure: failure)
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
