// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A database")
struct DatabaseTests {
    private static func with(_ body: (Database, FilePath) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("state.sqlite")
            let database = try Database(path)
            try database.execute("CREATE TABLE t (a, b)")
            try body(database, path)
        }
    }

    private static func rows(_ statement: String, in database: Database) throws -> [[String]] {
        var rows: [[String]] = []
        try database.run(statement) { row in
            #expect(row.bytes(0) == Array(row.text(0).utf8))
            rows.append([row.text(0), row.text(1)])
        }
        return rows
    }

    @Test("a database gives back its values to the byte", arguments: ["", "a", "ü\u{0}é", "\u{301}", "\u{0}"])
    func texts(text: String) async throws {
        try await Self.with { database, path in
            try database.run("INSERT INTO t VALUES (?, ?)", [text, "1"].map { Array($0.utf8) })
            try database.run("INSERT INTO t VALUES (?, ?)", ["2", text].map { Array($0.utf8) })
            for database in [database, try Database(path, readOnly: true)] {
                let rows = try Self.rows("SELECT * FROM t", in: database).map { $0.map { Array($0.utf8) } }
                #expect(rows == [[Array(text.utf8), [0x31]], [[0x32], Array(text.utf8)]])
                #expect(try database.text("SELECT * FROM t").map { Array($0.utf8) } == Array(text.utf8))
                #expect(try database.text("SELECT * FROM t WHERE b = '3'") == nil)
            }
        }
    }

    @Test("a database gives text for any stored value")
    func values() async throws {
        try await Self.with { database, _ in
            try database.execute("INSERT INTO t VALUES (NULL, -1), (x'61', 0.5)")
            #expect(try Self.rows("SELECT * FROM t", in: database) == [["", "-1"], ["a", "0.5"]])
        }
    }

    @Test(
        "a database does all of a transaction, or nothing",
        arguments: ["INSERT INTO t VALUES (2, 0)", "nonsense", "ROLLBACK"])
    func transaction(last: String) async throws {
        struct Stop: Error {}
        try await Self.with { database, _ in
            try database.transaction { try database.run("INSERT INTO t VALUES (?, 0)", [Array("1".utf8)]) }
            do {
                try database.transaction {
                    try database.run("INSERT INTO t VALUES (?, 0)", [Array("2".utf8)])
                    try database.execute(last)
                    throw Stop()
                }
            } catch {
                #expect((error is Stop) == (last != "nonsense"))
            }
            try database.transaction { try database.run("INSERT INTO t VALUES (?, 0)", [Array("3".utf8)]) }
            #expect(try Self.rows("SELECT a, b FROM t", in: database) == [["1", "0"], ["3", "0"]])
        }
    }

    @Test("errors of a database say what is wrong")
    func errors() async throws {
        try await Self.with { database, path in
            #expect(throws: DatabaseError.self) { try Database(path.appending("x"), readOnly: true) }
            let error = #expect(throws: DatabaseError.self) { try database.execute("SELECT * FROM u") }
            #expect(error?.code == 1 && error?.message == "no such table: u")
            try database.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            let reader = try Database(path, readOnly: true)
            #expect(throws: DatabaseError.self) { try reader.text("SELECT * FROM t") }
            try database.close()
            #expect(throws: DatabaseError.self) { try database.text("SELECT * FROM t") }
            #expect(try reader.text("SELECT * FROM t") == nil)
            #expect(throws: DatabaseError.self) { try reader.execute("DELETE FROM t") }
        }
    }
}
