// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Logging

/// The time limit for stopping: work that hangs then, such as on a disk, is abandoned.
///
/// The cache is consistent at every instant, and lost downloads are repeated.
enum StopLimit {
    private static let limit: DispatchTimeInterval = .milliseconds(1_600)
    /// Extra time for the last log lines.
    private static let patience: DispatchTimeInterval = .milliseconds(200)

    /// Exits with a code when the time is over.
    static func begin(_ logger: Logger, code: Exit.Code) {
        // Another signal would end the process at once.
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
        DispatchQueue(label: "syncagent.stop").asyncAfter(deadline: .now() + limit) {
            logger.warning("stopped without waiting for running work")
            LogWriter.shared.drain(atMost: patience)
            _exit(code.rawValue)
        }
    }
}
