// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Logging

/// The time that a stop may take: what hangs then, such as a disk, is not waited for.
///
/// What is on disk is whole at any instant, and what is lost is downloaded again.
enum StopLimit {
    private static let limit: DispatchTimeInterval = .milliseconds(1_600)
    /// How long the reader of the log may take for the last lines.
    private static let patience: DispatchTimeInterval = .milliseconds(200)

    /// Ends the process when the time is over, with this code.
    static func begin(_ logger: Logger, code: Exit.Code) {
        // Another signal of the kind would end it at once.
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
        DispatchQueue(label: "syncagent.stop").asyncAfter(deadline: .now() + limit) {
            logger.warning("stopped without waiting for running work")
            LogWriter.shared.drain(atMost: patience)
            _exit(code.rawValue)
        }
    }
}
