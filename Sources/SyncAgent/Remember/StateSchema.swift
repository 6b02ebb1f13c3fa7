// SPDX-License-Identifier: Apache-2.0

extension StateStore {
    /// Makes the tables in a new database, and changes those of an earlier version.
    static func migrate(_ database: Database) throws {
        guard case .integer(let version)? = try database.value("PRAGMA user_version") else { return }
        // A later version's tables are not known here: what is missed in them is damage.
        guard version < schemas.count else { return }
        try database.transaction {
            for schema in schemas[Int(max(version, 0))...] { try database.execute(schema) }
            try database.execute("PRAGMA user_version = \(schemas.count)")
        }
    }

    /// What each version of the tables added to the one before.
    private static let schemas = [
        ([StoredIcons.table, StoredOrigins.table, StoredGenerations.table]
            + [StoredValue.pause, .hold, .folder, .newest].map(\.schema)).joined(separator: "\n"),
        StoredLists.table,
        StoredRejections.table,
        StoredUpstreams.table,
    ]
}
