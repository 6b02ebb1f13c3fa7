// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import WebAddresses

/// Columns of text, each as wide as its widest cell.
struct Table {
    private var rows: [[String]]

    init(_ titles: String...) {
        rows = [titles]
    }

    mutating func add(_ cells: String...) {
        rows.append(cells.map { printable($0) })
    }

    /// The rows; the last column is not padded.
    var lines: [String] {
        let widths = rows.reduce(into: [Int](repeating: 0, count: rows[0].count)) { widths, row in
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }
    }
}

/// A URL as tables and messages show it: `--json` has it in full.
func shown(_ url: IconURL) -> String { "\(LogURL(url))" }
