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
        """
        CREATE TABLE icon (
            url TEXT PRIMARY KEY NOT NULL,
            image TEXT,
            status INTEGER,
            response_url TEXT,
            fields TEXT,
            request_time INTEGER,
            response_time INTEGER,
            fresh_until INTEGER NOT NULL,
            failure TEXT,
            message TEXT,
            attempts INTEGER,
            next_attempt INTEGER,
            trail TEXT
        ) WITHOUT ROWID;
        CREATE TABLE origin (
            origin TEXT PRIMARY KEY NOT NULL,
            failures INTEGER NOT NULL,
            waits_until INTEGER NOT NULL
        ) WITHOUT ROWID;
        -- It has a row while downloads are paused.
        CREATE TABLE pause (id INTEGER PRIMARY KEY CHECK (id = 1));
        CREATE TABLE superseded (
            generation INTEGER PRIMARY KEY NOT NULL,
            elapsed INTEGER NOT NULL,
            boot TEXT,
            -- Without the time that the system slept.
            since_boot INTEGER NOT NULL
        );
        CREATE TABLE hold (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            generation INTEGER NOT NULL,
            images INTEGER NOT NULL,
            total INTEGER NOT NULL,
            is_confirmed INTEGER NOT NULL,
            elapsed INTEGER NOT NULL,
            boot TEXT,
            since_boot INTEGER NOT NULL
        );
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            file_system INTEGER NOT NULL,
            device INTEGER NOT NULL,
            handle BLOB NOT NULL
        );
        CREATE TABLE newest (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            generation INTEGER NOT NULL
        );
        """,
        """
        CREATE TABLE list (
            name TEXT PRIMARY KEY NOT NULL,
            sha256 TEXT NOT NULL,
            rules TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
    ]
}
