// SPDX-License-Identifier: Apache-2.0
import Articles
import CacheFormat
import HTTPRules

/// What a code means, and what to do: a row of the articles Codes and Operation, which the program contains.
///
/// Only the articles contain the texts: a row that is added there is explained by every command.
package struct CodeExplanation: Equatable, Sendable {
    /// What a code is about, by the heading of its table.
    package enum Subject: String, CaseIterable, Sendable {
        case icon = "Downloads"
        case list = "App lists"
        case upstream = "Upstreams"
        case rendition = "Renditions"
        /// The status of the agent.
        case status = "What status may say"
    }

    package var subject: Subject
    package var code: String
    /// What happened, as sentences.
    package var meaning: String
    /// When the agent retries by itself; `nil` if the table does not say.
    package var retry: String?
    /// What to do, as sentences.
    package var remedy: String

    /// All rows, in the order of the articles.
    package static let all = [codes_article(), operation_article()].flatMap { rows(of: String(cString: $0)) }

    /// The meanings of the words in ``retry``: `Soon`, `Later`.
    package static let retries = terms(in: String(cString: codes_article()))

    private static let anyStatus = "http-NNN"

    /// The rows of a code; several if icons and lists share it, none if there is no such code.
    ///
    /// A status without a row of its own has that of all statuses.
    package static func explanations(of code: String) -> [CodeExplanation] {
        let rows = all.filter { haveSameBytes($0.code, code) }
        guard rows.isEmpty, case .http? = FetchFailure.Code(rawValue: code) else { return rows }
        return all.filter { haveSameBytes($0.code, anyStatus) }
    }

    static func rows(of article: String) -> [CodeExplanation] {
        var rows: [CodeExplanation] = []
        var heading: Subject?
        for line in article.split(atByte: "\n") {
            if line.starts(withBytes: "## ") { heading = Subject(rawValue: line.dropping(bytes: 3)) }
            guard let subject = heading, line.starts(withBytes: "| `") else { continue }
            let cells = line.split(atByte: "|").map(\.trimmed)
            guard cells.count >= 3 else { continue }
            // Codes are between backticks: every second part is one.
            let parts = cells[0].split(atByte: "`", omittingEmpty: false).enumerated()
            rows += parts.filter { $0.offset % 2 == 1 }.map { part in
                CodeExplanation(
                    subject: subject, code: part.element, meaning: plain(cells[1]),
                    retry: cells.count > 3 ? plain(cells[2]) : nil, remedy: plain(cells[cells.count - 1]))
            }
        }
        return rows
    }

    /// The items `- *Word*: meaning`.
    static func terms(in article: String) -> [(word: String, meaning: String)] {
        article.replacing(bytes: "\n- *", with: "\0").split(atByte: "\0").dropFirst().compactMap { item in
            let paragraph = item.replacing(bytes: "\n\n", with: "\0").split(atByte: "\0").first ?? ""
            let parts = paragraph.replacing(bytes: "*: ", with: "\0").split(atByte: "\0")
            guard parts.count == 2 else { return nil }
            let meaning = parts[1].split(atByte: "\n").map(\.trimmed).joined(separator: " ")
            return (parts[0], plain(meaning))
        }
    }

    /// Markdown as plain text: without marks, and with links replaced by the names of articles.
    private static func plain(_ text: String) -> String {
        let parts = text.replacing(bytes: "`", with: "").replacing(bytes: "*", with: "")
            .replacing(bytes: "<doc:", with: "\0").split(atByte: "\0", omittingEmpty: false)
        return parts.enumerated().map { number, part in
            number == 0
                ? part : "the article " + part.split(atByte: ">", maxSplits: 1, omittingEmpty: false).joined()
        }.joined()
    }
}
