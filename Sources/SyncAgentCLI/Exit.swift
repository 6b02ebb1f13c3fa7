// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// An error that ends a command, as a sentence.
struct CommandFailure: Error, CustomStringConvertible {
    var description: String
    /// The last lines of another program's stderr.
    var messages: [String] = []
}

/// Exit codes, as in the contract (and in `sysexits(3)` where they agree).
enum Exit {
    enum Code: Int32, CaseIterable {
        case done = 0
        /// The command is done, but something is wrong, such as a failed icon.
        case attention = 1
        case notRunning = 3
        case usage = 64
        case notAList = 65
        case noFile = 66
        case noAgent = 69
        case folder = 73
        case busy = 75
        case badConfiguration = 78
    }

    /// Prints a message to stderr; returns the error that ends the command with a code, by default 1.
    static func because(_ message: String, code: Code = .attention) -> ExitCode {
        Message.error(message)
        return ExitCode(code.rawValue)
    }

    /// The error that ends the command with a code, and prints nothing.
    static func with(_ code: Code) -> ExitCode { ExitCode(code.rawValue) }

    /// Does work whose errors end the command with an exit code.
    static func with<Result>(_ code: Code, _ work: () throws -> Result) throws(ExitCode) -> Result {
        do {
            return try work()
        } catch {
            throw error as? ExitCode ?? because("\(error)", code: code)
        }
    }
}
