// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import Reports

@Suite("Words that can be pasted into a shell")
struct ShellWordTests {
    @Test(
        "quoted words are quoted only where they must be",
        arguments: [
            ("apps.plist", "apps.plist"), ("", "''"), ("my apps.plist", "'my apps.plist'"),
            ("it's.plist", "'it'\\''s.plist'"), ("a\nb", "$'a\\012b'"), ("a\u{1B}[31m'", "$'a\\033[31m\\047'"),
            ("a\u{202E}b", "$'a\\342\\200\\256b'"), ("tag\u{E0041}", "$'tag\\363\\240\\201\\201'"),
            ("日本.plist", "'日本.plist'"),
            ("a\\'b", "'a'\\\\''\\''b'"), ("e\u{301}.plist", "'e\u{301}.plist'"),
            ("s\u{D4E}';x", "'s\u{D4E}'\\'';x'"), ("'\u{301};x", "$'\\047\\314\\201;x'"),
            ("\u{FE0F}!", "$'\\357\\270\\217\\041'"),
            ("$(reboot)", "'$(reboot)'"), ("~root", "'~root'"),
            ("https://a.example/x.png?a=b&c", "'https://a.example/x.png?a=b&c'"),
        ])
    func quoted(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test("quoted words have their options outside of them")
    func options() {
        let context = CommandContext(options: ["--socket '/a b'"])
        #expect(context.command("syncagent list 'x -- ;y'") == "syncagent list 'x -- ;y' --socket '/a b'")
        #expect(context.command("syncagent list -- '-x -- ;y'") == "syncagent list --socket '/a b' -- '-x -- ;y'")
        #expect(context.command("syncagent config check '/a b'") == "syncagent config check '/a b'")
    }

    @Test("quoted words are no options, even if they begin with a dash")
    func dashes() {
        #expect(ShellWord.file("-rf.plist") == "./-rf.plist")
        #expect(ShellWord.list("-rf.plist") == "-- -rf.plist")
    }

    @Test("quoted words do not name an icon whose URL may have secrets in it")
    func secrets() {
        #expect(ShellWord.icon("https://a.example/x.png") == "https://a.example/x.png")
        #expect(ShellWord.icon("https://a.example/x.png?key=s3cr3t") == nil)
    }
}
