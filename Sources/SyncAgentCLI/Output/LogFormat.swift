// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Logging

/// The prefix of lines on stderr, which depends on where stderr goes.
enum LogFormat {
    /// The time.
    case plain
    /// The priority, for systemd's journal (sd-daemon(3)), which adds the time itself.
    case journal

    static let standardError = LogFormat(of: STDERR_FILENO, journal: Variable["JOURNAL_STREAM"])

    /// `journal` is `JOURNAL_STREAM`: device and inode of the journal's socket (`DEVICE:INODE`).
    ///
    /// The file behind the descriptor must be that socket: a program may inherit the variable with another stderr.
    init(of descriptor: Int32, journal: String?) {
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        self = isKnown && journal == "\(status.st_dev):\(status.st_ino)" ? .journal : .plain
    }

    func beginning(_ level: Logger.Level, at time: Timestamp) -> String {
        (self == .journal ? mark(level) : "\(time) ") + "\(level) "
    }

    /// Adds the priority to each line of a text if stderr is the journal.
    func marked(_ text: String, _ level: Logger.Level) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { mark(level) + $0 }.joined(separator: "\n")
    }

    /// The priority of a level, as in syslog(3), which the journal takes from a line; empty for other readers.
    func mark(_ level: Logger.Level) -> String {
        guard self == .journal else { return "" }
        return switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }
}
