// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SystemPackage
import Testing

@testable import SyncAgentCLI

@Suite("Commands and names that are suggested")
struct SuggestionTests {
    @Test(
        "the agent is started by what works for whoever asks",
        arguments: [
            (true, true, [], true, "systemctl start syncagent"), (true, false, [], true, "systemctl start syncagent"),
            (true, false, [], false, "syncagent run"), (true, true, [], false, "syncagent run --allow-root"),
            (false, false, [], true, "systemctl --user start syncagent"),
            (false, false, ["--user"], true, "systemctl --user start syncagent"),
            (false, false, [], false, "syncagent run"), (false, false, ["--cache /c"], true, "syncagent run"),
            (false, true, [], true, "syncagent run --allow-root"),
            (false, true, [], false, "syncagent run --allow-root"),
            (false, true, ["--user"], true, "syncagent run --allow-root"),
            (false, true, ["--cache /c"], true, "syncagent run --allow-root"),
        ])
    func start(isSystem: Bool, isRoot: Bool, options: [String], hasUnit: Bool, command: String) {
        let start = StartCommand.text(isSystem: isSystem, isRoot: isRoot, options: options) { _ in hasUnit }
        #expect(start == command)
    }

    @Test(
        "a URL that is meant is one to paste, and not what was given",
        arguments: [
            ("https://a.example/a.pgn", "https://a.example/a.png", " Did you mean https://a.example/a.png?"),
            (
                "https://a.example/a.png", "https://a.example/a.png?v=12345",
                " Did you mean 'https://a.example/a.png?…'?"
            ),
            ("https://a.example/a.png?v=1", "https://a.example/a.png", " Did you mean https://a.example/a.png?"),
            (
                "https://a.example/a.png?v=1", "https://a.example/a.png?v=2",
                " A list names it with another query: 'https://a.example/a.png?…'"
            ),
            (
                "https://a.example/a.png#b", "https://a.example/a.png#c",
                " A list names it with another fragment: https://a.example/a.png"
            ),
            (
                "https://a.example/a.png?v=1#b", "https://a.example/a.png?v=1#c",
                " A list names it with another fragment: 'https://a.example/a.png?…'"
            ),
            ("https://a.example/a.png#b", "https://a.example/a.png", " Did you mean https://a.example/a.png?"),
            ("https://a.example/a.png?…", "https://a.example/a.png?v=2", ""),
            ("https://a.example/a.png", "https://other.example/c.png", nil),
        ] as [(IconURL, IconURL, String?)])
    func hints(given: IconURL, listed: IconURL, hint: String?) {
        #expect((Suggestion.distance(given, listed) == nil) == (hint == nil))
        if let hint { #expect(Suggestion.hint(for: given, listed) == hint) }
    }

    @Test(
        "URLs that are shown as one differ in their queries, their fragments, or both",
        arguments: [
            (["a?1", "a?2"], "queries"), (["a", "a#1"], "fragments"), (["a?1#1", "a?1#2"], "fragments"),
            (["a?1#1", "a?1#2", "a?2"], "queries or fragments"), (["a?1#1", "a?2#1"], "queries"),
        ] as [([IconURL], String)])
    func hiddenParts(urls: [IconURL], parts: String) {
        #expect(Suggestion.hiddenParts(of: urls) == parts)
    }

    @Test("a URL beside one that is shown the same names the part that differs")
    func beside() {
        let url: IconURL = "https://a.example/a.png?v=1#b"
        #expect(shown("https://a.example/a.png?v=2", beside: url) == "the same URL with another query")
        #expect(shown("https://a.example/a.png?v=1#c", beside: url) == "the same URL with another fragment")
        #expect(shown("https://a.example/c.png?v=1", beside: url) == "https://a.example/c.png?…")
    }

    @Test("a command names the URL that it is about, without what may be secret")
    func words() {
        func word(_ url: IconURL, in list: ListName? = nil) -> String {
            Suggestion.word(for: url, in: list, of: "/nonexistent")
        }
        #expect(word("https://a.example/a b.png", in: "a.json") == "'https://a.example/a b.png'")
        #expect(word("https://a.example/a.png?token=s3cr3t") == "'https://a.example/a.png?…'")
        // The short form does not lead to the URL.
        #expect(word("https://a.example/a.png?token=s3cr3t", in: "a b.json") == "'a b.json'")
    }
}
