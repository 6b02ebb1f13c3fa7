// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import GRDB
import Glibc
import IconCache
package import Logging
package import SyncPlan
import Synchronization
package import SystemPackage

/// What is remembered over a restart beside the cache itself: what servers said, failures, origins that are not well.
///
/// It is rebuildable, and never the truth: a damaged database is set aside, and a new one begun.
package actor StateStore {
    private let database: DatabaseQueue
    private let thread = FileThread("state")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let kept: Mutex<Restored?>

    /// What an earlier run left; nothing once it was forgotten.
    package nonisolated var restored: Restored { kept.withLock { $0 ?? Restored() } }
    private let clock: AgentClock

    /// The names of the database's files in the state folder.
    package static let files = ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm"]

    /// Opens the database in the state folder, or begins one.
    ///
    /// - Throws: ``FileError`` if the database cannot be read and written.
    package init(folder: FilePath, clock: AgentClock, logger: Logger) throws(FileError) {
        self.clock = clock
        let path = folder.appending("state.sqlite")
        do {
            try Self.makePrivate(path)
            do {
                let restored: Restored
                (database, restored) = try Self.open(path, clock: clock)
                kept = Mutex(restored)
            } catch let error as DatabaseError where error.isDamage {
                let aside = folder.appending("state.sqlite.damaged")
                logger.error(
                    "the state is damaged: it is set aside, and a new one begun",
                    metadata: ["aside": "\(aside)", "reason": "\(error.message ?? "")"])
                guard rename(path.string, aside.string) == 0 else {
                    throw FileError("set aside", path.string, Errno(rawValue: errno))
                }
                for suffix in ["-wal", "-shm"] { unlink(path.string + suffix) }
                let restored: Restored
                (database, restored) = try Self.open(path, clock: clock)
                kept = Mutex(restored)
            }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError("use the database", path.string, (error as? DatabaseError)?.errno ?? .ioError)
        }
    }

    /// Keeps what an earlier run left no longer: it is as much as there are icons.
    package nonisolated func forgetRestored() {
        kept.withLock { $0 = nil }
    }

    /// What an agent has stored, read without changing anything; `nil` if there is nothing that can be read.
    package static func read(folder: FilePath) -> Restored? {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let database = try? DatabaseQueue(
            path: folder.appending("state.sqlite").string, configuration: configuration)
        return try? database?.read { try Restored($0, clock: AgentClock()) }
    }

    /// Sees to it that only the agent can read the database, whoever can read the folder: URLs may hold secrets.
    ///
    /// SQLite gives its other files the mode of this one. Nothing must have it open yet: closing it drops SQLite's locks.
    private static func makePrivate(_ path: FilePath) throws(FileError) {
        do {
            let options: FileDescriptor.OpenOptions = [.create, .noFollow, .closeOnExec]
            let file = try FileDescriptor.open(path, .readWrite, options: options, permissions: .ownerReadWrite)
            let result = fchmod(file.rawValue, FilePermissions.ownerReadWrite.rawValue)
            let error = Errno(rawValue: errno)
            try file.close()
            if result != 0 { throw error }
        } catch {
            throw FileError("use the database", path.string, error as? Errno ?? .ioError)
        }
    }

    private static func open(_ path: FilePath, clock: AgentClock) throws -> (DatabaseQueue, Restored) {
        var configuration = GRDB.Configuration()
        // `syncagent why` may be reading it at the moment.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // Only one agent uses it. Without a file of shared memory a start needs no room on a full disk, and a disk
            // that fails is an error, where it would be a SIGBUS.
            // For the same reason not `Configuration.journalMode`, with which each start writes something.
            try database.execute(
                sql: """
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = NORMAL;
                    """)
        }
        let database = try DatabaseQueue(path: path.string, configuration: configuration)
        if try !database.read(migrator.hasCompletedMigrations) { try migrator.migrate(database) }
        let restored = try database.read { database in
            guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "quick_check found damage")
            }
            return try Restored(database, clock: clock)
        }
        return (database, restored)
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
                    (url, image, status, fields, request_time, response_time, fresh_until,
                     failure, message, attempts, next_attempt, trail, response_url)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            for memo in changes.remembered {
                try upsert.execute(arguments: [
                    memo.url, memo.image?.hex, memo.response?.status, memo.response?.fields.text,
                    memo.response?.requestTime.milliseconds, memo.response?.responseTime.milliseconds,
                    memo.freshUntil.milliseconds, memo.failure?.code, memo.failure?.message, memo.failure?.attempts,
                    memo.failure?.nextAttempt?.milliseconds, memo.trail?.text, memo.response?.url,
                ])
            }
            let delete = try database.cachedStatement(sql: "DELETE FROM icon WHERE url = ?")
            for url in changes.forgotten { try delete.execute(arguments: [url]) }
            try store(changes.origins, forgotten: changes.forgottenOrigins, in: database)
            if let isPaused = changes.isPaused {
                try database.execute(sql: isPaused ? "INSERT OR IGNORE INTO pause VALUES (1)" : "DELETE FROM pause")
            }
            try storeEvictions(changes, in: database)
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
                arguments: [generation, age.elapsed, age.boot, age.sinceBoot])
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
                hold.generation, hold.images, hold.total, hold.isConfirmed, age.elapsed, age.boot, age.sinceBoot,
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
