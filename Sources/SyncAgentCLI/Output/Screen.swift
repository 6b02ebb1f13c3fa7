// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CLinux
import Glibc
import SystemPackage

enum ColorMode: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal that supports colours, unless `NO_COLOR` is set.
    case auto
    case always
    case never
}

struct OutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When to use colours.", valueName: "when"))
    var color: ColorMode = .auto

    /// Standard output, for results.
    var screen: Screen { Screen(.standardOutput, color) }
    /// Standard error, for messages and progress.
    var messages: Screen { Screen(.standardError, color) }
}

struct Screen: Equatable, Sendable {
    /// In columns; `nil` if unknown, as for a file.
    var width: Int?
    var height: Int?
    var isTerminal = false
    var usesColor = false

    /// Whether lines can be redrawn in place.
    var isLive: Bool { isTerminal && width != nil }
}

extension Screen {
    init(_ file: FileDescriptor, _ color: ColorMode) {
        let isTerminal = isatty(file.rawValue) == 1
        let size = Self.size(of: file)
        let isDumb = Variable["TERM"] == "dumb"
        self.init(
            // COLUMNS counts only without a terminal, such as in a pipe to a pager.
            width: size?.columns ?? Variable["COLUMNS"].flatMap { Int($0) }.map { max($0, 20) },
            height: size?.rows, isTerminal: isTerminal && !isDumb,
            usesColor: Self.usesColor(color, isTerminal: isTerminal && !isDumb, hasNoColor: Variable["NO_COLOR"] != nil)
        )
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
