// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Reports
import SystemPackage
import TestSupport
import Testing

/// The table of words is in `ReportsTests/ShellWordTests`.
@Suite("Quoted words in real shells", .timeLimit(.minutes(10)))
struct QuotedWordTests {
    @Test(
        "shells read a quoted word as its text, whatever stands beside each sign of ASCII",
        arguments: ["sh", "bash", "zsh", "fish"])
    func shells(shell: String) async throws {
        guard Tool.areInstalled(shell) else { try Test.cancel("takes \(shell)") }
        let marks = ["", "\u{301}", "\u{FE0F}", "\u{D4E}", "\u{200D}", "\u{600}", "\u{2028}", "\u{FFFD}", "é"]
        let signs = (1...0x7F).compactMap { Unicode.Scalar($0).map { String($0) } }
        let texts = marks.flatMap { mark in
            signs.flatMap { ["a\($0)\(mark);touch pwned;", "a\(mark)\($0);touch pwned;"] }
        }
        // Only bash and zsh know escapes.
        let readable = shell == "bash" || shell == "zsh" ? texts : texts.filter { ShellWord.isShown($0) }
        #expect(readable.count > 1000)
        try await withTemporaryFolder { folder in
            let script = "cd '\(folder)'\n" + readable.map { "printf '%s\\n' \(ShellWord.quoted($0))\n" }.joined()
            try write(script, to: folder.appending("script"))
            let result = try await Program.run(shell, folder.appending("script").string)
            #expect(result.messages == "" && result.code == 0)
            let expected = readable.map { $0 + "\n" }.joined()
            #expect(result.output.utf8.elementsEqual(expected.utf8))
            #expect(FileManager.default.contents(atPath: folder.appending("pwned").string) == nil)
        }
    }

    @Test("shells that do not know the escapes of a quoted word run nothing of it", arguments: ["sh", "fish"])
    func unknownEscapes(shell: String) async throws {
        guard Tool.areInstalled(shell) else { try Test.cancel("takes \(shell)") }
        try await withTemporaryFolder { folder in
            let text = "a\n';touch '\(folder.appending("pwned"))';'\\"
            _ = try await Program.run(shell, "-c", "printf %s \(ShellWord.quoted(text))")
            #expect(FileManager.default.contents(atPath: folder.appending("pwned").string) == nil)
        }
    }
}
