// SPDX-License-Identifier: Apache-2.0
import GRDB

extension StateStore {
    /// The tables, and what later versions changed of them.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("icons, origins and pause") { database in
            try database.execute(
                sql: """
                    CREATE TABLE icon (
                        url TEXT PRIMARY KEY NOT NULL,
                        image TEXT,
                        status INTEGER,
                        fields TEXT,
                        request_time INTEGER,
                        response_time INTEGER,
                        fresh_until INTEGER NOT NULL,
                        failure TEXT,
                        message TEXT,
                        attempts INTEGER,
                        next_attempt INTEGER
                    ) WITHOUT ROWID;
                    CREATE TABLE origin (
                        origin TEXT PRIMARY KEY NOT NULL,
                        failures INTEGER NOT NULL,
                        waits_until INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    -- It has a row while downloads are paused.
                    CREATE TABLE pause (id INTEGER PRIMARY KEY CHECK (id = 1));
                    """)
        }
        migrator.registerMigration("grace and hold") { database in
            try database.execute(
                sql: """
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
                    """)
        }
        migrator.registerMigration("trail") { database in
            try database.execute(sql: "ALTER TABLE icon ADD COLUMN trail TEXT")
        }
        migrator.registerMigration("lists folder") { database in
            try database.execute(
                sql: """
                    CREATE TABLE folder (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        file_system INTEGER NOT NULL,
                        device INTEGER NOT NULL,
                        handle BLOB NOT NULL
                    );
                    """)
        }
        migrator.registerMigration("URL of a response") { database in
            // What is there already came from a URL that nobody noted: its validators are not sent to any.
            try database.execute(sql: "ALTER TABLE icon ADD COLUMN response_url TEXT")
        }
        migrator.registerMigration("newest generation") { database in
            try database.execute(
                sql: """
                    CREATE TABLE newest (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        generation INTEGER NOT NULL
                    );
                    """)
        }
        return migrator
    }
}
