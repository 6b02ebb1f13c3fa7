// SPDX-License-Identifier: Apache-2.0
import CSQLite
package import SystemPackage

/// An error of SQLite (https://www.sqlite.org/rescode.html).
package struct DatabaseError: Error, CustomStringConvertible {
    /// The extended result code.
    package let extendedCode: Int32
    package let message: String

    /// The primary result code.
    package var code: Int32 { extendedCode & 0xFF }
    package var description: String { "SQLite error \(extendedCode): \(message)" }

    init(_ code: Int32, _ message: String? = nil) {
        extendedCode = code
        self.message = message ?? String(cString: sqlite3_errstr(code))
    }
}

/// A connection to an SQLite database (https://www.sqlite.org/c3ref/intro.html).
///
/// The owner must use a connection on one thread at a time.
package final class Database {
    /// A row of a result, valid until the next row.
    struct Row {
        fileprivate let statement: OpaquePointer

        /// The value of a column as UTF-8; empty if it is NULL.
        func bytes(_ column: Int32) -> [UInt8] { Array(buffer(column)) }

        func text(_ column: Int32) -> String { String(decoding: buffer(column), as: UTF8.self) }

        private func buffer(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
            let start = sqlite3_column_text(statement, column)
            let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
            return UnsafeBufferPointer(start: start, count: count)
        }
    }

    /// How long a connection waits to write while another one has the database locked, in milliseconds.
    private static let patience: Int32 = 5000

    /// The connection; `nil` once it is closed.
    private var handle: OpaquePointer?
    /// The prepared statements, by their text.
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a database; creates it if it is missing, unless `readOnly`.
    package init(_ path: FilePath, readOnly: Bool = false) throws(DatabaseError) {
        let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path.string, &handle, flags, nil)
        guard code == SQLITE_OK else {
            let error = failure(code)
            sqlite3_close_v2(handle)
            handle = nil
            throw error
        }
        sqlite3_extended_result_codes(handle, 1)
        if !readOnly { sqlite3_busy_timeout(handle, Self.patience) }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Closes the connection; if it is the last one, all contents are then in the main file.
    package func close() throws(DatabaseError) {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else { throw failure(code) }
        handle = nil
    }

    // MARK: Statements

    /// Executes statements without arguments, and ignores their results.
    package func execute(_ script: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Executes a statement with UTF-8 texts as parameters, and passes each row of the result to `body`.
    func run(_ text: String, _ arguments: [[UInt8]] = [], eachRow body: (Row) throws -> Void = { _ in }) throws {
        let statement = try prepared(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in arguments.enumerated() {
            let code = argument.withUnsafeBytes {
                sqlite_bind_text_copy(statement, Int32(index + 1), $0.baseAddress, Int32($0.count))
            }
            guard code == SQLITE_OK else { throw failure(code) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try body(Row(statement: statement))
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
        }
    }

    /// The first value of a statement's result; `nil` if there is none.
    func text(_ statement: String) throws -> String? {
        var first: String?
        try run(statement) { first = first ?? $0.text(0) }
        return first
    }

    /// Runs the body in a transaction.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // SQLite has rolled it back itself after some errors.
            try? execute("ROLLBACK")
            throw error
        }
    }

    private func prepared(_ text: String) throws(DatabaseError) -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        statements[text] = statement
        return statement
    }

    private func failure(_ code: Int32) -> DatabaseError {
        guard let handle else { return DatabaseError(SQLITE_MISUSE, "the database is closed") }
        return DatabaseError(code, String(cString: sqlite3_errmsg(handle)))
    }
}
