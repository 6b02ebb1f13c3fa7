// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// What a service manager is told, in the format of sd_notify(3), and in which order.
///
/// Each method returns a message to send, or `nil` if there is nothing to tell.
package struct ServiceNotices: Sendable {
    package enum Phase: Sendable {
        case starting, ready, reloading, stopping
    }

    /// The least time from one status text to the next.
    package static let pace: Duration = .seconds(1)
    /// The longest status text that is sent, in characters: systemd reads 4,096 bytes of a message.
    private static let longest = 400
    /// How long the service manager is to wait for the next message of a start or a stop that takes long.
    private static let patience: Duration = .seconds(30)

    package private(set) var phase = Phase.starting
    private let process: Int
    private var text: String?
    /// When a text was sent last.
    private var textTime: Duration?

    /// - Parameter process: The main process of the service.
    package init(process: Int) {
        self.process = process
    }

    /// The agent is ready: only once, and only at the start.
    ///
    /// - Parameters:
    ///   - text: The status of the agent, in one line.
    ///   - now: The time, by a clock that nobody sets.
    /// - Returns: The message, if there is one.
    package mutating func ready(_ text: String, at now: Duration) -> String? {
        guard phase == .starting else { return nil }
        phase = .ready
        return (["READY=1", "MAINPID=\(process)"] + [field(text, at: now)].compactMap(\.self)).joined(separator: "\n")
    }

    /// The status of the agent, if it has changed and the last one was not sent just now.
    ///
    /// - Parameters:
    ///   - text: The status, in one line.
    ///   - now: The time, by a clock that nobody sets.
    /// - Returns: The message, if there is one.
    package mutating func status(_ text: String, at now: Duration) -> String? {
        phase == .stopping ? nil : field(text, at: now)
    }

    /// The agent is still starting, and has got on.
    package func stillStarting() -> String? {
        phase == .starting ? Self.extension(by: Self.patience) : nil
    }

    /// How long to wait before another status can be sent.
    package func pause(at now: Duration) -> Duration {
        textTime.map { max(.zero, $0 + Self.pace - now) } ?? .zero
    }

    /// The agent begins to reload; during the start there is nothing to reload yet.
    ///
    /// - Parameter now: The time by `CLOCK_MONOTONIC`.
    /// - Returns: The message, if there is one.
    package mutating func reloading(at now: Duration) -> String? {
        guard phase == .ready else { return nil }
        phase = .reloading
        return "RELOADING=1\nMONOTONIC_USEC=\(now.microseconds)"
    }

    /// The agent has reloaded.
    package mutating func reloaded() -> String? {
        guard phase == .reloading else { return nil }
        phase = .ready
        return "READY=1"
    }

    /// The agent begins to stop: told once.
    package mutating func stopping() -> String? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        return "STOPPING=1"
    }

    /// The agent is still stopping.
    package func stillStopping() -> String? {
        phase == .stopping ? Self.extension(by: Self.patience) : nil
    }

    /// All parts of the agent work.
    package func alive() -> String? {
        phase == .stopping ? nil : "WATCHDOG=1"
    }

    private static func `extension`(by time: Duration) -> String {
        "EXTEND_TIMEOUT_USEC=\(time.microseconds)"
    }

    private mutating func field(_ text: String, at now: Duration) -> String? {
        guard text != self.text, pause(at: now) == .zero else { return nil }
        (self.text, textTime) = (text, now)
        return "STATUS=\(text.prefix(bytes: Self.longest))"
    }
}

extension Duration {
    /// The whole microseconds.
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
