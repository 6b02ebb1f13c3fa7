// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Logging

/// How a line on stderr begins, which depends on who reads it.
enum LogFormat {
    /// With the time.
    case plain
    /// With the priority, as the journal of systemd takes it (sd-daemon(3)); it knows the time itself.
    case journal

    /// That of stderr.
    static let standardError = LogFormat(of: STDERR_FILENO, journal: Variable["JOURNAL_STREAM"])

    /// - Parameters:
    ///   - descriptor: Where lines are written to.
    ///   - journal: `JOURNAL_STREAM`: the device and the inode of the journal's socket, with a colon between them. Another
    ///     program may have passed the variable on with another stderr.
    init(of descriptor: Int32, journal: String?) {
        var status = stat()
        guard let journal, fstat(descriptor, &status) == 0, journal == "\(status.st_dev):\(status.st_ino)" else {
            self = .plain
            return
        }
        self = .journal
    }

    /// The beginning of a log line, with the level.
    func beginning(_ level: Logger.Level, at time: Timestamp) -> String {
        switch self {
        case .plain: "\(time) \(level) "
        case .journal: "\(mark(level))\(level) "
        }
    }

    /// Text for people: for the journal, each line has the priority.
    func marked(_ text: String, _ level: Logger.Level) -> String {
        switch self {
        case .plain: text
        case .journal:
            text.split(separator: "\n", omittingEmptySubsequences: false).map { mark(level) + $0 }
                .joined(separator: "\n")
        }
    }

    /// The priority of a level, as in syslog(3).
    private func mark(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }
}
