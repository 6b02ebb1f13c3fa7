// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Synchronization
import SystemPackage

/// Lines on a terminal that are drawn again in place; nothing elsewhere.
final class LiveDisplay: Sendable {
    private struct State {
        var lines: [StyledText] = []
        var last: ContinuousClock.Instant?
    }

    /// How often lines are drawn at most.
    private static let pace: Duration = .milliseconds(100)

    private let screen: Screen
    private let file: FileDescriptor
    private let state = Mutex(State())

    /// - Parameters:
    ///   - screen: What the lines have to fit.
    ///   - file: Where they are drawn.
    init(on screen: Screen, to file: FileDescriptor = .standardError) {
        self.screen = screen
        self.file = file
    }

    var isLive: Bool { screen.isLive }

    /// Draws lines in place of those before; too soon after them only if they must be.
    func show(_ lines: [StyledText], atOnce: Bool = false) {
        guard screen.isLive, let width = screen.width else { return }
        let fitting = lines.prefix(max((screen.height ?? 24) - 1, 1)).map { $0.truncated(to: width - 1) }
        let text: String? = state.withLock { state in
            let now = ContinuousClock.now
            let isDue = atOnce || state.last.map { now - $0 >= Self.pace } ?? true
            guard isDue, state.lines != fitting else { return nil }
            defer { (state.lines, state.last) = (fitting, now) }
            return Self.redrawing(state.lines.count, with: fitting, inColor: screen.usesColor)
        }
        if let text { write(text) }
    }

    /// Takes the lines away.
    func clear() {
        guard screen.isLive else { return }
        let text = state.withLock { state in
            defer { state.lines = [] }
            return state.lines.isEmpty ? "" : Self.redrawing(state.lines.count, with: [], inColor: false)
        }
        write(text)
    }

    /// What draws lines over others; the cursor stays at the end of the last one.
    static func redrawing(_ count: Int, with lines: [StyledText], inColor: Bool) -> String {
        let up = count > 1 ? "\u{1B}[\(count - 1)A" : ""
        let text = lines.map { $0.rendered(inColor: inColor) + "\u{1B}[K" }.joined(separator: "\r\n")
        return (count > 0 ? "\r" + up : "") + text + "\u{1B}[J"
    }

    private func write(_ text: String) {
        _ = try? file.writeAll(text.utf8)
    }
}
