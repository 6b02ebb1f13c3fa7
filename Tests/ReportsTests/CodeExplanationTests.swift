// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Reports

@Suite("Explanations of codes")
struct CodeExplanationTests {
    @Test(
        "a code is explained for each subject that has it",
        arguments: [
            ("dns", [.icon]), ("http-404", [.icon]), ("http-999", [.icon]), ("http-NNN", [.icon]),
            ("too-large", [.icon, .list]), ("out-of-resources", [.icon, .list, .status]),
            ("disk-full", [.icon, .status]), ("manifest-ahead", [.upstream]), ("render-failed", [.rendition]),
            ("paused", [.status]), ("http-407", [.icon]), ("http-429", [.icon]), ("http-503", [.icon]),
            ("http-40", []), ("http-1000", []), ("", []), ("dns ", []), ("DNS", []),
        ] as [(String, [CodeExplanation.Subject])])
    func subjects(code: String, subjects: [CodeExplanation.Subject]) {
        #expect(CodeExplanation.explanations(of: code).map(\.subject) == subjects)
    }

    @Test("each explanation is plain text that tells a cause and a remedy")
    func texts() {
        for row in CodeExplanation.all {
            let texts = [row.code, row.meaning, row.remedy, row.retry ?? "-"]
            #expect(texts.allSatisfy { !$0.isEmpty && $0.allSatisfy { !"`*|\n\0".contains($0) } }, "\(row.code)")
            #expect(!texts.joined().contains("doc:"), "\(row.code)")
            #expect((row.retry != nil) == (row.subject == .icon), "\(row.code)")
        }
        #expect(CodeExplanation.explanations(of: "http-407").first?.remedy.contains("fetch.proxy") == true)
        #expect(CodeExplanation.explanations(of: "tls").first?.remedy.hasSuffix("in the article Settings.") == true)
        #expect(CodeExplanation.retries.map(\.word) == ["Soon", "Later", "When the list changes"])
        #expect(CodeExplanation.retries.allSatisfy { $0.meaning.hasSuffix(".") })
    }

    @Test("each problem of status has an explanation")
    func problems() {
        for code in StatusProblem.Code.allCases {
            let rows = CodeExplanation.explanations(of: code.rawValue)
            #expect(rows.contains { $0.subject == .status }, "\(code.rawValue)")
        }
    }

    @Test("Markdown becomes rows: only tables of known headings, and a row for each code of a cell")
    func rows() {
        let article = """
            ## Other
            | `no` | x | y |
            ## App lists
            | Code | What happened | What to do |
            |---|---|---|
            | `a`, `b` | It is `full`. *Retried.* | See <doc:Lists>, `<plist>`. |
            | `c`: a case | x | y |
            | a list is `ok` | x | y |
            """
        let rows = CodeExplanation.rows(of: article)
        #expect(rows.map(\.code) == ["a", "b", "c"])
        #expect(rows[0].meaning == "It is full. Retried." && rows[0].remedy == "See the article Lists, <plist>.")
    }
}
