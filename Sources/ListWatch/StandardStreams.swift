// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// The process's three standard descriptors.
///
/// `syncagent-parse` has its own functions: this program is under GPL version 2, like the library that it links, which
/// does not permit code under the licence of the other programs in it.
enum StandardStreams {
    /// Whether all three are open; otherwise the next opened file would get the number of a missing one.
    static var areOpen: Bool {
        (STDIN_FILENO...STDERR_FILENO).allSatisfy { fcntl($0, F_GETFD) != -1 }
    }

    /// What ended a wait, besides events.
    struct Wakeup {
        /// Standard input has data: the agent asks whether the watch is alive.
        var isQuestion = false
        var areMountsChanged = false
        /// A symbolic link in the folder's path may have changed.
        var areLinksChanged = false
    }

    /// Waits for events or another reason to wake up, at most for this many milliseconds.
    ///
    /// - Returns: `nil` if the agent is gone: standard input has ended, or standard output has no reader.
    static func wait(for events: Int32, mounts: Int32, links: Int32, timeout: Int32) -> Wakeup? {
        var polled = [
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: links, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&polled, nfds_t(polled.count), timeout) >= 0 else {
                guard errno == EINTR else { fail("poll failed: \(String(cString: strerror(errno)))", status: EX_OSERR) }
                continue
            }
            if polled[1].revents != 0 && hasInputEnded() || polled[2].revents != 0 { return nil }
            return Wakeup(
                isQuestion: polled[1].revents != 0, areMountsChanged: polled[3].revents != 0,
                areLinksChanged: polled[4].revents != 0)
        }
    }

    /// Writes a record to standard output, unbuffered; exits if that fails, for example without a reader.
    static func write(_ record: WatchRecord) {
        // A line is shorter than PIPE_BUF: writing it to a pipe is atomic.
        var line = record.line
        let written = line.withUTF8 { bytes in
            retrying { Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count) }
        }
        guard written < 0 else { return }
        if errno == EPIPE { exit(EXIT_SUCCESS) }
        fail("cannot write standard output: \(String(cString: strerror(errno)))", status: EX_IOERR)
    }

    static func fail(_ message: String, status: Int32) -> Never {
        let line = Array("syncagent-watch: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(status)
    }

    private static func hasInputEnded() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        return retrying { read(STDIN_FILENO, &bytes, bytes.count) } <= 0
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
