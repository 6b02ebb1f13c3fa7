// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

/// Lines on a terminal that are drawn again in place; nothing elsewhere.
final class LiveDisplay: Sendable {
    private struct State {
        /// What is on the terminal.
        var lines: [StyledText] = []
        var last: ContinuousClock.Instant?
    }

    /// How often lines are drawn at most.
    private static let pace: Duration = .milliseconds(100)

    private let screen: Screen
    private let file: FileDescriptor
    private let state = Mutex(State())

    /// - Parameters:
    ///   - screen: Whether lines are drawn, and how.
    ///   - file: Where they are drawn.
    init(on screen: Screen, to file: FileDescriptor = .standardError) {
        self.screen = screen
        self.file = file
    }

    var isLive: Bool { screen.isLive }

    /// Shows on stderr why it takes so long that something is removed.
    static func waitingForReaders<Result>(
        on screen: Screen, _ work: () async throws -> Result
    ) async rethrows -> Result {
        let display = LiveDisplay(on: screen)
        display.show(["Waiting up to 5 s for readers without a lease"])
        defer { display.clear() }
        return try await work()
    }

    /// Draws lines in place of those before; not if these are too new.
    func show(_ lines: [StyledText]) {
        guard let size = Screen.size(of: file), isLive else { return }
        let fitting = lines.prefix(max(size.rows - 1, 1)).map { $0.truncated(to: size.columns - 1) }
        state.withLock { state in
            let now = ContinuousClock.now
            let isDue = state.last.map { now - $0 >= Self.pace } ?? true
            guard isDue, state.lines != fitting else { return }
            write(
                Self.erasing(state.lines, columns: size.columns) + Self.drawing(fitting, inColor: screen.usesColor))
            (state.lines, state.last) = (fitting, now)
        }
    }

    /// Writes text above the lines, such as that of a log.
    ///
    /// - Parameter text: Whole lines.
    func write(above text: String) {
        state.withLock { state in
            let columns = Screen.size(of: file)?.columns
            write(
                Self.erasing(state.lines, columns: columns) + text
                    + Self.drawing(state.lines, inColor: screen.usesColor))
        }
    }

    /// Takes the lines away.
    func clear() {
        state.withLock { state in
            write(Self.erasing(state.lines, columns: Screen.size(of: file)?.columns))
            state.lines = []
        }
    }

    /// What takes lines away that are on a terminal: where it has become narrower, they take more than one row each.
    static func erasing(_ lines: [StyledText], columns: Int?) -> String {
        guard !lines.isEmpty else { return "" }
        let rows = lines.reduce(0) { rows, line in
            rows + max(1, columns.map { (line.width + $0 - 1) / $0 } ?? 1)
        }
        return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
    }

    /// What draws lines; the cursor stays at the end of the last one.
    static func drawing(_ lines: [StyledText], inColor: Bool) -> String {
        lines.map { $0.rendered(inColor: inColor) }.joined(separator: "\r\n")
    }

    private func write(_ text: String) {
        if !text.isEmpty { _ = try? file.writeAll(text.utf8) }
    }
}
