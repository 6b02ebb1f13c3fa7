// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// The single things that are remembered: a table for each, with one row at most.
///
/// A new one is added here, with all that there is to know of it; a version of the tables of its own makes its table.
struct StoredValue: Sendable {
    let table: String
    /// The columns, as `CREATE TABLE` takes them.
    let columns: [String]
    /// What is in the columns; `nil` if there is no row.
    let row: @Sendable (RememberedValues, AgentClock) -> [Database.Value]?
    /// Takes in what a row has.
    let read: @Sendable (StoredRow, AgentClock, inout RememberedValues) throws -> Void

    static let all = [pause, hold, folder, newest]

    static let pause = StoredValue(
        table: "pause", columns: [],
        row: { values, _ in values.isPaused ? [] : nil },
        read: { _, _, values in values.isPaused = true })

    static let hold = StoredValue(
        table: "hold",
        columns: [
            "generation INTEGER NOT NULL", "images INTEGER NOT NULL", "total INTEGER NOT NULL",
            "is_confirmed INTEGER NOT NULL", "elapsed INTEGER NOT NULL", "boot TEXT", "since_boot INTEGER NOT NULL",
        ],
        row: { values, clock in
            values.hold.map { hold in
                [
                    Database.Value(hold.generation), Database.Value(hold.images), Database.Value(hold.total),
                    .integer(hold.isConfirmed ? 1 : 0),
                ] + StoredAge(of: hold.since, clock: clock).values
            }
        },
        read: { row, clock, values in
            values.hold = EvictionBrake.Hold(
                since: try row.age().time(by: clock), generation: try row.generation(),
                images: try row.count("images"), total: try row.count("total"),
                isConfirmed: try row.number("is_confirmed", in: 0...1) == 1)
        })

    static let folder = StoredValue(
        table: "folder",
        columns: ["file_system INTEGER NOT NULL", "device INTEGER NOT NULL", "handle BLOB NOT NULL"],
        row: { values, _ in
            values.folder.map { folder in
                [
                    .integer(Int64(bitPattern: folder.fileSystem)), .integer(Int64(bitPattern: folder.device)),
                    .blob(folder.handle),
                ]
            }
        },
        read: { row, _, values in
            values.folder = FolderIdentity(
                fileSystem: UInt64(bitPattern: try row.number("file_system")),
                device: UInt64(bitPattern: try row.number("device")),
                handle: try row.bytes("handle", atMost: longestHandle))
        })

    static let newest = StoredValue(
        table: "newest", columns: ["generation INTEGER NOT NULL"],
        row: { values, _ in values.newestGeneration == 0 ? nil : [Database.Value(values.newestGeneration)] },
        read: { row, _, values in values.newestGeneration = try row.generation() })

    /// The longest handle of a folder, in bytes (`MAX_HANDLE_SZ` is 128).
    private static let longestHandle = 1024
}

extension StoredValue {
    /// Makes the table.
    var schema: String {
        "CREATE TABLE \(table) (" + (["id INTEGER PRIMARY KEY CHECK (id = 1)"] + columns).joined(separator: ", ") + ");"
    }

    static func store(_ values: RememberedValues, in database: Database, clock: AgentClock) throws {
        for value in all {
            if let row = value.row(values, clock) {
                let marks = Array(repeating: ", ?", count: row.count).joined()
                try database.run("INSERT OR REPLACE INTO \(value.table) VALUES (1\(marks))", row)
            } else {
                try database.run("DELETE FROM \(value.table)", [])
            }
        }
    }

    static func load(from database: Database, clock: AgentClock) throws -> RememberedValues {
        var values = RememberedValues()
        for value in all { _ = try StoredRow.all(value.table, in: database) { try value.read($0, clock, &values) } }
        return values
    }
}
