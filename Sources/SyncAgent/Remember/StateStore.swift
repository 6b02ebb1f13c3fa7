// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
package import Logging
package import Reports
package import SyncPlan
import Synchronization
package import SystemPackage

/// The state that survives a restart, besides the cache itself: server responses, failures, unhealthy origins.
///
/// The state can be rebuilt. A database that is damaged, or has content that no agent wrote, is renamed and replaced by
/// a new one, even while it is in use.
package actor StateStore {
    private(set) var database: Database
    /// Identifies the open file.
    private var identity: Identity?
    /// Whether the database was closed to be reopened, and could not be.
    private var isClosed = false
    /// The reason why the database is new, until changes are stored in it.
    private var loss: StateLoss?
    /// The reason why the start replaced an existing database; `nil` if it did not.
    package nonisolated let lossAtStart: StateLoss?
    private nonisolated let aside: Mutex<FilePath?>

    /// The path of the damaged database that was set aside, if it still existed when changes were last stored.
    package nonisolated var damagedFile: FilePath? { aside.withLock(\.self) }
    private let thread = FileThread("state")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let kept: Mutex<Remembered?>

    /// The state that an earlier run left; empty after ``forgetRemembered()``.
    package nonisolated var remembered: Remembered { kept.withLock { $0 ?? Remembered() } }
    private let folder: FilePath
    let clock: AgentClock
    private let logger: Logger

    /// The names of the database's files in the state folder.
    package static let files = ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm"]

    /// Opens the database in the state folder, or creates one.
    ///
    /// - Throws: ``FileError`` if the database cannot be read and written.
    package init(folder: FilePath, clock: AgentClock, logger: Logger) throws(FileError) {
        self.folder = folder
        self.clock = clock
        self.logger = logger
        let remembered: Remembered
        let isNew: Bool
        (database, remembered, isNew) = try Self.openOrBegin(in: folder, clock: clock, logger: logger)
        lossAtStart = isNew ? .damaged : nil
        aside = Mutex(Self.damagedFile(in: folder))
        identity = Self.identity(of: Self.path(in: folder))
        kept = Mutex(remembered)
    }

    /// Frees ``remembered``, whose size grows with the number of icons.
    package nonisolated func forgetRemembered() {
        kept.withLock { $0 = nil }
    }

    /// Opens the database; replaces a damaged one by a new one.
    private static func openOrBegin(
        in folder: FilePath, clock: AgentClock, logger: Logger
    ) throws(FileError) -> (Database, Remembered, isNew: Bool) {
        let path = path(in: folder)
        do {
            try makePrivate(path)
            do {
                let (database, remembered) = try open(path, clock: clock)
                return (database, remembered, isNew: false)
            } catch  where error.isDamage {
                try setAside(path, because: error, logger: logger)
                try makePrivate(path)
                let (database, remembered) = try open(path, clock: clock)
                return (database, remembered, isNew: true)
            }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError("open the database", path.string, (error as? DatabaseError)?.errno ?? .ioError)
        }
    }

    /// Distinguishes a file from another one at the same path.
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
    }

    private static func identity(of path: FilePath) -> Identity? {
        var status = stat()
        return lstat(path.string, &status) == 0 ? Identity(device: status.st_dev, inode: status.st_ino) : nil
    }

    private static func path(in folder: FilePath) -> FilePath { folder.appending(files[0]) }

    /// The damaged database in a state folder; `nil` if there is none.
    package static func damagedFile(in folder: FilePath) -> FilePath? {
        let file = aside(path(in: folder))
        return identity(of: file) == nil ? nil : file
    }

    private static func aside(_ path: FilePath) -> FilePath { FilePath(path.string + ".damaged") }

    /// Renames the database, in place of one that was set aside before; no connection may be open.
    private static func setAside(_ path: FilePath, because reason: any Error, logger: Logger) throws(FileError) {
        let aside = aside(path)
        logger.error(
            "state database damaged: starting with a new one",
            metadata: [
                "renamed": "\(aside)", "reason": "\((reason as? DatabaseError)?.message ?? "\(reason)")",
                "lost": "validators, retry times, pause, mutes, private origins; grace periods start over",
            ])
        try FileError.check("rename", path.string, rename(path.string, aside.string))
        for suffix in ["-wal", "-shm"] { unlink(path.string + suffix) }
    }

    /// The state that an agent has stored, read without changing anything; `nil` if it cannot be read.
    package static func read(folder: FilePath) -> Remembered? {
        // On a pipe, SQLite would wait until somebody writes to it.
        guard files.allSatisfy({ isFileOrAbsent(folder.appending($0)) }) else { return nil }
        guard let database = try? Database(path(in: folder), readOnly: true) else { return nil }
        // A transaction, so that a state which is being stored is read before or after that, not in between.
        try? database.execute("BEGIN")
        return try? Remembered(database, clock: AgentClock())
    }

    /// Whether there is no database in the state folder, or no folder.
    package static func isAbsent(from folder: FilePath) -> Bool {
        var status = stat()
        return stat(path(in: folder).string, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    private static func isFileOrAbsent(_ path: FilePath) -> Bool {
        var status = stat()
        return stat(path.string, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Makes the database readable by the agent only, whatever the mode of the folder: URLs may contain secrets.
    ///
    /// SQLite gives its other files the mode of this one. No connection may be open: closing this descriptor would
    /// release SQLite's locks.
    private static func makePrivate(_ path: FilePath) throws(FileError) {
        do {
            let options: FileDescriptor.OpenOptions = [.create, .noFollow, .closeOnExec]
            let file = try FileDescriptor.open(path, .readWrite, options: options, permissions: .ownerReadWrite)
            let result = fchmod(file.rawValue, FilePermissions.ownerReadWrite.rawValue)
            let error = Errno(rawValue: errno)
            try file.close()
            if result != 0 { throw error }
        } catch {
            throw FileError("open the database", path.string, error as? Errno ?? .ioError)
        }
    }

    private static func open(_ path: FilePath, clock: AgentClock) throws -> (Database, Remembered) {
        let database = try Database(path)
        do {
            // Only one agent uses the database. Without a file of shared memory, a start needs no room on a full disk,
            // and a disk that fails leads to an error, instead of a SIGBUS.
            try database.execute(
                """
                PRAGMA locking_mode = EXCLUSIVE;
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                """)
            try migrate(database)
            guard try database.text("PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(SQLITE_CORRUPT, "quick_check found damage")
            }
            let remembered = try Remembered(database, clock: clock)
            // Most of the pages that were read are not needed again.
            try database.execute("PRAGMA shrink_memory")
            return (database, remembered)
        } catch {
            try? database.close()
            throw error
        }
    }

    /// Closes the database; all its contents are then in its main file.
    package func close() throws {
        try database.close()
    }

    /// Stores changes; replaces a database that is damaged or was removed, even if there are no changes.
    ///
    /// - Returns: The reason why the earlier content is lost, so that everything must be stored again; `nil` if it is
    ///   not.
    @discardableResult
    package func apply(_ changes: MemoChanges) throws -> StateLoss? {
        defer { aside.withLock { $0 = Self.damagedFile(in: folder) } }
        // SQLite would continue to write to a file that was removed, and that no start would find.
        let isThere = Self.identity(of: Self.path(in: folder)) == identity
        if !isThere, loss == nil {
            logger.error("state database removed: starting with a new one", metadata: ["folder": "\(folder)"])
            loss = .removed
        }
        if isClosed || !isThere {
            try AgentFolders.make(folder, mode: .ownerReadWriteExecute)
            try reopen(storing: changes)
        } else if !changes.isEmpty {
            do {
                try write(changes)
            } catch  where error.isDamage || (error as? DatabaseError)?.code == SQLITE_IOERR {
                logger.warning("reopening the state database", metadata: ["reason": "\(error)"])
                try reopen(storing: changes)
            }
        }
        defer { loss = nil }
        return loss
    }

    /// Opens the database again, and stores the changes; a database whose damage shows only then is set aside.
    private func reopen(storing changes: MemoChanges) throws {
        try reopen()
        do {
            try write(changes)
        } catch  where error.isDamage && loss == nil {
            try reopen(settingAsideBecause: error)
            try write(changes)
        }
    }

    private func reopen(settingAsideBecause damage: (any Error)? = nil) throws {
        // Closing the old database later would remove files of the new one.
        try database.close()
        isClosed = true
        if let damage {
            try Self.setAside(Self.path(in: folder), because: damage, logger: logger)
            loss = .damaged
        }
        let isNew: Bool
        (database, _, isNew) = try Self.openOrBegin(in: folder, clock: clock, logger: logger)
        if isNew { loss = .damaged }
        identity = Self.identity(of: Self.path(in: folder))
        isClosed = false
    }
}

extension Error {
    /// Whether the error shows that the file is not, or no longer, a database as an agent writes it.
    ///
    /// Errors caused by the file system or by another process do not count.
    fileprivate var isDamage: Bool {
        guard let error = self as? DatabaseError else { return !(self is FileError) }
        switch error.code {
        case SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM,
            SQLITE_INTERRUPT, SQLITE_ABORT:
            return false
        // A damaged header can mark a file as read-only although it can be opened for writing.
        case SQLITE_READONLY: return error.extendedCode == SQLITE_READONLY
        default: return true
        }
    }
}

extension DatabaseError {
    fileprivate var errno: Errno {
        switch code {
        case SQLITE_CANTOPEN, SQLITE_PERM: .permissionDenied
        case SQLITE_READONLY: .readOnlyFileSystem
        case SQLITE_FULL: .noSpace
        case SQLITE_BUSY, SQLITE_LOCKED: .resourceBusy
        default: .ioError
        }
    }
}
