// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// A row of the database, there until the next one, of which every value is held against what an agent can have written.
struct StoredRow {
    /// A value that no agent writes: nothing else in the database can be trusted either.
    struct InvalidValue: Error, CustomStringConvertible {
        var table: String
        var column: String
        var description: String { "invalid value in \(table).\(column)" }
    }

    /// Times that RFC 3339 can write, in milliseconds since 1970.
    private static let times = -62_167_219_200_000...253_402_300_799_999 as ClosedRange<Int64>
    /// How many there can be of anything that is counted.
    private static let counts = 0...1_000_000_000

    private let table: String
    private let row: Database.Row

    /// What is made of each row of a table.
    static func all<Result>(
        _ table: String, in database: Database, _ body: (StoredRow) throws -> Result
    ) throws -> [Result] {
        try database.rows("SELECT * FROM \(table)") { try body(StoredRow(table: table, row: $0)) }
    }

    /// How the value of a column cannot be what it is.
    func doubt(_ column: String) -> InvalidValue { InvalidValue(table: table, column: column) }

    private func value(_ column: String) throws -> Database.Value {
        // A column that is not there is damage too.
        guard let value = row[column] else { throw doubt(column) }
        return value
    }

    func optionalText(_ column: String) throws -> String? {
        switch try value(column) {
        case .null: nil
        case .text(let text): text
        case .integer, .real, .blob: throw doubt(column)
        }
    }

    func text(_ column: String) throws -> String {
        guard let text = try optionalText(column) else { throw doubt(column) }
        return text
    }

    func optionalDigest(_ column: String) throws -> Digest? {
        guard let hex = try optionalText(column) else { return nil }
        guard let digest = Digest(hex: hex) else { throw doubt(column) }
        return digest
    }

    func digest(_ column: String) throws -> Digest {
        guard let digest = try optionalDigest(column) else { throw doubt(column) }
        return digest
    }

    func optionalNumber(_ column: String, in range: ClosedRange<Int64>) throws -> Int64? {
        switch try value(column) {
        case .null: return nil
        case .integer(let number) where range.contains(number): return number
        case .integer, .real, .text, .blob: throw doubt(column)
        }
    }

    func number(_ column: String, in range: ClosedRange<Int64> = .min ... .max) throws -> Int64 {
        guard let number = try optionalNumber(column, in: range) else { throw doubt(column) }
        return number
    }

    func count(_ column: String) throws -> Int {
        Int(try number(column, in: Int64(Self.counts.lowerBound)...Int64(Self.counts.upperBound)))
    }

    func bytes(_ column: String, atMost limit: Int) throws -> [UInt8] {
        guard case .blob(let bytes) = try value(column), bytes.count <= limit else { throw doubt(column) }
        return bytes
    }

    func optionalTime(_ column: String) throws -> Timestamp? {
        try optionalNumber(column, in: Self.times).map { Timestamp(sinceEpoch: .milliseconds($0)) }
    }

    func time(_ column: String) throws -> Timestamp {
        guard let time = try optionalTime(column) else { throw doubt(column) }
        return time
    }

    /// The age that the row tells in three columns.
    func age() throws -> StoredAge {
        StoredAge(
            elapsed: try number("elapsed", in: StoredAge.range), boot: try optionalText("boot"),
            awake: try number("since_boot", in: StoredAge.range))
    }

    func generation() throws -> Int {
        let numbers = CacheLayout.generationNumbers
        return Int(try number("generation", in: Int64(numbers.lowerBound)...Int64(numbers.upperBound)))
    }
}
