// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Reports
import SystemPackage
import TestSupport
import Testing

@Suite("Completions in real shells", .timeLimit(.minutes(5)))
struct ShellCompletionTests {
    private static let shells = ["bash", "zsh", "fish"]
    private static let program = BuiltProducts.path("syncagent")

    private static let urls: [IconURL] = [
        "https://example.com/mail.png", "https://icons.example.net:8080/a b/x@2.png",
        "https://example.org/q.png?token=abc", "https://evil.example/$(touch pwned)`touch pwned`.png",
    ]

    /// Types lines, and a tab after each; a cache has some icons.
    private static func completed(_ lines: [String], in shell: String) async throws -> [String] {
        try await typed(lines, in: shell)
    }

    /// Types lines, with other icons in the cache, and decodes what becomes of each.
    private static func typed<Result: Decodable>(
        _ lines: [String], _ options: [String] = [], urls: [IconURL] = urls, in shell: String
    ) async throws -> [Result] {
        // python3 types into the shell.
        guard Tool.areInstalled(shell, "python3") else { try Test.cancel("takes \(shell) and python3") }
        return try await withTemporaryFolder { folder in
            let cache = folder.appending("syncagent")
            try makeFolder(cache)
            let apps = urls.map {
                AppListDocument.App(name: nil, icon: $0, download: nil, state: .ready(Sample.image("x")))
            }
            try Sample.publish(1, [Sample.document("apps.plist", apps: apps)], in: cache)
            let script = folder.appending("script")
            try await write(Program.run(program.string, "--generate-completion-script", shell).output, to: script)
            // A command is not taken for it.
            try makeFolder(folder.appending("status"))
            for name in ["a.plist", "a.txt"] { try write("", to: folder.appending(name)) }
            let tool = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Tools/complete")
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let result = try await Program.run(
                ["env", "--chdir", folder.string, tool.string] + options + [shell, script.string] + lines,
                environment: [
                    "PATH": "\(program.removingLastComponent()):\(path)", "XDG_CACHE_HOME": folder.string,
                    "LC_ALL": "C.UTF-8",
                ])
            #expect(result.code == 0, "\(result.messages)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending("pwned").string))
            return try JSONDecoder().decode(
                [Result].self, from: Data("[\(result.output.split(separator: "\n").joined(separator: ","))]".utf8))
        }
    }

    @Test("commands, options, their values, settings, lists and files are completed", arguments: shells)
    func words(shell: String) async throws {
        let lines = [
            ("syncagent stat", "syncagent status "), ("syncagent config def", "syncagent config default "),
            ("syncagent why --js", "syncagent why --json "), ("syncagent list ap", "syncagent list apps.plist "),
            ("syncagent run --log-level deb", "syncagent run --log-level debug "),
            ("syncagent status --color nev", "syncagent status --color never "),
            ("syncagent run --set fetch.maxB", "syncagent run --set fetch.maxBytes="),
            ("syncagent run --set images.allowSVG=t", "syncagent run --set images.allowSVG=true "),
            ("syncagent check a", "syncagent check a.plist "),
            ("syncagent run --lists syn", "syncagent run --lists syncagent/"),
        ]
        #expect(try await Self.completed(lines.map(\.0), in: shell) == lines.map(\.1))
    }

    @Test("URLs are completed wherever the cursor stands in them, and within quotes", arguments: shells)
    func urls(shell: String) async throws {
        let mail = "syncagent why https://example.com/mail.png "
        let port = "syncagent why https://icons.example.net:8080/a\\ b/x@2.png "
        let lines = [
            ("syncagent why ht", "syncagent why https://"), ("syncagent why https:", "syncagent why https://"),
            ("syncagent why https://exa", "syncagent why https://example."),
            ("syncagent why https://example.c", mail), ("syncagent why https://i", port),
            ("syncagent why https://icons.example.net:", port),
            ("syncagent why https://icons.example.net:8080/a\\ b/x@", port),
            ("syncagent why \"https://i", "syncagent why \"https://icons.example.net:8080/a b/x@2.png\" "),
            ("syncagent why 'https://i", "syncagent why 'https://icons.example.net:8080/a b/x@2.png' "),
            ("syncagent why --json https://example.c", "syncagent why --json https://example.com/mail.png "),
            (
                "syncagent refresh apps.plist https://example.c",
                "syncagent refresh apps.plist https://example.com/mail.png "
            ),
            ("syncagent path https://example.o", "syncagent path https://example.org/q.png\\?… "),
            ("syncagent why --cache /nonexistent https://e", "syncagent why --cache /nonexistent https://e"),
        ]
        #expect(try await Self.completed(lines.map(\.0), in: shell) == lines.map(\.1))
    }

    @Test("a URL with a command in it is quoted, and the command is not run", arguments: shells)
    func commands(shell: String) async throws {
        let backtick = shell == "fish" ? "`" : "\\`"
        let url = "https://evil.example/\\$\\(touch\\ pwned\\)\(backtick)touch\\ pwned\(backtick).png"
        #expect(try await Self.completed(["syncagent why https://ev"], in: shell) == ["syncagent why \(url) "])
    }

    /// What stands beside a sign: a mark of the letter before it, a letter that is joined to the next, a joiner, and others
    /// that terminals do not show.
    private static let marks = ["\u{301}", "\u{FE0F}", "\u{D4E}", "\u{200D}", "\u{600}", "\u{2028}"]
    private static let signs = (0x21...0x7E).compactMap { Unicode.Scalar($0) }.filter { !$0.properties.isAlphabetic }

    @Test(
        "a URL arrives as the list has it, whatever stands beside each sign of ASCII, and nothing is run",
        .disabled(if: isSanitized, sanitizerNote), arguments: shells)
    func marks(shell: String) async throws {
        var urls: [IconURL] = []
        for mark in Self.marks {
            for sign in Self.signs {
                for end in [
                    "a\(sign)\(mark);touch${IFS}pwned;\(sign)", "a\(mark)\(sign);touch${IFS}pwned;\(sign)>pwned",
                ] {
                    urls.append(IconURL("https://\(urls.count).example/\(end).png"))
                }
            }
        }
        // Completions take a while: of those that are not offered, some are tried.
        let offered = urls.indices.filter { Self.offered(urls[$0], in: shell) != nil }
        let others = urls.indices.filter { Self.offered(urls[$0], in: shell) == nil && $0.isMultiple(of: 29) }
        let tried = offered + others
        let lines = tried.map { "syncagent why https://\($0).e" }
        let words: [[String]] = try await Self.typed(lines, ["--run"], urls: urls, in: shell)
        #expect(words.count == tried.count && offered.count > 100 && others.count > 5)
        for (index, words) in zip(tried, words) {
            let expected = Self.offered(urls[index], in: shell) ?? IconURL("https://\(index).e")
            #expect(words.count == 3 && IconURL(words.last ?? "") == expected, "\(words)")
        }
    }

    /// A URL without its query and fragment; `nil` if terminals do not show all of it, or JSON escapes a part of it.
    private static func offered(_ url: IconURL, in shell: String) -> IconURL? {
        guard ShellWord.isShown(url.text), !url.text.utf8.contains(where: "\"\\".utf8.contains),
            // zsh does not quote it.
            shell != "zsh" || !url.text.utf8.contains(UInt8(ascii: "!"))
        else { return nil }
        return IconURL(LogURL(url).description)
    }

    @Test("a command that is pasted has the words that it names", arguments: shells)
    func pasted(shell: String) async throws {
        let texts = Self.marks.flatMap { mark in
            Self.signs.flatMap { sign in
                ["a\(sign)\(mark);touch pwned;\(sign)", "a\(mark)\(sign);touch pwned;\(sign)>pwned"]
            }
        }
        // fish knows no escapes of this kind: it refuses the line.
        let readable = shell == "fish" ? texts.filter { ShellWord.isShown($0) } : texts
        let lines = readable.map { "arguments \(ShellWord.quoted($0))" }
        let words: [[String]] = try await Self.typed(lines, ["--run"], in: shell)
        #expect(words.count == readable.count && readable.count > 90)
        for (text, words) in zip(readable, words) {
            #expect(words.count == 1 && IconURL(words.first ?? "") == IconURL(text), "\(words)")
        }
    }

    @Test("the script of bash leaves no trap behind", .enabled(if: Tool.areInstalled("bash"), "takes bash"))
    func trap() async throws {
        let script = try await Program.run(Self.program.string, "--generate-completion-script", "bash").output
        #expect(!script.hasPrefix("#!"))
        let call = """
            COMP_WORDS=(syncagent stat) COMP_CWORD=1 COMP_LINE='syncagent stat' COMP_POINT=14
            __syncagent_whole_words syncagent stat syncagent
            echo "${COMPREPLY[@]}"; trap -p
            """
        let result = try await Program.run("bash", "-c", script + "\n" + call)
        #expect(result.output == "status\n", "\(result.messages)")
    }
}
