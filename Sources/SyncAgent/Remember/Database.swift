// SPDX-License-Identifier: Apache-2.0
import CSQLite
package import SystemPackage

/// Why SQLite did not do something (https://www.sqlite.org/rescode.html).
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
/// It is used by one thread at a time, as its owner sees to.
package final class Database {
    /// A value that goes into the database or comes from it.
    package enum Value: Equatable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])

        init(_ number: Int64?) { self = number.map(Value.integer) ?? .null }
        init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
        init(_ text: String?) { self = text.map(Value.text) ?? .null }
    }

    /// A row of an answer, there until the next one.
    struct Row {
        private let statement: OpaquePointer
        private let columns: [String]

        fileprivate init(_ statement: OpaquePointer, _ columns: [String]) {
            self.statement = statement
            self.columns = columns
        }

        /// The value of a column; `nil` if there is no such column.
        subscript(column: String) -> Value? {
            // There are few: this takes less than to hash the name.
            columns.firstIndex(of: column).map { Database.value(statement, Int32($0)) }
        }
    }

    /// How long a connection that is to write waits for another one that has it locked, in milliseconds.
    private static let patience: Int32 = 5000

    /// `nil` once it is closed.
    private var handle: OpaquePointer?
    /// The statements that were used, by their text.
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a database, which is made if it is not there; unless it is only to be read.
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

    /// Ends the connection; if it is the last one, everything is in one file then.
    package func close() throws(DatabaseError) {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else { throw failure(code) }
        handle = nil
    }

    // MARK: Statements

    /// Carries out statements that have no arguments, and whose answers nobody wants.
    package func execute(_ script: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Carries out a statement whose answer nobody wants.
    func run(_ statement: String, _ arguments: [Value]) throws {
        try step(statement, arguments) { _ in }
    }

    /// What is made of each row that a statement gives.
    func rows<Result>(_ statement: String, _ body: (Row) throws -> Result) throws -> [Result] {
        var columns: [String] = []
        var results: [Result] = []
        try step(statement, []) { statement in
            if columns.isEmpty {
                columns = (0..<sqlite3_column_count(statement)).map { index in
                    sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
                }
            }
            results.append(try body(Row(statement, columns)))
        }
        return results
    }

    /// The value that a statement gives first; `nil` if it gives none.
    func value(_ statement: String) throws -> Value? {
        var first: Value?
        try step(statement, []) { first = first ?? Self.value($0, 0) }
        return first
    }

    /// Does several things, all of them or none.
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

    private func step(
        _ text: String, _ arguments: [Value], _ body: (OpaquePointer) throws -> Void
    ) throws {
        let statement = try prepared(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in arguments.enumerated() {
            let code = Self.bind(value, to: statement, Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(code) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try body(statement)
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
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

    // MARK: Values

    private static func bind(_ value: Value, to statement: OpaquePointer, _ index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // A text without bytes has no address, which would be NULL.
                    sqlite_bind_text_copy(statement, index, $0.baseAddress ?? Self.nothing, Int32($0.count))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                sqlite_bind_blob_copy(
                    statement, index, $0.baseAddress ?? UnsafeRawPointer(Self.nothing), Int32($0.count))
            }
        }
    }

    private nonisolated(unsafe) static let nothing: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()

    private static func value(_ statement: OpaquePointer, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            .text(String(decoding: bytes(sqlite3_column_text(statement, column), statement, column), as: UTF8.self))
        case SQLITE_BLOB: .blob(Array(bytes(sqlite3_column_blob(statement, column), statement, column)))
        default: .null
        }
    }

    /// The bytes of a text or a blob, which are there until the next step.
    private static func bytes(
        _ start: UnsafeRawPointer?, _ statement: OpaquePointer, _ column: Int32
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
    }
}
