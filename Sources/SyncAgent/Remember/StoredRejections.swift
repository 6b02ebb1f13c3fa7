// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// What events have told of lists whose files are not accepted: a row for each.
enum StoredRejections {
    static let table = """
        CREATE TABLE rejection (
            name TEXT PRIMARY KEY NOT NULL,
            code TEXT NOT NULL,
            message TEXT NOT NULL,
            kept INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    static func store(_ changes: MemoChanges, in database: Database) throws {
        for memo in changes.rejections {
            try database.run(
                "INSERT OR REPLACE INTO rejection VALUES (?, ?, ?, ?)",
                [.text(memo.list.text), .text(memo.code), .text(memo.message), .integer(memo.isKept ? 1 : 0)])
        }
        for list in changes.forgottenRejections {
            try database.run("DELETE FROM rejection WHERE name = ?", [.text(list.text)])
        }
    }

    static func load(from database: Database) throws -> [RejectionMemo] {
        try StoredRow.all("rejection", in: database, RejectionMemo.init)
    }
}

extension RejectionMemo {
    fileprivate init(_ row: StoredRow) throws {
        self.init(
            list: ListName(try row.text("name")), code: try row.text("code"), message: try row.text("message"),
            isKept: try row.number("kept", in: 0...1) == 1)
    }
}
