// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How text looks on a terminal with colours (SGR).
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case boldRed = "1;31"
    case boldGreen = "1;32"
    case boldYellow = "1;33"
}

/// One line for people.
///
/// Nothing in it acts on a terminal: text is escaped when it is taken in, and only styles are not.
struct StyledText: Equatable, Sendable, ExpressibleByStringLiteral {
    private struct Run: Equatable, Sendable {
        var text: String
        var style: Style?
    }

    private var runs: [Run]

    init(_ text: String, _ style: Style? = nil) {
        runs = text.isEmpty ? [] : [Run(text: printable(text), style: style)]
    }

    init(stringLiteral value: String) { self.init(value) }

    static func + (a: StyledText, b: StyledText) -> StyledText {
        var sum = a
        sum += b
        return sum
    }

    static func += (a: inout StyledText, b: StyledText) {
        for run in b.runs {
            if let last = a.runs.indices.last, a.runs[last].style == run.style {
                a.runs[last].text += run.text
            } else {
                a.runs.append(run)
            }
        }
    }

    /// The text without its styles.
    var plain: String { runs.map(\.text).joined() }

    /// How many columns of a terminal it takes.
    var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

    var isEmpty: Bool { runs.isEmpty }

    /// The text with the codes of its styles, if there are to be any.
    func rendered(inColor: Bool) -> String {
        guard inColor else { return plain }
        return runs.map { run in
            run.style.map { "\u{1B}[\($0.rawValue)m\(run.text)\u{1B}[0m" } ?? run.text
        }.joined()
    }

    /// The text with blanks up to a width: after it, or before it.
    func padded(to width: Int, onTheLeft: Bool = false) -> StyledText {
        let blanks = StyledText(String(repeating: " ", count: max(width - self.width, 0)))
        return onTheLeft ? blanks + self : self + blanks
    }

    /// The text cut to a width: `…` stands for what is left out at its end.
    func truncated(to limit: Int) -> StyledText {
        guard width > limit else { return self }
        var (result, room) = (StyledText(""), max(limit - 1, 0))
        for run in runs {
            let part = TextWidth.prefix(of: run.text, atMost: room)
            if !part.isEmpty { result.runs.append(Run(text: part, style: run.style)) }
            room -= TextWidth.of(part)
            if part.utf8.count < run.text.utf8.count { break }
        }
        if limit > 0 { result.runs.append(Run(text: "…", style: result.runs.last?.style)) }
        return result
    }

    /// The text cut to a width: `…` stands for what is left out in its middle, so that both ends can be told apart.
    func shortened(to limit: Int) -> StyledText {
        guard width > limit else { return self }
        guard limit > 2 else { return truncated(to: limit) }
        let text = plain
        let head = TextWidth.prefix(of: text, atMost: (limit - 1) / 2)
        let tail = TextWidth.suffix(of: text, atMost: limit - 1 - TextWidth.of(head))
        var result = StyledText("")
        result.runs = [Run(text: head + "…" + tail, style: runs.first?.style)]
        return result
    }

    /// The text in lines of at most this width, broken at blanks; without a width it is one line.
    ///
    /// A word that is longer is not broken, nor is a command, which is to be pasted.
    func wrapped(to limit: Int?) -> [StyledText] {
        guard let limit, width > limit, limit > 0 else { return [self] }
        // Stands for a blank that is not broken at.
        let joint = "\u{E000}"
        var (lines, line, word): ([StyledText], StyledText, StyledText) = ([], "", "")
        func endWord() {
            if !line.isEmpty, line.width + 1 + word.width > limit {
                lines.append(line)
                line = word
            } else {
                // Words of the same style are one run, blanks included.
                let style = line.runs.last?.style == word.runs.first?.style ? word.runs.first?.style : nil
                line = line.isEmpty ? word : line + StyledText(" ", style) + word
            }
            word = ""
        }
        for run in runs {
            let text = run.text.replacing(/(^| )(syncagent [a-z]+(?: --[a-z-]+| [A-Z]+\b)*)/) { match in
                "\(match.output.1)\(String(match.output.2).replacing(" ", with: joint))"
            }
            for (index, part) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { endWord() }
                let part = String(part).replacing(joint, with: " ")
                if !part.isEmpty { word.runs.append(Run(text: part, style: run.style)) }
            }
        }
        endWord()
        return lines + [line]
    }

    /// The text as an item below a title: indented, and further where it goes on.
    func item(fitting width: Int?) -> [StyledText] {
        wrapped(to: width.map { $0 - 4 }).enumerated().map { StyledText($0 == 0 ? "  " : "    ") + $1 }
    }
}
