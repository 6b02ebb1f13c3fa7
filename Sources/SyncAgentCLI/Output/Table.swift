// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Columns of text that fit a terminal.
///
/// If there is too little room, columns with a `least` width are first shortened in their middle; then columns with a
/// `rank` are left out; at last the last column moves to its own lines. Text to be copied stays whole, at the end of a
/// line.
struct Table {
    struct Column: ExpressibleByStringLiteral {
        var title: String
        var isNumber: Bool
        /// The columns with the lowest ranks are left out first; one without a rank (`nil`) never is.
        var rank: Int?
        /// The width down to which the column may be shortened; `nil` if it may not be.
        var least: Int?

        init(_ title: String, isNumber: Bool = false, rank: Int? = nil, least: Int? = nil) {
            (self.title, self.isNumber, self.rank, self.least) = (title, isNumber, rank, least)
        }

        init(stringLiteral title: String) { self.init(title) }
    }

    /// Without a terminal, columns are padded only up to this width.
    private static let mostPadding = 60

    private var columns: [Column]
    private var rows: [[StyledText]] = []

    init(_ columns: Column...) {
        self.columns = columns
    }

    mutating func add(_ cells: StyledText...) { rows.append(cells) }

    /// The titles, then a line for each row; two lines if the last column has its own.
    ///
    /// The last column is not padded. `width` is `nil` if unlimited.
    func lines(fitting width: Int? = nil) -> [StyledText] {
        let all = [columns.map { StyledText($0.title, .bold) }] + rows
        var shown = Array(columns.indices)
        var widths = columns.indices.map { column in all.map { $0[column].width }.max() ?? 0 }
        guard let last = shown.last else { return [] }
        guard let width else {
            // Long cells in other columns stay whole: only their own rows lose the alignment.
            for column in shown where columns[column].least != nil {
                widths[column] = all.map { $0[column].width }.filter { $0 <= Self.mostPadding }.max() ?? 0
            }
            return all.map { line(of: $0, shown, widths, isWhole: true, isShortened: false) }
        }
        func excess() -> Int { shown.reduce(0) { $0 + widths[$1] } + 2 * (shown.count - 1) - width }
        let full = widths
        for column in shown where column != last && excess() > 0 {
            guard let least = columns[column].least else { continue }
            widths[column] = max(min(least, widths[column]), widths[column] - excess())
        }
        if excess() > 0, rows.count > 1 {
            // If only some cells of the last column are long, only these move to their own lines.
            for front in [full, widths] {
                let room = width - shown.dropLast().reduce(0) { $0 + front[$1] + 2 }
                guard rows.count(where: { $0[last].width <= room }) * 2 >= rows.count else { continue }
                return all.flatMap { row -> [StyledText] in
                    guard row[last].width > room else { return [line(of: row, shown, front, isWhole: true)] }
                    return [line(of: row, shown.dropLast(), front, isWhole: false), "  " + row[last]]
                }
            }
        }
        let ranks = columns.map { $0.rank ?? .max }
        for column in shown.sorted(by: { ranks[$0] < ranks[$1] }) where ranks[column] < .max && excess() > 0 {
            shown.removeAll { $0 == column }
        }
        if excess() > 0 { return stacked(all, shown, &widths, last: last, width: width) }
        return all.map { line(of: $0, shown, widths, isWhole: true) }
    }

    /// A row as one line; its last cell is not padded, and not shortened if `isWhole`.
    private func line(
        of row: [StyledText], _ shown: some Collection<Int>, _ widths: [Int], isWhole: Bool, isShortened: Bool = true
    ) -> StyledText {
        var line = StyledText("")
        for (place, column) in shown.enumerated() {
            let isLast = place == shown.count - 1
            let cell = isLast && isWhole || !isShortened ? row[column] : row[column].shortened(to: widths[column])
            if place > 0 { line += "  " }
            let isPadded = !isLast || columns[column].isNumber
            line += isPadded ? cell.padded(to: widths[column], onTheLeft: columns[column].isNumber) : cell
        }
        return line
    }

    /// The rows, with the last column on its own, indented lines.
    private func stacked(
        _ all: [[StyledText]], _ shown: [Int], _ widths: inout [Int], last: Int, width: Int
    ) -> [StyledText] {
        let front = shown.filter { $0 != last }
        let excess = front.reduce(0) { $0 + widths[$1] } + 2 * (front.count - 1) - width
        if excess > 0, let longest = front.max(by: { widths[$0] < widths[$1] }) {
            widths[longest] = max(widths[longest] - excess, 8)
        }
        return all.enumerated().flatMap { number, row -> [StyledText] in
            guard !front.isEmpty else { return [row[last]] }
            let first = line(of: row, front, widths, isWhole: false)
            return number == 0 || row[last].isEmpty ? [first] : [first, "  " + row[last]]
        }
    }
}

/// A URL as tables and messages show it, without secrets; `--json` shows it in full.
func shown(_ url: IconURL) -> String { "\(LogURL(url))" }

/// A URL as shown beside another one, which may differ only in the hidden part.
func shown(_ url: IconURL, beside other: IconURL) -> String {
    guard url != other, haveSameBytes(shown(url), shown(other)) else { return shown(url) }
    return "the same URL with another \(hiddenPart(of: url, other))"
}

/// The part in which two URLs differ that are shown alike: `query` or `fragment`.
func hiddenPart(of url: IconURL, _ other: IconURL) -> String {
    url.withoutFragment == other.withoutFragment ? "fragment" : "query"
}
