// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The messages to the service manager (sd_notify(3)), each at the right moment.
///
/// Each method returns the message to send, or `nil` if there is none.
struct ServiceNotices: Sendable {
    enum Phase: Sendable {
        case starting, ready, reloading, stopping
    }

    /// The shortest time between two messages with a status text.
    static let pace: Duration = .seconds(1)
    /// The longest status text in bytes: systemd reads 4,096 bytes of a message.
    private static let longest = 400
    /// How much time each message during a long start or shutdown adds to the service manager's timeout.
    private static let patience: Duration = .seconds(30)

    private(set) var phase = Phase.starting
    private let process: Int
    private var text: String?
    private var textTime: Duration?

    init(process: Int) {
        self.process = process
    }

    /// Reports that the agent is ready; sent once.
    ///
    /// `now` is the time by a monotonic clock.
    mutating func ready(_ text: String, at now: Duration) -> String? {
        guard phase == .starting else { return nil }
        phase = .ready
        return (["READY=1", "MAINPID=\(process)"] + [field(text, at: now)].compactMap(\.self)).joined(separator: "\n")
    }

    /// Reports the agent's status, if it changed and the last report is old enough.
    mutating func status(_ text: String, at now: Duration) -> String? {
        phase == .stopping ? nil : field(text, at: now)
    }

    /// Reports progress during a start that takes long.
    func stillStarting() -> String? {
        phase == .starting ? Self.extension(by: Self.patience) : nil
    }

    /// How long the next status text has to wait; zero if it may be sent at once.
    func pause(at now: Duration) -> Duration {
        textTime.map { max(.zero, $0 + Self.pace - now) } ?? .zero
    }

    /// Reports the beginning of a reload at `now`, by `CLOCK_MONOTONIC`; nothing is sent during the start.
    mutating func reloading(at now: Duration) -> String? {
        guard phase == .ready else { return nil }
        phase = .reloading
        return "RELOADING=1\nMONOTONIC_USEC=\(now.microseconds)"
    }

    /// Reports the end of a reload.
    mutating func reloaded() -> String? {
        guard phase == .reloading else { return nil }
        phase = .ready
        return "READY=1"
    }

    /// Reports the beginning of the shutdown; sent once.
    mutating func stopping() -> String? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        return "STOPPING=1"
    }

    /// Reports progress during a shutdown that takes long.
    func stillStopping() -> String? {
        phase == .stopping ? Self.extension(by: Self.patience) : nil
    }

    /// Resets the watchdog's timer; sent while all parts of the agent work.
    func alive() -> String? {
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
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
