// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgentCLI

@Suite("Command lines that are wrong")
struct CommandLineTextTests {
    @Test(
        "a command that does not exist is refused, and the nearest one is named",
        arguments: [
            (["statsu"], "Did you mean status?"), (["help", "syn"], "Did you mean sync?"),
            (["PIN"], "Did you mean pin?"),
            (["help", "bogus"], "There is no command “bogus”."), (["xyzzy", "--json"], "There is no command “xyzzy”."),
            (["config", "chek", "a.toml"], "“config chek”. Did you mean check?\nSee 'syncagent help config'"),
            (["config", "bogus"], "There is no command “config bogus”."),
            (["help", "config", "fetch.maxBytes"], "There is no command “config fetch.maxBytes”."),
            (["help", "config", "bogus"], "There is no command “config bogus”."),
            (["a\n\u{1B}[31m"], "“a\\u000a\\u001b[31m”"),
            (["--system", "status"], "Options follow the command: syncagent status --system\n"),
        ])
    func unknown(arguments: [String], words: String) throws {
        let flaw = try #require(CommandLineText.flaw(in: arguments))
        #expect(flaw.contains(words), "\(flaw)")
    }

    @Test(
        "a command that exists is not refused",
        arguments: [
            [], ["--help"], ["status"], ["help"], ["help", "sync"], ["help", "--json"], ["config"],
            ["config", "--json"], ["config", "check", "x"], ["list", "statsu"],
            ["config", "fetch.maxBytes"], ["config", "fetch"], ["config", "maxBytes"], ["config", "fetch.perhost"],
        ])
    func known(arguments: [String]) {
        #expect(CommandLineText.flaw(in: arguments) == nil)
    }

    @Test("an argument with line breaks keeps to its line in a message")
    func escaped() {
        let message = CommandLineText.escaped("Error: Unknown option '--a\nb'\nUsage: x", ["syncagent", "--a\nb=1"])
        #expect(message == "Error: Unknown option '--a\\u000ab'\nUsage: x")
    }

    @Test("an option that is not at all like what was typed is not suggested")
    func far() {
        let far = "Error: Unknown option '--al'. Did you mean '--set'?\nUsage: x"
        #expect(CommandLineText.withoutFarSuggestion(far) == "Error: Unknown option '--al'.\nUsage: x")
        let near = "Error: Unknown option '--jsn'. Did you mean '--json'?"
        #expect(CommandLineText.withoutFarSuggestion(near) == near)
    }

    @Test(
        "the nearest name differs in a few letters, or in case",
        arguments: [("app.plist", "apps.plist"), ("APPS.PLIST", "apps.plist"), ("zzz", nil)])
    func nearest(text: String, name: String?) {
        #expect(Suggestion.name(for: text, among: ["apps.plist", "games.plist"]) == name)
    }

    @Test("a name with U+0000, which no argument can have, is not suggested")
    func zero() {
        #expect(Suggestion.name(for: "Mail", among: ["Mail\0", "Mai\0l"]) == nil)
    }
}
