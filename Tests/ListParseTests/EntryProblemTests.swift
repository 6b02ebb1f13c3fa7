// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Problems with single entries")
struct EntryProblemTests {
    @Test(
        "a bad entry is reported with its key path, and the rest counts",
        arguments: [
            ("<integer>1</integer>", "[0]: not a dictionary or a string"),
            ("<array/>", "[0]: not a dictionary or a string"),
            ("<date>0001-01-01T00:00:00Z</date>", "[0]: not a dictionary or a string"),
            ("<string></string>", "[0]: empty"),
            ("<string>a/b.png</string>", "[0]: relative URL, and lists.iconBaseURL is not set"),
            ("<string>//e.org/b.png</string>", "[0]: relative URL, and lists.iconBaseURL is not set"),
            ("<string>1http://e.org</string>", "[0]: has a URL within other text"),
            ("<string>=IMAGE(\"https://e.org/b.png\")</string>", "[0]: has a URL within other text"),
            ("<string>http:</string>", "[0]: nothing follows the scheme"),
            ("<string>\"http://e.org/b.png\"</string>", "[0]: remove the quotes around the URL"),
            (
                "<dict><key>icon</key><string>(https://e.org/a b.png)</string></dict>",
                "[0].icon: remove the parentheses around the URL"
            ),
            ("<string>&lt;http://e.org/b.png&gt;</string>", "[0]: remove the angle brackets around the URL"),
            ("<string> \n </string>", "[0]: empty"),
            ("<string>http://e.org/&#10;b</string>", "[0]: has a space or a control character in it"),
            ("<dict/>", "[0]: no icon key (icon, icon_url, iconURL, iconUrl, artwork)"),
            ("<dict><key>icon</key><true/></dict>", "[0].icon: not a string"),
            (
                "<dict><key>iconURL</key><string>x</string></dict>",
                "[0].iconURL: relative URL, and lists.iconBaseURL is not set"
            ),
        ])
    func badEntries(element: String, problem: String) throws {
        let good = "<string>http://e.org/good</string>"
        let list = try ListParser().parse("<plist><array>\(element)\(good)</array></plist>").get()
        #expect(list.entries == [AppEntry(icon: "http://e.org/good")])
        #expect(list.problems.map(\.description) == [problem])
    }

    @Test(
        "an entry counts although its name or download does not",
        arguments: [
            ("<integer>12</integer>", "12", nil), ("<integer>-3</integer>", "-3", nil),
            ("<integer>18446744073709551615</integer>", "18446744073709551615", nil),
            ("<true/>", nil, "not a string"), ("<real>1.5</real>", nil, "not a string"),
            ("<real>nan</real>", nil, "not a string"), ("<array/>", nil, "not a string"),
            ("<string>\(String(repeating: "x", count: 5000))</string>", nil, "longer than 4096 bytes"),
        ] as [(String, String?, String?)])
    func optionalTexts(element: String, text: String?, problem: String?) throws {
        let entry =
            "<key>icon</key><string>http://e.org/a</string><key>name</key>\(element)<key>download</key>\(element)"
        let list = try ListParser().parse("<plist><array><dict>\(entry)</dict></array></plist>").get()
        #expect(list.entries == [AppEntry(name: text, icon: "http://e.org/a", download: text)])
        #expect(list.problems.map(\.description) == problem.map { ["[0].name: \($0)", "[0].download: \($0)"] } ?? [])
    }

    @Test("the key path begins with the key of the list")
    func nestedKeyPath() throws {
        let list = try ListParser().parse(#"{"my apps" = (http://e.org/a, {}, {icon = ();});}"#).get()
        #expect(list.problems.map(\.keyPath) == [#"["my apps"][1]"#, #"["my apps"][2].icon"#])
    }

    @Test(
        "a list without a usable icon is rejected with the reason of its first entry; only an empty array is empty",
        arguments: [
            ("({icon = \"\";}, {icon = ();})", .noUsableEntry("[0].icon: empty")),
            ("({icon = {url = \"u:1\";};})", .noUsableEntry("[0].icon: not a string")),
            ("{apps = ({icon = \"http:\";});}", .noUsableEntry("apps[0].icon: nothing follows the scheme")),
            ("({icon = \"a.png\";}, {icon = \"x/b\";})", .noIconBase),
            ("({icon = \"![A](https://e.org/a)\";})", .noUsableEntry("[0].icon: has a URL within other text")),
            (
                #"({icon = "\"http://e.org/a\"";}, {icon = "a.png";})"#,
                .noUsableEntry("[0].icon: remove the quotes around the URL")
            ),
            (#"("<http://e.org/a>", word)"#, .noUsableEntry("[0]: remove the angle brackets around the URL")),
            (#"{A = "'http://e.org/a'"; B = c;}"#, .noUsableEntry("A: remove the quotes around the URL")),
            (
                #"{list = ("(http://e.org/a)"); B = c;}"#,
                .noUsableEntry("list[0]: remove the parentheses around the URL")
            ),
            (
                #"{logos = ("'http://e.org/a'", "'http://e.org/b'"); home = "http://e.org";}"#,
                .noUsableEntry("logos[0]: remove the quotes around the URL")
            ),
            (#"("\"http://e.org/a\" is down")"#, .noKnownShape),
            ("({icon = None;})", .noUsableEntry("[0].icon: relative URL, and lists.iconBaseURL is not set")),
            ("({name = Mail; icon = \"e.com/a.png\";})", nil),
            ("(\"http:\")", .noKnownShape), ("({name = Mail;})", .noKnownShape),
        ] as [(String, ListRejection?)])
    func nothingUsable(text: String, rejection: ListRejection?) throws {
        let verdict = ListParser().parse(Array(text.utf8))
        let expected = rejection ?? .noUsableEntry("[0].icon: no http:// or https:// before the host")
        #expect(verdict == .failure(expected))
        #expect(try ListParser().parse("()").get() == AppList())
    }

    @Test(
        "a list of any shape whose URLs can never be requested is rejected with the reason of its first entry",
        arguments: [
            (#"("htps://e.org/a", "ftp://e.org/b")"#, "[0]: only http and https are supported, not “htps”"),
            (#"("http://", "")"#, "[0]: the URL is invalid: it has no host"), (#"("", "http://")"#, "[0]: empty"),
            (#"("http://e.org:0/a", "x:1")"#, "[0]: its port is not between 1 and 65535"),
            (#"{apps = ("x:1");}"#, "apps[0]: only http and https are supported, not “x”"),
            (#"{my = ("x:1");}"#, "my[0]: only http and https are supported, not “x”"),
            (#"({name = (); icon = "http://me@e.org/";})"#, "[0].icon: a URL that contains a user name is refused"),
            (#"({icon = "x:1";}, {icon = "";})"#, "[0].icon: only http and https are supported, not “x”"),
            (#"{B = "http://"; A = "x:1";}"#, "A: only http and https are supported, not “x”"),
            (
                #"{items = ({assets = ({kind = "display-image"; url = "x:1";});});}"#,
                "items[0].assets[0].url: only http and https are supported, not “x”"
            ),
        ])
    func neverRequested(text: String, reason: String) {
        #expect(ListParser().parse(text) == .failure(.noUsableEntry(reason)))
    }

    @Test(
        "one URL that can be requested makes a list, and what settings or its image say does not count",
        arguments: [
            (#"("x:1", "http://e.org/a")"#, 2), (#"("http://10.0.0.1/a")"#, 1), (#"("data:,x")"#, 1),
            (#"{A = "x:1"; B = "http://e.org/b";}"#, 2), (#"({icon = "http://e.org/a b.png";})"#, 1),
            // Among names with URLs, the array is an entry without one.
            (#"{Mail = "http://e.org/m"; Maps = ("x:1"); News = "http://e.org/n";}"#, 2),
            (#"{Mail = "http://e.org/m"; Maps = ("'http://e.org/p'"); News = "http://e.org/n";}"#, 2),
        ])
    func requested(text: String, count: Int) throws {
        #expect(try ListParser().parse(text).get().entries.count == count)
    }

    @Test("unusable entries of each shape are known by identity or name, at their places")
    func unusable() throws {
        let array = try ListParser().parse(
            "({id = 1; icon = \"\";}, {name = B; icon = \"http://a/b\";}, {name = C; icon = ();}, {name = D;}, {icon = \"\";})"
        ).get()
        #expect(
            array.unusable == [
                UnusableEntry(index: 0, name: nil, id: "1", keyPath: "[0].icon"),
                UnusableEntry(index: 1, name: "C", id: nil, keyPath: "[2].icon"),
                UnusableEntry(index: 1, name: "D", id: nil, keyPath: "[3]"),
                UnusableEntry(index: 1, name: nil, id: nil, keyPath: "[4].icon"),
            ])
        #expect(array.problems.count == 4)
        let named = try ListParser().parse("{A = \"\"; B = \"http://a/b\"; C = ();}").get()
        #expect(named.unusable.map(\.name) == ["A", "C"] && named.unusable.map(\.index) == [0, 1])
        let item = "{kind = \"display-image\"; url = \"\";}"
        let manifest = try ListParser().parse(
            "{items = ({assets = (\(item)); metadata = {title = T; \"bundle-identifier\" = b;};}, \"http://a/x\");}"
        ).get()
        #expect(
            manifest.unusable == [
                UnusableEntry(index: 0, name: "T", id: "b display-image", keyPath: "items[0].assets[0].url")
            ])
        let munki = try ListParser().parse("({name = M; icon_name = M;}, \"http://a/x\")").get()
        #expect(munki.unusable == [UnusableEntry(index: 0, name: "M", id: "M", keyPath: "[0].icon_name")])
    }

    @Test(
        "after a hundred problems the rest is counted",
        arguments: [(100, nil), (101, "…: 1 more problem"), (250, "…: 150 more problems")])
    func manyProblems(count: Int, last: String?) throws {
        let bad = String(repeating: "x, ", count: count)
        let list = try ListParser().parse("(\(bad)http://e.org/a)").get()
        #expect(list.entries.count == 1)
        #expect(list.problems.count == (last == nil ? 100 : 101))
        #expect(last == nil || list.problems.last?.description == last)
    }
}
