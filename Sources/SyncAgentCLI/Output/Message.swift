// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Glibc
import Logging
import SystemPackage

/// What commands say.
///
/// Text from lists, file names, servers and the command line does nothing to a terminal, whatever is in it. All output
/// throws exit code 1 if it cannot be written. A reader that has seen enough (`| head`) ends the program by SIGPIPE.
enum Message {
    static func error(_ message: String) { tell(sentence: message, .error) }

    /// Says something on stderr that is no error, beside what is printed.
    static func note(_ message: String) { tell(sentence: message, .notice) }

    private static func tell(sentence: String, _ level: Logger.Level) {
        let lines = StyledText("syncagent: \(sentence)").wrapped(to: Screen.size(of: .standardError)?.columns)
        tell(lines.map(\.plain).joined(separator: "\n"), level)
    }

    /// Prints a sentence for people.
    static func output(sentence: String) throws(ExitCode) {
        try output(StyledText(sentence).wrapped(to: Screen.size(of: .standardOutput)?.columns).map(\.plain))
    }

    /// Says on stderr what is wrong with the command line, with how it is written.
    static func usage(_ text: String) {
        tell(printable(lines: text), .error)
    }

    private static func tell(_ text: String, _ level: Logger.Level) {
        _ = try? FileDescriptor.standardError.writeAll((LogFormat.standardError.marked(text, level) + "\n").utf8)
    }

    /// Prints lines for people.
    static func output(_ lines: [String], terminator: String = "\n") throws(ExitCode) {
        try write(lines.map { printable($0) }.joined(separator: "\n") + terminator)
    }

    /// Prints lines for people, with colours where the screen has some.
    static func output(_ lines: [StyledText], on screen: Screen) throws(ExitCode) {
        try write(lines.map { $0.rendered(inColor: screen.usesColor) + "\n" }.joined())
    }

    /// Prints a JSON document, on one line if it is one of several.
    static func output(_ json: JSON, isOneOfSeveral: Bool = false) throws(ExitCode) {
        try output(json: (isOneOfSeveral ? json.line : json.text) + "\n")
    }

    /// Prints a JSON document's text.
    static func output(json: String) throws(ExitCode) { try write(printable(lines: json)) }

    /// Prints a path as it is, for programs.
    static func output(path: String) throws(ExitCode) { try write(path + "\n") }

    /// Prints help, the version, a completion script, or the words for one: they have nothing in them that acts on a
    /// terminal.
    static func output(help: String) throws(ExitCode) { try write(help + "\n") }

    private static func write(_ text: String) throws(ExitCode) {
        do {
            _ = try FileDescriptor.standardOutput.writeAll(text.utf8)
        } catch {
            if error as? Errno == .brokenPipe {
                // The signal ends a command whose reader has gone; but the threads of tasks block it, and whoever started
                // the command may ignore it.
                signal(SIGPIPE, SIG_DFL)
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                raise(SIGPIPE)
            }
            throw Exit.because("Cannot write the output: \(error).", code: .attention)
        }
    }
}
