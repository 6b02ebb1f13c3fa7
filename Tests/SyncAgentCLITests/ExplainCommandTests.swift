// SPDX-License-Identifier: Apache-2.0
import Reports
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Explanations of codes for people")
struct ExplainCommandTests {
    @Test("an explanation says what the code means, what to do, and when the agent tries again", arguments: [80, 40])
    func explanation(width: Int) throws {
        let codes = ["http-404", "too-large", "network-login", "manifest-ahead", "paused"]
        let lines = codes.flatMap { code -> [StyledText] in
            CodeExplanation.explanations(of: code).flatMap { row -> [StyledText] in
                ExplainCommand.lines(of: row, as: code, fitting: width) + [""]
            }
        }
        #expect(lines.allSatisfy { $0.width <= width })
        try Golden.expect(lines.map { $0.plain + "\n" }.joined(), "explain-\(width).txt")
    }

    @Test("without a code, each code has a line that fits")
    func overview() {
        let lines = ExplainCommand.overview(fitting: 80)
        #expect(lines.allSatisfy { $0.width <= 80 })
        #expect(lines.count == CodeExplanation.all.count + CodeExplanation.Subject.allCases.count)
        #expect(lines.contains { $0.plain == "  dns                     The host name cannot be resolved" })
    }

    @Test(
        "a code that does not exist gets the one that was meant",
        arguments: [
            ("404", "http-404"), ("HTTP 503", "http-503"), ("http404", "http-404"), ("htp-404", "http-404"),
            ("DNS", "dns"), ("not-a-image", "not-an-image"), ("conect", "connect"), ("99", nil), ("xyzzy", nil),
            ("", nil),
        ] as [(String, String?)])
    func suggestion(code: String, meant: String?) {
        #expect(ExplainCommand.suggestion(for: code) == (meant.map { " Did you mean \($0)?" } ?? ""))
    }
}
