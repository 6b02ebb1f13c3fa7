// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Words that can be pasted into a shell")
struct ShellWordTests {
    @Test(
        "are quoted only where they must be",
        arguments: [
            ("apps.plist", "apps.plist"), ("", "''"), ("my apps.plist", "'my apps.plist'"),
            ("it's.plist", "'it'\\''s.plist'"), ("a\nb", "$'a\\nb'"), ("a\u{1B}[31m'", "$'a\\u001b[31m\\''"),
            ("a\u{202E}b", "$'a\\u202eb'"), ("tag\u{E0041}", "$'tag\\U000e0041'"), ("日本.plist", "'日本.plist'"),
            ("$(reboot)", "'$(reboot)'"), ("~root", "'~root'"),
            ("https://a.example/x.png?a=b&c", "'https://a.example/x.png?a=b&c'"),
        ])
    func quoted(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test("are no options, even if they begin with a dash")
    func dashes() {
        #expect(ShellWord.file("-rf.plist") == "./-rf.plist")
        #expect(ShellWord.list("-rf.plist") == "-- -rf.plist")
    }

    @Test("do not name an icon whose URL may have secrets in it")
    func secrets() {
        #expect(ShellWord.icon("https://a.example/x.png") == "https://a.example/x.png")
        #expect(ShellWord.icon("https://a.example/x.png?key=s3cr3t") == nil)
    }
}
