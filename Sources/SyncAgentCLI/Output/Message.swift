// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Glibc
import Logging
import SyncAgent
import SystemPackage

/// Prints the output of commands.
///
/// Text from lists, file names, servers and the command line is escaped, so it cannot control the terminal. A failed
/// write throws exit code 1; if the reader has gone (`| head`), SIGPIPE ends the program.
enum Message {
    static func error(_ message: String) { printSentence(message, .error) }

    /// Prints a note to stderr that is not an error.
    static func notice(_ message: String) { printSentence(message, .notice) }

    private static func printSentence(_ sentence: String, _ level: Logger.Level) {
        let lines = StyledText("syncagent: \(sentence)").wrapped(to: Screen.size(of: .standardError)?.columns)
        printLines(lines.map(\.plain).joined(separator: "\n"), level)
    }

    static func output(sentence: String) throws(ExitCode) {
        try output(StyledText(sentence).wrapped(to: Screen.size(of: .standardOutput)?.columns).map(\.plain))
    }

    /// Prints a message about the command line to stderr; keeps its line breaks.
    static func usage(_ text: String) {
        printLines(printable(lines: text), .error)
    }

    private static func printLines(_ text: String, _ level: Logger.Level) {
        FileDescriptor.standardError.tryWriting(LogFormat.standardError.marked(text, level) + "\n")
    }

    static func output(_ lines: [String], terminator: String = "\n") throws(ExitCode) {
        try write(lines.map { printable($0) }.joined(separator: "\n") + terminator)
    }

    /// Prints lines for people, in colour if the screen has it.
    static func output(_ lines: [StyledText], on screen: Screen) throws(ExitCode) {
        try write(lines.map { $0.rendered(inColor: screen.usesColor) + "\n" }.joined())
    }

    /// Prints a JSON document, on one line if it is one of several.
    static func output(_ json: JSON, isOneOfSeveral: Bool = false) throws(ExitCode) {
        try output(lines: (isOneOfSeveral ? json.line : json.text) + "\n")
    }

    /// Prints the result of a change: as JSON, or as a sentence.
    static func output(_ json: JSON, inJSON: Bool, or sentence: @autoclosure () -> String) throws(ExitCode) {
        if inJSON { try output(json) } else { try output(sentence: sentence()) }
    }

    /// Prints whole lines, such as a JSON document.
    static func output(lines: String) throws(ExitCode) { try write(printable(lines: lines)) }

    /// Prints text unescaped: a path, because programs read it; help, the version or completions, because they contain
    /// no control characters.
    static func output(unescaped text: String) throws(ExitCode) { try write(text + "\n") }

    private static func write(_ text: String) throws(ExitCode) {
        do {
            try FileDescriptor.standardOutput.write(text)
        } catch {
            if error as? Errno == .brokenPipe { raiseByDefault(SIGPIPE) }
            throw Exit.because("Cannot write the output: \(error).")
        }
    }

    /// Ends the command once the reader of its output has gone, also while there is nothing to write.
    static func endWithReader() {
        _ = startThread("reader") {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            // The kernel reports pipes and sockets that have lost their reader; for files and terminals, this waits for good.
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if output.revents & Int16(POLLERR) != 0 { raiseByDefault(SIGPIPE) }
        }
    }
}

/// Raises a signal with its default effect: the threads of tasks block it, and the parent may have set it to be ignored.
func raiseByDefault(_ number: CInt) {
    let handler = signal(number, SIG_DFL)
    var (signals, blocked) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, &blocked)
    raise(number)
    pthread_sigmask(SIG_SETMASK, &blocked, nil)
    signal(number, handler)
}

extension FileDescriptor {
    /// Writes text; does nothing if that fails.
    func tryWriting(_ text: String) { try? write(text) }

    /// Writes all of a text, also where another program that has the pipe or the terminal has set it not to block.
    fileprivate func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try rest.withUnsafeBytes { try write($0) })
            } catch Errno.wouldBlock {
                var output = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                poll(&output, 1, -1)
            }
        }
    }
}
