// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CLinux
import CacheFormat
import Glibc
import SystemPackage

enum ColorMode: String, CaseIterable, ExpressibleByArgument {
    /// In colour on a terminal that supports it, unless `NO_COLOR` is set.
    case auto
    case always
    case never
}

struct OutputOptions: ParsableArguments, Output {
    @Option(help: ArgumentHelp("When to use colours.", valueName: "when"))
    var color: ColorMode = .auto
}

/// The options of commands that print a report, for people or as JSON.
struct ReportOptions: ParsableArguments, Output {
    @Flag(help: "Print one JSON document.")
    var json = false

    @Option(help: ArgumentHelp("When to use colours.", valueName: "when"))
    var color: ColorMode = .auto

    func show(_ report: JSON, _ lines: (_ width: Int?) -> [StyledText]) throws(ExitCode) {
        if json { try Message.output(report) } else { try show(lines) }
    }
}

protocol Output {
    var color: ColorMode { get }
}

extension Output {
    /// Standard output, for results.
    var screen: Screen { Screen(.standardOutput, color) }
    /// Standard error, for messages and progress.
    var messages: Screen { Screen(.standardError, color) }

    func show(_ lines: (_ width: Int?) -> [StyledText]) throws(ExitCode) {
        let screen = screen
        try Message.output(lines(screen.width), on: screen)
    }
}

struct Screen: Equatable, Sendable {
    /// The width in columns; `nil` if unknown, as for a file.
    var width: Int?
    var isTerminal = false
    var usesColor = false

    /// Whether lines can be redrawn in place.
    var isLive: Bool { isTerminal && width != nil }
}

extension Screen {
    init(_ file: FileDescriptor, _ color: ColorMode) {
        let isTerminal = isatty(file.rawValue) == 1 && Variable["TERM"] != "dumb"
        let size = Self.size(of: file)
        self.init(
            // COLUMNS counts only if the output is not a terminal, as in a pipe to a pager.
            width: size?.columns ?? Variable["COLUMNS"].flatMap { Int($0) }.map { max($0, 20) },
            isTerminal: isTerminal,
            usesColor: Self.usesColor(color, isTerminal: isTerminal, hasNoColor: Variable["NO_COLOR"] != nil))
    }

    /// The current size of a terminal; `nil` if the file is not a terminal, or the size is unknown.
    static func size(of file: FileDescriptor) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard isatty(file.rawValue) == 1, ioctl(file.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static func usesColor(_ mode: ColorMode, isTerminal: Bool, hasNoColor: Bool) -> Bool {
        switch mode {
        case .always: true
        case .never: false
        case .auto: isTerminal && !hasNoColor
        }
    }
}
