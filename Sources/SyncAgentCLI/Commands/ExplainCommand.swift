// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import HTTPRules
import Reports

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain a code, such as http-404: what it means, and what to do.",
        usage: "syncagent explain [<code>] [options]",
        discussion: """
            It knows the codes that status, list, why and check show: of downloads, app lists, upstreams, renditions \
            and the status. Without a code, prints all of them. Needs no agent.

            Examples:
              syncagent explain not-an-image
              syncagent explain

            Exit code 1: there is no such code.
            """)

    @Argument(help: "The code.", completion: .offered(\.codes))
    var code: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() throws {
        guard let code else { return try output.show { Self.overview(fitting: $0) } }
        let rows = CodeExplanation.explanations(of: code)
        guard !rows.isEmpty else {
            throw Exit.because("There is no code “\(code)”.\(Self.suggestion(for: code)) All codes: syncagent explain")
        }
        try output.show { width in
            rows.enumerated().flatMap { ($0 == 0 ? [] : [""]) + Self.lines(of: $1, as: code, fitting: width) }
        }
    }

    /// ` Did you mean http-404?`; a bare HTTP status such as `404` counts as a misspelt code.
    static func suggestion(for code: String) -> String {
        let digits = code.utf8.filter { (0x30...0x39).contains($0) }
        let status = "http-" + String(decoding: digits, as: UTF8.self)
        if FetchFailure.Code(rawValue: status) != nil { return " Did you mean \(status)?" }
        return Suggestion.text(for: code, among: CodeExplanation.all.map(\.code))
    }

    /// The meaning of a code for one subject, such as icons or lists.
    static func lines(of row: CodeExplanation, as code: String, fitting width: Int?) -> [StyledText] {
        let entries = [("means", row.meaning), ("what to do", row.remedy), ("retried", row.retry.map(retried) ?? "")]
        return [StyledText(code, .bold) + StyledText(" (\(row.subject))")]
            + entries.filter { !$0.1.isEmpty }.flatMap {
                StatusView.entry("  " + $0.0, StyledText($0.1), width: width, titleWidth: 14)
            }
    }

    /// The text of the column on retries, with the meaning of the words that it uses, such as “later”.
    private static func retried(_ text: String) -> String {
        let terms = CodeExplanation.retries.filter { text.asciiLowercased.contains(bytes: $0.word.asciiLowercased) }
        let isTerm = terms.contains { haveSameBytes($0.word.asciiLowercased, text) }
        let sentence = isTerm ? [] : [text.ends(withBytes: ".") ? text : text + "."]
        return (sentence + terms.map { "\($0.word): \($0.meaning)" }).joined(separator: " ")
    }

    /// A line for each code, below its subject.
    static func overview(fitting width: Int?) -> [StyledText] {
        CodeExplanation.Subject.allCases.flatMap { subject in
            let rows = CodeExplanation.all.filter { $0.subject == subject }
            return [StyledText("\(subject)", .bold)]
                + rows.map { row in
                    let sentence = row.meaning.replacing(bytes: ". ", with: "\0").split(atByte: "\0").first ?? ""
                    let end = sentence.ends(withBytes: ".") ? 1 : 0
                    let line =
                        StyledText("  " + row.code).padded(to: 26) + StyledText(sentence.droppingLast(bytes: end), .dim)
                    return width.map { line.truncated(to: $0) } ?? line
                }
        }
    }
}
