// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import SyncPlan

/// What is remembered of upstreams: a row for each whose manifest was ever accepted.
enum StoredUpstreams {
    static let table = """
        CREATE TABLE upstream (
            url TEXT PRIMARY KEY NOT NULL,
            published INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            manifest TEXT NOT NULL
        ) WITHOUT ROWID;
        """

    static func store(_ upstreams: [UpstreamMemo], in database: Database) throws {
        try database.run("DELETE FROM upstream", [])
        for memo in upstreams {
            try database.run(
                "INSERT INTO upstream VALUES (?, ?, ?, ?)",
                [
                    .text(memo.url), .integer(memo.published.milliseconds), Database.Value(memo.generation),
                    .text(memo.sha256.hex),
                ])
        }
    }

    static func load(from database: Database) throws -> [UpstreamMemo] {
        try StoredRow.all("upstream", in: database) { row in
            UpstreamMemo(
                url: try row.text("url"), published: try row.time("published"), generation: try row.generation(),
                sha256: try row.digest("manifest"))
        }
    }
}
