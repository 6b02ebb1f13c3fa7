// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CLinux
import Glibc
import SystemPackage

/// When output has colours.
enum ColorMode: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal, unless `NO_COLOR` is set or the terminal has none.
    case auto
    case always
    case never
}

/// The option that every command takes.
struct OutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When to use colours.", valueName: "when"))
    var color: ColorMode = .auto

    /// Where results go.
    var screen: Screen { Screen(.standardOutput, color) }
    /// Where messages and progress go.
    var messages: Screen { Screen(.standardError, color) }
}

/// What output goes to, as far as its form depends on it.
struct Screen: Equatable, Sendable {
    /// How many columns there are; `nil` where nothing says so, as in a file.
    var width: Int?
    var height: Int?
    var isTerminal = false
    var usesColor = false

    /// Whether lines can be written again in place.
    var isLive: Bool { isTerminal && width != nil }
}

extension Screen {
    init(_ file: FileDescriptor, _ color: ColorMode) {
        let isTerminal = isatty(file.rawValue) == 1
        let size = Self.size(of: file)
        let isDumb = Variable["TERM"] == "dumb"
        self.init(
            // What somebody set counts for what no terminal tells, such as a pipe into a pager.
            width: size?.columns ?? Variable["COLUMNS"].flatMap { Int($0) }.map { max($0, 20) },
            height: size?.rows, isTerminal: isTerminal && !isDumb,
            usesColor: Self.usesColor(color, isTerminal: isTerminal && !isDumb, hasNoColor: Variable["NO_COLOR"] != nil)
        )
    }

    /// The size of a terminal at this moment; `nil` if the file is none, or does not tell.
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
