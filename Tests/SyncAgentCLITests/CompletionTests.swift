// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import SyncAgent
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Words for the completions of shells")
struct CompletionTests {
    private static func app(_ url: IconURL, _ state: AppListDocument.State? = nil) -> AppListDocument.App {
        AppListDocument.App(name: "App", icon: url, download: nil, state: state ?? .ready(Sample.image("x")))
    }

    /// What a shell is offered that asks for the last one of some words.
    private static func words(
        _ names: (Completion) -> [String], _ line: [String], in home: FilePath, for shell: CompletionShell? = nil,
        exists: @escaping (FilePath) -> Bool = { (try? $0.stat()) != nil }
    ) -> [String] {
        let environment = PlaceChoice.Environment(
            variable: { $0 == "HOME" ? home.string : nil }, directory: { home }, exists: exists,
            target: { _ in nil }, isAnswered: { _ in false })
        let completion = Completion(
            words: line, index: line.count - 1, prefix: line.last ?? "", environment: environment, shell: shell,
            version: nil)
        return completion.words(for: names(completion))
    }

    /// Makes a home with a cache.
    private static func withCache(
        _ documents: [AppListDocument], _ body: (_ home: FilePath, _ cache: FilePath) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { home in
            let cache = home.appending(".cache").appending("syncagent")
            try makeFolder(home.appending(".cache"))
            try makeFolder(cache)
            try Sample.publish(1, documents, in: cache)
            try await body(home, cache)
        }
    }

    @Test(
        "names that are not ASCII are offered in bash only where a backslash is never half of a sign",
        arguments: [
            ("C", true), ("POSIX", true), ("C.UTF-8", true), ("de_DE.utf8@euro", true), ("zh_CN.GBK", false),
            ("zh_TW.Big5", false), ("zh_CN", false), ("ja_JP.SJIS", false),
        ])
    func locales(name: String, isSafe: Bool) { #expect(Completion.readsUTF8(locale: name) == isSafe) }

    @Test("URLs come from all lists, and those that do not fit are left out")
    func icons() async throws {
        let documents = [
            Sample.document(
                "apps.plist",
                apps: [
                    Self.app("https://example.com/mail.png"), Self.app("https://example.com/maps.png", .pending),
                    Self.app("https://example.com/gone.png", .failed(error: "http-404")),
                ]), Sample.document("pins", apps: [Self.app("https://example.org/pin.png")]),
        ]
        try await Self.withCache(documents) { home, _ in
            #expect(
                Self.words(\.icons, ["syncagent", "why", "https://example.com/ma"], in: home)
                    == ["https://example.com/mail.png", "https://example.com/maps.png"])
            #expect(
                Self.words(\.readyIcons, ["syncagent", "path", ""], in: home)
                    == ["https://example.com/mail.png", "https://example.org/pin.png"])
            #expect(Self.words(\.pinnedIcons, ["syncagent", "unpin", ""], in: home) == ["https://example.org/pin.png"])
            #expect(
                Self.words(\.failedIconsAndLists, ["syncagent", "retry", ""], in: home)
                    == ["apps.plist", "https://example.com/gone.png", "pins"])
            #expect(Self.words(\.lists, ["syncagent", "sync", ""], in: home) == ["apps.plist"])
        }
    }

    @Test("codes that are explained are offered without a cache")
    func codes() async throws {
        try await withTemporaryFolder { home in
            #expect(
                Self.words(\.codes, ["syncagent", "explain", "not-a"], in: home)
                    == ["not-a-property-list", "not-a-regular-file", "not-an-image"])
        }
    }

    @Test("lists in the lists folder are offered before they are published, and other files are not")
    func lists() async throws {
        try await Self.withCache([Sample.document("apps.plist", apps: [])]) { home, _ in
            let folder = home.appending("lists.d")
            try makeFolder(folder)
            for name in ["apps.plist", "new.plist", "README", ".hidden.plist", "a\u{1B}.plist"] {
                try write("", to: folder.appending(name))
            }
            // Latin-1, not UTF-8.
            let latin: [CChar] = [CChar(bitPattern: 0xE9)] + ".plist".utf8.map { CChar($0) } + [0]
            try write("", to: folder.pushing(FilePath(platformString: latin)))
            // The option that names it has a path as a shell gives it.
            let line = ["syncagent", "list", "--cache", ".cache/syncagent", "--lists", "~/'lists.d'", ""]
            #expect(Self.words(\.listsAndPins, line, in: home) == ["apps.plist", "new.plist"])
        }
    }

    @Test("the system's cache is used if there is no other one, or if --system is given")
    func system() async throws {
        try await withTemporaryFolder { home in
            func folder(_ line: [String], there: Set<FilePath>) -> [FilePath] {
                var asked: [FilePath] = []
                _ = Self.words(\.icons, line, in: home) { path in
                    asked.append(path)
                    return there.contains(path)
                }
                return asked
            }
            let asked = folder(["syncagent", "why", ""], there: [PlaceChoice.system.folders.cache])
            #expect(asked.contains(PlaceChoice.system.folders.cache))
            for line in [["syncagent", "why", "--system", ""], ["syncagent", "why", "--cache=x", ""]] {
                #expect(!folder(line, there: []).contains(PlaceChoice.system.folders.cache))
            }
        }
    }

    @Test("a query is offered only to somebody who types it")
    func secrets() async throws {
        let documents = [Sample.document("apps.plist", apps: [Self.app("https://example.com/a.png?token=abc&x=1")])]
        try await Self.withCache(documents) { home, _ in
            let plain = ["https://example.com/a.png?…"]
            #expect(Self.words(\.icons, ["syncagent", "why", "https://"], in: home) == plain)
            #expect(Self.words(\.icons, ["syncagent", "why", "https://example.com/a.png?"], in: home) == plain)
            #expect(Self.words(\.icons, ["syncagent", "why", "https://example.com/a.png?x"], in: home) == [])
            #expect(
                Self.words(\.icons, ["syncagent", "why", "https://example.com/a.png\\?tok"], in: home, for: .bash)
                    == ["https://example.com/a.png\\?token=abc\\&x=1"])
        }
    }

    @Test(
        "a URL is offered as tables show it",
        arguments: [
            "https://e.example/a", "https://e.example/a?x", "https://e.example/a#f", "https://e.example/a?x#f",
            "https://e.example/a#f?x", "https://e.example?", "https://user:secret@e.example/a@2.png?x",
            "http://e.example/ü?x", "data:image/png;base64,AAAA",
        ] as [IconURL])
    func spelling(url: IconURL) async throws {
        try await Self.withCache([Sample.document("apps.plist", apps: [Self.app(url)])]) { home, _ in
            #expect(Self.words(\.icons, ["syncagent", "why", ""], in: home) == [shown(url)])
        }
    }

    @Test("an icon of older generations only is retired in completions")
    func retired() async throws {
        let old = Sample.document(
            "apps.plist", apps: [Self.app("https://a.example/1"), Self.app("https://a.example/2")])
        try await Self.withCache([old]) { home, cache in
            let line = ["syncagent", "evict", "--explain", ""]
            #expect(Self.words(\.retiredIcons, line, in: home) == [])
            try Sample.publish(2, [Sample.document("apps.plist", apps: [Self.app("https://a.example/2")])], in: cache)
            #expect(Self.words(\.retiredIcons, line, in: home) == ["https://a.example/1"])
        }
    }

    @Test("URLs that would act on a terminal, that JSON has escapes in, or that are very long are left out")
    func odd() async throws {
        let urls = ["https://e.example/\u{1B}[31m", "https://e.example/\u{202E}x", "https://e.example/\"\\"]
        let long = "https://e.example/" + String(repeating: "a", count: 1000)
        let documents = [Sample.document("apps.plist", apps: (urls + [long]).map { Self.app(IconURL($0)) })]
        try await Self.withCache(documents) { home, _ in
            #expect(Self.words(\.icons, ["syncagent", "why", ""], in: home) == [])
        }
    }

    @Test("no cache, or a damaged one, has nothing to offer")
    func nothing() async throws {
        try await withTemporaryFolder { home in
            #expect(Self.words(\.icons, ["syncagent", "why", ""], in: home) { _ in false } == [])
            try write("{", to: home.appending("manifest.json"))
            #expect(Self.words(\.icons, ["syncagent", "why", "--cache", ".", ""], in: home) == [])
        }
    }

    @Test(
        "settings are offered with their mark, and those with few values with these",
        arguments: [
            ("fetch.max", ["fetch.maxBytes=", "fetch.maxRate=", "fetch.maxRedirects="]), ("fetch.maxBytes=", []),
            ("images.allowSVG=", ["images.allowSVG=false", "images.allowSVG=true"]),
            ("control.readers=", ["control.readers=everyone", "control.readers=group"]), ("eviction.holdAbove=", []),
        ])
    func settings(typed: String, offered: [String]) async throws {
        try await withTemporaryFolder { home in
            #expect(Self.words(\.settings, ["syncagent", "run", "--set", typed], in: home) == offered)
        }
    }
}

@Suite("Many words for a completion")
struct CompletionFoldTests {
    private static func folded(_ names: [String]) -> [String] { CompletionFold.fold(Set(names)) }

    @Test("few completions are offered as they are, each once and in order")
    func few() { #expect(Self.folded(["b", "a", "b"]) == ["a", "b"]) }

    @Test("many completions are offered by their folders")
    func folders() {
        let names = (0..<300).map { "https://\($0 % 3).example/icons/\($0).png" }
        #expect(Self.folded(names) == ["https://0.example/", "https://1.example/", "https://2.example/"])
    }

    @Test("many completions in one folder are offered by their next character, always two or more")
    func characters() {
        let names = (1000..<1500).map { "https://a.example/ü/icon-\($0).png" }
        #expect(Self.folded(names) == (10...14).map { "https://a.example/ü/icon-\($0)" })
        let accents = ["", "é", "è", "ê"].flatMap { accent in (0..<100).map { "a\(accent)\($0)" } }
        let folded = Self.folded(accents)
        #expect(folded.count == 13 && folded.contains("aé") && folded.contains("a7"), "\(folded)")
    }

    @Test("a name that is the beginning of all others stays")
    func beginning() {
        let folded = Self.folded(["a"] + (0..<200).map { "a\($0)" })
        #expect(folded == ["a"] + (0..<10).map { "a\($0)" })
    }
}

@Suite("Words that are being typed in a shell")
struct ShellInputTests {
    @Test(
        "quotes and escapes are removed from a word being completed",
        arguments: [
            ("a\\ b", "a b", nil), ("\"a b", "a b", "\""), ("'a\\b'c", "a\\bc", nil), ("\"a\\$\\b\"", "a$\\b", nil),
            ("x'y", "xy", "'"), ("", "", nil), ("''", "", nil),
        ] as [(String, String, Unicode.Scalar?)])
    func text(typed: String, text: String, quote: Unicode.Scalar?) {
        let input = ShellInput(typed)
        #expect(input.text == text && input.quote == quote)
    }

    @Test(
        "a name is spelled as the script of the shell takes it",
        arguments: [
            ("", CompletionShell.bash, "https://a:1/b c$(x)`y`;é", "https://a:1/b\\ c\\$\\(x\\)\\`y\\`\\;é"),
            ("\"", .bash, "a b", "a b"), ("\"", .bash, "a$b", nil), ("'", .bash, "it's", nil),
            ("", .bash, "s\u{D4E}';x\u{301}|", "s\u{D4E}\\'\\;x\u{301}\\|"), ("", .bash, "a'\u{301}", "a\\'\u{301}"),
            ("\"", .bash, "a\u{D4E}$", nil), ("'", .bash, "a'\u{FE0F}", nil),
            ("", .zsh, "a\u{D4E}:b\\\u{301}", "a\u{D4E}\\:b\\\\\u{301}"),
            ("", .zsh, "a!;b", nil), ("", .zsh, "a:b\\ $x", "a\\:b\\\\ $x"), ("", .fish, "a:b $x", "a:b $x"),
        ] as [(String, CompletionShell, String, String?)])
    func spelled(typed: String, shell: CompletionShell, name: String, spelled: String?) {
        #expect(ShellInput(typed).spelled(name, for: shell) == spelled)
    }
}
