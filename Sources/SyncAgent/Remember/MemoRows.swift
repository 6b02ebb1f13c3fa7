// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import SyncPlan

/// The one table of the database: memos in JSON, by their kind and key.
struct MemoRows {
    enum Kind: String {
        case icon, origin, list, rejection, render, superseded, values
    }

    /// A row that no agent can have written: no other row in the database can be trusted then.
    struct InvalidRow: Error, CustomStringConvertible {
        /// The kind of memo; `nil` for a kind that this version does not know.
        var kind: Kind?
        var description: String { kind.map { "invalid row of kind \($0)" } ?? "row of an unknown kind" }
    }

    static let schema = """
        CREATE TABLE memos (
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            json TEXT NOT NULL,
            PRIMARY KEY (kind, key)
        ) WITHOUT ROWID;
        """

    let database: Database

    func put(_ kind: Kind, _ key: String, _ json: [UInt8]) throws {
        let row = [Array(kind.rawValue.utf8), Array(key.utf8), json]
        try database.run("INSERT OR REPLACE INTO memos (kind, key, json) VALUES (?, ?, ?)", row)
    }

    /// Stores a memo; without one, deletes its row.
    func put(_ kind: Kind, _ key: String, _ memo: (some StoredMemo)?) throws {
        guard let memo else { return try delete(kind, key) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try put(kind, key, Array(encoder.encode(memo)))
    }

    func delete(_ kind: Kind, _ key: String) throws {
        try database.run("DELETE FROM memos WHERE kind = ? AND key = ?", [Array(kind.rawValue.utf8), Array(key.utf8)])
    }

    /// Reads all rows, except kinds that a later version added.
    func forEach(_ body: (_ kind: Kind, _ key: String, _ json: [UInt8]) throws -> Void) throws {
        let isLater = try StateStore.version(of: database) > StateStore.version
        try database.run("SELECT kind, key, json FROM memos") { row in
            guard let kind = Kind(rawValue: row.text(0)) else {
                if isLater { return }
                throw InvalidRow()
            }
            try body(kind, row.text(1), row.bytes(2))
        }
    }

    /// Reads a memo.
    ///
    /// - Throws: ``InvalidRow`` if no agent can have written it.
    static func decode<Memo: StoredMemo>(_ kind: Kind, _ json: [UInt8]) throws -> Memo {
        guard let memo = try? JSONDecoder().decode(Memo.self, untrusted: Data(json)), memo.isPossible else {
            throw InvalidRow(kind: kind)
        }
        return memo
    }
}
