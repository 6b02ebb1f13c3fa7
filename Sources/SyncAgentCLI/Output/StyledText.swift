// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// SGR codes of styles.
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

/// A line for people; all text in it is escaped, so that only its styles act on a terminal.
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

    var plain: String { runs.map(\.text).joined() }

    /// The width in terminal columns.
    var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

    var isEmpty: Bool { runs.isEmpty }

    func rendered(inColor: Bool) -> String {
        guard inColor else { return plain }
        return runs.map { run in
            run.style.map { "\u{1B}[\($0.rawValue)m\(run.text)\u{1B}[0m" } ?? run.text
        }.joined()
    }

    /// The text padded with blanks on the right, or on the left.
    func padded(to width: Int, onTheLeft: Bool = false) -> StyledText {
        let blanks = StyledText(String(repeating: " ", count: max(width - self.width, 0)))
        return onTheLeft ? blanks + self : self + blanks
    }

    /// The text cut at its end to a width, with `…`.
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

    /// The text cut in its middle to a width, with `…`; both ends stay recognisable.
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

    /// Wraps the text at blanks to lines of at most a width; without a width it is one line.
    ///
    /// Neither long words nor commands are broken, so that they can be pasted.
    func wrapped(to limit: Int?) -> [StyledText] {
        guard let limit, width > limit, limit > 0 else { return [self] }
        // Replaces blanks inside a command while lines are broken.
        let joint = "\u{E000}"
        var (lines, line, word): ([StyledText], StyledText, StyledText) = ([], "", "")
        func endWord() {
            if !line.isEmpty, line.width + 1 + word.width > limit {
                lines.append(line)
                line = word
            } else {
                // Adjacent words of one style become one run, with the blanks between them.
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

    /// The text as an indented item below a title; further lines are indented more.
    func item(fitting width: Int?) -> [StyledText] {
        wrapped(to: width.map { $0 - 4 }).enumerated().map { StyledText($0 == 0 ? "  " : "    ") + $1 }
    }
}
