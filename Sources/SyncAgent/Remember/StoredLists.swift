// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// The lists that need not be parsed again: a row for each.
enum StoredLists {
    static let table = """
        CREATE TABLE list (
            name TEXT PRIMARY KEY NOT NULL,
            sha256 TEXT NOT NULL,
            rules TEXT NOT NULL
        ) WITHOUT ROWID;
        """

    static func store(_ changes: MemoChanges, in database: Database) throws {
        for memo in changes.lists {
            try database.run(
                "INSERT OR REPLACE INTO list VALUES (?, ?, ?)",
                [.text(memo.list.text), .text(memo.sha256.hex), .text(memo.rules)])
        }
        for list in changes.forgottenLists {
            try database.run("DELETE FROM list WHERE name = ?", [.text(list.text)])
        }
    }

    static func load(from database: Database) throws -> [ListMemo] {
        try StoredRow.all("list", in: database, ListMemo.init)
    }
}

extension ListMemo {
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            list: ListName(try row.text("name")), sha256: try row.digest("sha256"), rules: try row.text("rules"))
    }
}
