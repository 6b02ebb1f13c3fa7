// SPDX-License-Identifier: Apache-2.0

extension StateStore {
    /// The present version of the tables.
    static let version = 6

    /// The first version with a single table; versions before 1.0 had other tables.
    private static let firstVersion = 5

    /// The version of the tables in a database; 0 if it is new.
    static func version(of database: Database) throws -> Int {
        try database.text("PRAGMA user_version").flatMap { Int($0) } ?? 0
    }

    /// Tables that are no longer read.
    struct EarlierTables: Error, CustomStringConvertible {
        var version: Int
        var description: String {
            "the tables have version \(version); those before \(StateStore.firstVersion) are not read"
        }
    }

    /// Makes the table in a new database.
    ///
    /// - Throws: ``EarlierTables`` for a database with other tables.
    static func migrate(_ database: Database) throws {
        let found = try version(of: database)
        // Tables of a later version are not known here: missing members are found as damage.
        guard found < version else { return }
        guard found == 0 || found >= firstVersion else { throw EarlierTables(version: found) }
        try database.transaction {
            // Version 5 has the same table, with fewer kinds of rows.
            if found == 0 { try database.execute(MemoRows.schema) }
            try database.execute("PRAGMA user_version = \(version)")
        }
    }
}
