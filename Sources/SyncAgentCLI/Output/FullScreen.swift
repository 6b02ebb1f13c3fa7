// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Synchronization
import SystemPackage

/// A whole terminal, which shows the beginning of some lines; what was on it before comes back at the end.
final class FullScreen: Sendable {
    private static let beginning = "\u{1B}[?1049h\u{1B}[?25l"
    private static let end = "\u{1B}[?25h\u{1B}[?1049l"

    private struct State {
        /// Makes the lines for so many columns and rows.
        var content: @Sendable (Int?, Int?) -> [StyledText] = { _, _ in [] }
        /// What is on the terminal; `nil` if it is not ours.
        var shown: String?
    }

    private let screen: Screen
    private let file: FileDescriptor
    private let state = Mutex(State())

    /// - Parameters:
    ///   - screen: Whether there are colours.
    ///   - file: The terminal.
    init(on screen: Screen, of file: FileDescriptor = .standardOutput) {
        self.screen = screen
        self.file = file
    }

    /// Shows lines, which are made anew whenever they are drawn.
    func show(_ content: @escaping @Sendable (_ width: Int?, _ height: Int?) -> [StyledText]) {
        state.withLock { state in
            state.content = content
            if state.shown == nil { write(Self.beginning) }
            state.shown = ""
        }
        redraw()
    }

    /// Draws the lines as they are now, for the terminal's present size.
    func redraw() {
        state.withLock { state in
            guard state.shown != nil else { return }
            let (columns, rows) = Screen.size(of: file) ?? (80, 24)
            let lines = state.content(columns, max(rows - 1, 1))
            let text = Self.drawing(lines, columns: columns, rows: rows, inColor: screen.usesColor)
            guard text != state.shown else { return }
            write(text)
            state.shown = text
        }
    }

    /// Gives the terminal back.
    ///
    /// - Returns: The lines as they are now; none if there never were any.
    @discardableResult
    func close() -> [StyledText] {
        state.withLock { state in
            guard state.shown != nil else { return [] }
            write(Self.end)
            state.shown = nil
            return state.content(Screen.size(of: file)?.columns, nil)
        }
    }

    /// What draws lines over whatever is there; the last row says how many are left out.
    static func drawing(_ lines: [StyledText], columns: Int, rows: Int, inColor: Bool) -> String {
        // A command may take several rows.
        var rowsLeft = max(rows - 1, 1)
        let room = lines.prefix { line in
            rowsLeft -= line.plain.starts(withBytes: "  $ ") ? max((line.width + columns - 1) / columns, 1) : 1
            return rowsLeft >= 0
        }.count
        var fitting = Array(lines.prefix(room))
        if lines.count > room, room > 0 {
            fitting[room - 1] = StyledText("… \(lines.count - room + 1) more lines: enlarge the terminal", .dim)
        }
        // A row is erased before it is written: after its last column the cursor is still on it.
        let text = fitting.map { line in
            // A command is to be pasted: it goes on on the next row, which is erased to its end.
            let isCommand = line.plain.starts(withBytes: "  $ ") && line.width > columns
            let shown = isCommand ? line : line.truncated(to: columns)
            let end = isCommand && !line.width.isMultiple(of: columns) ? "\u{1B}[K" : ""
            return "\u{1B}[2K" + shown.rendered(inColor: inColor) + end + "\r\n"
        }.joined()
        return "\u{1B}[H" + text + "\u{1B}[J"
    }

    private func write(_ text: String) {
        _ = try? file.writeAll(text.utf8)
    }
}
