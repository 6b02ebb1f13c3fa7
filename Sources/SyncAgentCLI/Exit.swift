// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How commands end; the numbers are those of the contract (and of `sysexits(3)` where they agree).
enum Exit {
    enum Code: Int32, CaseIterable {
        case done = 0
        /// Done, but something is wrong.
        case attention = 1
        /// `status`: the agent is not running.
        case notRunning = 3
        /// The command line is wrong.
        case usage = 64
        /// `check`: not an acceptable list.
        case notAList = 65
        /// The agent must run for this, and does not.
        case noAgent = 69
        /// A folder cannot be created or written.
        case folder = 73
        /// Another agent holds this cache.
        case busy = 75
        case badConfiguration = 78
    }

    /// Says on stderr what is wrong, and gives the error that ends the command.
    static func because(_ message: String, code: Code) -> ExitCode {
        Message.error(message)
        return ExitCode(code.rawValue)
    }

    /// Ends the command with the code, having said all there is to say.
    static func with(_ code: Code) -> ExitCode { ExitCode(code.rawValue) }
}
