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

    @Test(
        "gives back what was put in, to the byte",
        arguments: [
            .null, .integer(.min), .integer(.max), .integer(0), .real(-0.5), .text(""), .text("ü\u{0}é"), .blob([]),
            .blob([0, 255]),
        ] as [Database.Value])
    func values(value: Database.Value) async throws {
        try await Self.with { database, path in
            try database.run("INSERT INTO t VALUES (?, ?)", [value, .integer(1)])
            try database.run("INSERT INTO t VALUES (?, ?)", [.integer(2), value])
            for database in [database, try Database(path, readOnly: true)] {
                let rows = try database.rows("SELECT * FROM t") { [$0["a"], $0["b"], $0["c"]] }
                #expect(rows == [[value, .integer(1), nil], [.integer(2), value, nil]])
                #expect(try database.value("SELECT * FROM t") == value)
            }
        }
    }

    @Test("does all of a transaction, or nothing", arguments: ["INSERT INTO t VALUES (2, 0)", "nonsense", "ROLLBACK"])
    func transaction(last: String) async throws {
        struct Stop: Error {}
        try await Self.with { database, _ in
            try database.transaction { try database.run("INSERT INTO t VALUES (?, 0)", [.integer(1)]) }
            do {
                try database.transaction {
                    try database.run("INSERT INTO t VALUES (?, 0)", [.integer(2)])
                    try database.execute(last)
                    throw Stop()
                }
            } catch {
                #expect((error is Stop) == (last != "nonsense"))
            }
            try database.transaction { try database.run("INSERT INTO t VALUES (?, 0)", [.integer(3)]) }
            let rows = try database.rows("SELECT a FROM t") { $0["a"] }
            #expect(rows == [.integer(1), .integer(3)])
        }
    }

    @Test("tells what is wrong")
    func errors() async throws {
        try await Self.with { database, path in
            #expect(throws: DatabaseError.self) { try Database(path.appending("x"), readOnly: true) }
            let error = #expect(throws: DatabaseError.self) { try database.execute("SELECT * FROM u") }
            #expect(error?.code == 1 && error?.message == "no such table: u")
            try database.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            let reader = try Database(path, readOnly: true)
            #expect(throws: DatabaseError.self) { try reader.value("SELECT * FROM t") }
            try database.close()
            #expect(throws: DatabaseError.self) { try database.value("SELECT * FROM t") }
            #expect(try reader.value("SELECT * FROM t") == nil)
            #expect(throws: DatabaseError.self) { try reader.execute("DELETE FROM t") }
        }
    }
}
