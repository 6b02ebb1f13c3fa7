// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Synchronization
import SystemPackage

/// Shows lines on the whole terminal (alternate screen); `close` restores the screen from before.
final class FullScreen: Sendable {
    private static let beginning = "\u{1B}[?1049h\u{1B}[?25l"
    private static let end = "\u{1B}[?25h\u{1B}[?1049l"

    private struct State {
        /// What is shown; `nil` before the first time, and once the screen is closed.
        var content: (@Sendable (Int?, Int?) -> [StyledText])?
        /// The output drawn last; `nil` while the alternate screen is off.
        var shown: String?
        /// Whether the process was stopped, and has not had the terminal since.
        var isAway = false
    }

    private let screen: Screen
    private let file = FileDescriptor.standardOutput
    private let state = Mutex(State())

    init(on screen: Screen) {
        self.screen = screen
    }

    /// Shows lines; `content` makes them anew for each drawing.
    func show(_ content: @escaping @Sendable (_ width: Int?, _ height: Int?) -> [StyledText]) {
        state.withLock { $0.content = content }
        redraw()
    }

    /// Draws the current lines for the current size of the terminal, unless another program has it after a stop.
    ///
    /// `anew` draws them even if they are as before: others may have written to the terminal.
    func redraw(anew: Bool = false) {
        state.withLock { state in
            // A wrapper such as timeout(1) gives a command a process group that never has the terminal.
            if state.isAway { state.isAway = ![-1, getpgrp()].contains(tcgetpgrp(file.rawValue)) }
            guard let content = state.content, !state.isAway else { return }
            let (columns, rows) = Screen.size(of: file) ?? (80, 24)
            let lines = content(columns, max(rows - 1, 1))
            let text = Self.drawing(lines, columns: columns, rows: rows, inColor: screen.usesColor)
            guard anew || text != state.shown else { return }
            file.tryWriting((state.shown == nil ? Self.beginning : "") + text)
            state.shown = text
        }
    }

    /// Restores the terminal, and stops the process as SIGTSTP does; the next ``redraw(anew:)`` sets up the screen again.
    func stop() {
        state.withLock { state in
            if state.shown != nil { file.tryWriting(Self.end) }
            (state.shown, state.isAway) = (nil, true)
            raiseByDefault(SIGTSTP)
        }
    }

    /// Restores the terminal; returns the current lines, for the caller to print.
    @discardableResult
    func close() -> [StyledText] {
        state.withLock { state in
            let content = state.content.take()
            guard state.shown != nil else { return [] }
            file.tryWriting(Self.end)
            state.shown = nil
            return content?(Screen.size(of: file)?.columns, nil) ?? []
        }
    }

    /// The escape sequences that draw lines over the previous ones; the last row counts the lines that do not fit.
    static func drawing(_ lines: [StyledText], columns: Int, rows: Int, inColor: Bool) -> String {
        // The last row is kept for the count. A command may take several rows.
        var rowsLeft = max(rows - 1, 1)
        let room = lines.prefix { line in
            rowsLeft -= line.plain.starts(withBytes: "  $ ") ? max((line.width + columns - 1) / columns, 1) : 1
            return rowsLeft >= 0
        }.count
        var fitting = Array(lines.prefix(room))
        if lines.count > room, room > 0 {
            fitting[room - 1] = StyledText("… \(lines.count - room + 1) more lines: enlarge the terminal", .dim)
        }
        // Erase before writing: after text that fills the row, the cursor still stands on its last column.
        let text = fitting.map { line in
            // A command is not truncated, so that it can be pasted: the terminal wraps it, and the rest of its last row
            // is erased.
            let isCommand = line.plain.starts(withBytes: "  $ ") && line.width > columns
            let shown = isCommand ? line : line.truncated(to: columns)
            let end = isCommand && !line.width.isMultiple(of: columns) ? "\u{1B}[K" : ""
            return "\u{1B}[2K" + shown.rendered(inColor: inColor) + end + "\r\n"
        }.joined()
        return "\u{1B}[H" + text + "\u{1B}[J"
    }
}
