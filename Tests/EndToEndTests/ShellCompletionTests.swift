// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Reports
import SystemPackage
import TestSupport
import Testing

/// The tables of words are in `SyncAgentCLITests/CompletionTests` and `ReportsTests/ShellWordTests`.
@Suite("Completions in real shells", .timeLimit(.minutes(15)))
struct ShellCompletionTests {
    private static let program = BuiltProducts.path("syncagent")

    @Test(
        "shells complete words and URLs, and run nothing that stands in a URL or in a command to paste",
        arguments: ["bash", "zsh", "fish"])
    func session(shell: String) async throws {
        // python3 types into the shell.
        guard Tool.areInstalled(shell, "python3") else { try Test.cancel("takes \(shell) and python3") }
        let rows = Self.words + Self.lines + [Self.command(in: shell)]
        let urls = isSanitized ? [] : Self.markedURLs
        // Completions take a while: of those that are not offered, some are tried.
        let offered = urls.indices.filter { Self.offered(urls[$0], in: shell) != nil }
        let others = urls.indices.filter { Self.offered(urls[$0], in: shell) == nil && $0.isMultiple(of: 29) }
        let tried = offered + others
        #expect(isSanitized || offered.count > 30 && others.count > 5)
        let groups = Self.pastedTexts(in: shell)
        let pasted = groups.map { group in "arguments " + group.map { ShellWord.quoted($0) }.joined(separator: " ") }
        let output = try await Self.typed(
            rows.map(\.typed), running: tried.map { "syncagent why --cache marks https://\($0).e" } + pasted,
            markedURLs: urls, in: shell)
        try #require(output.count == rows.count + tried.count + groups.count)
        let decoder = JSONDecoder()
        for (row, line) in zip(rows, output) {
            let completed = try decoder.decode([String].self, from: Data("[\(line)]".utf8))
            #expect(completed == [row.completed], "\(row.typed)")
        }
        for (index, line) in zip(tried, output.dropFirst(rows.count)) {
            let words = try decoder.decode([String].self, from: Data(line.utf8))
            let expected = Self.offered(urls[index], in: shell) ?? IconURL("https://\(index).e")
            #expect(words.count == 5 && IconURL(words.last ?? "") == expected, "\(words)")
        }
        for (group, line) in zip(groups, output.suffix(groups.count)) {
            let words = try decoder.decode([String].self, from: Data(line.utf8))
            #expect(words.map { IconURL($0) } == group.map { IconURL($0) })
        }
    }

    /// Types lines into one shell, a tab after each, and then runs others; in a folder with files and two caches.
    ///
    /// - Returns: What becomes of each line, as JSON.
    private static func typed(
        _ lines: [String], running: [String], markedURLs: [IconURL], in shell: String
    ) async throws -> [Substring] {
        try await withTemporaryFolder { folder in
            for (name, urls) in [("syncagent", Self.urls), ("marks", markedURLs)] {
                let cache = folder.appending(name)
                try makeFolder(cache)
                let apps = urls.map {
                    AppListDocument.App(name: nil, icon: $0, download: nil, state: .ready(Sample.image("x")))
                }
                try Sample.publish(1, [Sample.document("apps.plist", apps: apps)], in: cache)
            }
            let script = folder.appending("script")
            try await write(Program.run(program.string, "--generate-completion-script", shell).output, to: script)
            // A command is not taken for it.
            try makeFolder(folder.appending("status"))
            for name in ["a.plist", "a.txt"] { try write("", to: folder.appending(name)) }
            let tool = "\(Article.project)/Tests/Tools/complete"
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let result = try await Program.run(
                ["env", "--chdir", folder.string, tool, shell, script.string] + lines + ["--run"] + running,
                environment: [
                    "PATH": "\(program.removingLastComponent()):\(path)", "XDG_CACHE_HOME": folder.string,
                    "LC_ALL": "C.UTF-8",
                ])
            #expect(result.code == 0, "\(result.messages)")
            for ran in ["pwned", "syncagent/pwned", "marks/pwned"] {
                #expect(!FileManager.default.fileExists(atPath: folder.appending(ran).string))
            }
            return result.output.split(separator: "\n")
        }
    }
}

// MARK: - Commands, options, their values, settings, lists and files

extension ShellCompletionTests {
    private typealias Row = (typed: String, completed: String)

    private static let words: [Row] = [
        ("syncagent stat", "syncagent status "), ("syncagent config def", "syncagent config default "),
        ("syncagent config --ch", "syncagent config --changed "),
        ("syncagent config fetch.maxB", "syncagent config fetch.maxBytes "),
        ("syncagent config --changed images.al", "syncagent config --changed images.allowSVG "),
        ("syncagent why --js", "syncagent why --json "), ("syncagent list ap", "syncagent list apps.plist "),
        ("syncagent run --log-level deb", "syncagent run --log-level debug "),
        ("syncagent status --color nev", "syncagent status --color never "),
        ("syncagent run --set fetch.maxB", "syncagent run --set fetch.maxBytes="),
        ("syncagent run --set images.allowSVG=t", "syncagent run --set images.allowSVG=true "),
        ("syncagent check a", "syncagent check a.plist "),
        ("syncagent run --lists syn", "syncagent run --lists syncagent/"),
    ]
}

// MARK: - URLs wherever the cursor stands in them, and within quotes

extension ShellCompletionTests {
    private static let urls: [IconURL] = [
        "https://example.com/mail.png", "https://icons.example.net:8080/a b/x@2.png",
        "https://example.org/q.png?token=abc", "https://evil.example/$(touch pwned)`touch pwned`.png",
    ]

    private static let lines: [Row] = {
        let mail = "syncagent why https://example.com/mail.png "
        let port = "syncagent why https://icons.example.net:8080/a\\ b/x@2.png "
        return [
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
    }()

    /// A URL with a command in it is quoted.
    private static func command(in shell: String) -> Row {
        let backtick = shell == "fish" ? "`" : "\\`"
        let url = "https://evil.example/\\$\\(touch\\ pwned\\)\(backtick)touch\\ pwned\(backtick).png"
        return ("syncagent why https://ev", "syncagent why \(url) ")
    }
}

// MARK: - Signs of ASCII and what stands beside them

extension ShellCompletionTests {
    /// A mark of the letter before it, a letter that is joined to the next, a joiner, and others that terminals do not
    /// show.
    private static let marks = ["\u{301}", "\u{FE0F}", "\u{D4E}", "\u{200D}", "\u{600}", "\u{2028}"]
    private static let signs = (0x21...0x7E).compactMap { Unicode.Scalar($0) }.filter { !$0.properties.isAlphabetic }

    /// Texts with each mark before and after a sign.
    ///
    /// A shell that takes one for more than a word runs a command.
    private static func texts(_ sign: Unicode.Scalar, blank: String) -> [String] {
        marks.flatMap { mark in
            ["a\(sign)\(mark);touch\(blank)pwned;\(sign)", "a\(mark)\(sign);touch\(blank)pwned;\(sign)>pwned"]
        }
    }

    /// URLs with these texts: one for each sign that has all that are shown, and one for each other text.
    private static let markedURLs: [IconURL] = {
        var paths: [String] = []
        for sign in signs {
            let all = texts(sign, blank: "${IFS}")
            let shown = all.filter { ShellWord.isShown($0) }
            // What follows these signs is not offered.
            let isWhole = sign != "?" && sign != "#"
            paths += (isWhole ? [shown.joined()] : shown) + all.filter { !ShellWord.isShown($0) }
        }
        return paths.enumerated().map { IconURL("https://\($0.offset).example/\($0.element).png") }
    }()

    /// A URL without its query and fragment; `nil` if terminals do not show all of that, or JSON escapes a part of it.
    private static func offered(_ url: IconURL, in shell: String) -> IconURL? {
        let text = LogURL(url).description
        guard ShellWord.isShown(text), !text.utf8.contains(where: "\"\\".utf8.contains),
            // zsh does not quote it.
            shell != "zsh" || !text.utf8.contains(UInt8(ascii: "!"))
        else { return nil }
        return IconURL(text)
    }

    /// What is quoted to be pasted, for a command each.
    private static func pastedTexts(in shell: String) -> [[String]] {
        signs.compactMap { sign in
            // fish knows no escapes of this kind: it refuses the line.
            let group = texts(sign, blank: " ").filter { shell != "fish" || ShellWord.isShown($0) }
            return group.isEmpty ? nil : group
        }
    }
}
