// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Glibc
import Logging
import SystemPackage

/// How commands end; the numbers are those of the contract (and of `sysexits(3)` where they agree).
enum Exit {
    enum Code: Int32 {
        case done = 0
        /// Done, but something is wrong.
        case attention = 1
        /// `status`: the agent is not running.
        case notRunning = 3
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

/// What commands say.
///
/// Text from lists, file names, servers and the command line does nothing to a terminal, whatever is in it. All output
/// throws exit code 1 if it cannot be written. A reader that has seen enough (`| head`) ends the program by SIGPIPE.
enum Message {
    static func error(_ message: String) {
        tell("syncagent: \(printable(message))")
    }

    /// Says on stderr what is wrong with the command line, with how it is written.
    static func usage(_ text: String) {
        tell(printable(lines: text))
    }

    private static func tell(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll((LogFormat.standardError.marked(text, .error) + "\n").utf8)
    }

    /// Prints lines for people.
    static func output(_ lines: [String], terminator: String = "\n") throws(ExitCode) {
        try write(lines.map { printable($0) }.joined(separator: "\n") + terminator)
    }

    /// Prints a JSON document, on one line if it is one of several.
    static func output(_ json: JSON, isOneOfSeveral: Bool = false) throws(ExitCode) {
        try output(json: (isOneOfSeveral ? json.line : json.text) + "\n")
    }

    /// Prints a JSON document's text.
    static func output(json: String) throws(ExitCode) { try write(printable(lines: json)) }

    /// Prints a path as it is, for programs.
    static func output(path: String) throws(ExitCode) { try write(path + "\n") }

    private static func write(_ text: String) throws(ExitCode) {
        do {
            _ = try FileDescriptor.standardOutput.writeAll(text.utf8)
        } catch {
            throw Exit.because("Cannot write the output: \(error).", code: .attention)
        }
    }
}
