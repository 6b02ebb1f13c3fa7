// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemPackage

/// Lines on a terminal that are redrawn in place; without a terminal it shows nothing.
final class LiveDisplay: Sendable {
    private struct State {
        var lines: [StyledText] = []
        var last: ContinuousClock.Instant?
    }

    private static let pace: Duration = .milliseconds(100)

    private let screen: Screen
    private let file = FileDescriptor.standardError
    private let state = Mutex(State())

    init(on screen: Screen) {
        self.screen = screen
    }

    var isLive: Bool { screen.isLive }

    /// Shows on stderr that removal waits for readers without a lease.
    static func waitingForReaders<Result>(
        on screen: Screen, _ work: () async throws -> Result
    ) async rethrows -> Result {
        let display = LiveDisplay(on: screen)
        display.show(["Waiting up to 5 s for readers without a lease"])
        defer { display.clear() }
        return try await work()
    }

    /// Replaces the lines, unless they were drawn less than 100 ms ago.
    func show(_ lines: [StyledText]) {
        guard let size = Screen.size(of: file), isLive else { return }
        let fitting = lines.prefix(max(size.rows - 1, 1)).map { $0.truncated(to: size.columns - 1) }
        state.withLock { state in
            let now = ContinuousClock.now
            guard state.last.map({ now - $0 >= Self.pace }) ?? true, state.lines != fitting else { return }
            redraw(&state, fitting)
            state.last = now
        }
    }

    /// Writes whole lines, such as a log, above the display.
    func write(above text: String) { state.withLock { redraw(&$0, $0.lines, below: text) } }

    func clear() { state.withLock { redraw(&$0, []) } }

    private func redraw(_ state: inout State, _ lines: [StyledText], below text: String = "") {
        let erasing = Self.erasing(state.lines, columns: Screen.size(of: file)?.columns)
        file.tryWriting(erasing + text + Self.drawing(lines, inColor: screen.usesColor))
        state.lines = lines
    }

    /// The output that erases lines.
    ///
    /// After the terminal became narrower, each line can take several rows.
    static func erasing(_ lines: [StyledText], columns: Int?) -> String {
        guard !lines.isEmpty else { return "" }
        let rows = lines.reduce(0) { rows, line in
            rows + max(1, columns.map { (line.width + $0 - 1) / $0 } ?? 1)
        }
        return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
    }

    /// The output that draws lines; the cursor stays at the end of the last one.
    static func drawing(_ lines: [StyledText], inColor: Bool) -> String {
        lines.map { $0.rendered(inColor: inColor) }.joined(separator: "\r\n")
    }
}
