// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Shapes of app lists")
struct ListShapeTests {
    @Test(
        "an array of dictionaries, of URLs, or of both is a list",
        arguments: [
            (
                #"({icon = "https://e.org/a.png"; name = Mail; download = "1.2M";})"#,
                [AppEntry(name: "Mail", icon: "https://e.org/a.png", download: "1.2M")]
            ),
            (#"({artwork = "https://e.org/a.png";})"#, [AppEntry(icon: "https://e.org/a.png")]),
            (#"({artwork = "https://e.org/b"; icon = "https://e.org/a";})"#, [AppEntry(icon: "https://e.org/a")]),
            (#"({icon_url = "https://e.org/b"; icon = "";})"#, [AppEntry(icon: "https://e.org/b")]),
            (#"({icon = "mdi:email"; icon_url = "https://e.org/b";})"#, [AppEntry(icon: "https://e.org/b")]),
            (#"({icon = "C:\\a.ico"; iconUrl = "https://e.org/b";})"#, [AppEntry(icon: "https://e.org/b")]),
            (#"({icon = "file:///a.png"; artwork = "https://e.org/b";})"#, [AppEntry(icon: "https://e.org/b")]),
            (#"({icon = "https://"; artwork = "https://e.org/b";})"#, [AppEntry(icon: "https://e.org/b")]),
            (#"({icon = "http://e.org:99999/a"; artwork = "data:,x";})"#, [AppEntry(icon: "data:,x")]),
            (#"({icon = "data:,"; iconURL = "x:1"; artwork = "data:,x";})"#, [AppEntry(icon: "data:,x")]),
            (
                #"({icon = "x:1"; artwork = "y:2"; icon_url = "";}, "https://e.org/a")"#,
                [AppEntry(icon: "x:1"), AppEntry(icon: "https://e.org/a")]
            ),
            ("(http://e.org/a, http://e.org/b)", [AppEntry(icon: "http://e.org/a"), AppEntry(icon: "http://e.org/b")]),
            ("(http://e.org/a, {icon = http://e.org/b;})", ["a", "b"].map { AppEntry(icon: "http://e.org/\($0)") }),
            (
                "({icon = http://e.org/a; name = \"\n  Mail \"; download = \" 1 MB\n\";})",
                [AppEntry(name: "Mail", icon: "http://e.org/a", download: "1 MB")]
            ),
            (
                "<plist><array><dict><key>icon</key><string>\u{A0}http://e.org/a\u{200B}</string>"
                    + "<key>name</key><string>Mail\u{A0}</string></dict></array></plist>",
                [AppEntry(name: "Mail", icon: "http://e.org/a")]
            ),
            ("()", []),
        ])
    func arrays(text: String, entries: [AppEntry]) {
        #expect(ListParser().parse(text) == .success(AppList(entries: entries)))
    }

    @Test(
        "a dictionary is a list by the array that it has",
        arguments: [
            ("{apps = (http://e.org/a);}", ["http://e.org/a"]),
            ("{Whatever = (http://e.org/a); other = 1; text = (a, b); none = ();}", ["http://e.org/a"]),
            ("{items = (http://e.org/a); apps = (http://e.org/b);}", ["http://e.org/b"]),
            ("{items = (a, b); icons = (http://e.org/b); x = (http://e.org/c);}", ["http://e.org/b"]),
            ("{apps = (); items = (http://e.org/a);}", ["http://e.org/a"]),
            ("{apps = (); home = http://e.org;}", []), ("{apps = (); items = (); x = (a);}", []),
            ("{apps = (); items = 0; icons = {};}", []),
            ("{items = {a = b;}; programs = ({icon = http://e.org/c;});}", ["http://e.org/c"]),
            ("{title = http://e.org; x = ({icon = http://e.org/c;});}", ["http://e.org/c"]),
            ("{home = http://e.org; icons = (http://e.org/c);}", ["http://e.org/c"]),
            ("{\"$schema\" = http://e.org; \"_by\" = http://e.org/me; icons = (http://e.org/c);}", ["http://e.org/c"]),
            ("{home = http://e.org; help = http://e.org/h; apps = (http://e.org/c);}", ["http://e.org/c"]),
            ("{x = ({icon = http://e.org/c;}); by = (\"<http://e.org/me>\");}", ["http://e.org/c"]),
            ("{x = (http://e.org/c); by = (\"'http://e.org/me'\"); see = \"<http://e.org>\";}", ["http://e.org/c"]),
        ])
    func arraysInDictionaries(text: String, icons: [IconURL]) {
        #expect(ListParser().parse(text) == .success(AppList(entries: icons.map { AppEntry(icon: $0) })))
    }

    @Test("names of a dictionary of name → URL are trimmed, and words and a dictionary beside it are no lost list")
    func namedBeside() throws {
        let list = try ListParser().parse("{\" Mail\" = http://e.org/c; tags = (a, b, c); by = {name = A;};}").get()
        #expect(list.entries == [AppEntry(name: "Mail", icon: "http://e.org/c")])
        #expect(list.unusable.map(\.name) == ["by", "tags"])
        let beside = [
            "{Mail = http://e.org/c; Maps = http://e.org/d; by = ({mail = a;}, {mail = b;});}",
            "{Mail = http://e.org/c; by = (\"<http://e.org/me>\");}",
            "{icons = \"http://e.org/a b\"; Mail = http://e.org/c;}",
        ]
        for text in beside {
            #expect(try ListParser().parse(text).get().entries.contains { $0.icon == "http://e.org/c" })
        }
    }

    @Test("a dictionary of name → URL is a list in the order of the names")
    func namedIcons() {
        var list = AppList(
            entries: [AppEntry(name: "Mail", icon: "http://e.org/m"), AppEntry(name: "Maps", icon: "http://e.org/p")],
            problems: [
                EntryProblem(keyPath: "[\"At Home\"]", reason: "relative URL, and lists.iconBaseURL is not set"),
                EntryProblem(keyPath: "Mix", reason: "not a string"),
            ])
        list.unusable = [
            UnusableEntry(index: 0, name: "At Home", id: nil, keyPath: "[\"At Home\"]"),
            UnusableEntry(index: 2, name: "Mix", id: nil, keyPath: "Mix"),
        ]
        let text = #"{Maps = http://e.org/p; Mail = http://e.org/m; "At Home" = home; Mix = {a = b;};}"#
        #expect(ListParser().parse(text) == .success(list))
    }

    @Test(
        "an array of URLs among names with URLs is no list, but an entry that is none",
        arguments: [
            (
                "{Mail = http://e.org/m; Maps = (http://e.org/p); News = http://e.org/n;}",
                [AppEntry(name: "Mail", icon: "http://e.org/m"), AppEntry(name: "News", icon: "http://e.org/n")]
            ),
            (
                "{home = http://e.org; logos = (http://e.org/p, http://e.org/q);}",
                ["p", "q"].map { AppEntry(icon: "http://e.org/\($0)") }
            ),
            (
                "{home = http://e.org; logos = ({icon = http://e.org/p;}); news = http://e.org/n;}",
                [AppEntry(icon: "http://e.org/p")]
            ),
        ])
    func arrayAmongNames(text: String, entries: [AppEntry]) throws {
        let list = try ListParser().parse(text).get()
        #expect(list.entries == entries)
        let isNamed = entries.first?.name != nil
        #expect(list.unusable.map(\.name) == (isNamed ? ["Maps"] : []))
    }

    @Test(
        "a document with a link is no list, unless most of its values are URLs",
        arguments: [
            (#"{"type": "https://e.org/p", "title": "Unavailable", "status": 503, "detail": "Soon"}"#, nil),
            (#"{"message": "API rate limit exceeded", "documentation_url": "https://e.org/docs"}"#, nil),
            (#"{"message": "Invalid", "errors": [{"code": "x"}], "documentation_url": "https://e.org/"}"#, nil),
            (#"{"message": "Down", "links": ["https://e.org/status"]}"#, nil),
            (#"{"message": "404 Not Found", "links": ["https://e.org/status"]}"#, nil),
            (#"{"message": "Not Found", "links": ["https://e.org/help", null]}"#, nil),
            (#"{"message": "Not Found", "links": ["https://e.org/help", 1], "see": "https://e.org/"}"#, nil),
            (#"{"name": "tool", "version": "1.0.0", "homepage": "https://e.org/", "main": "index.js"}"#, nil),
            (#"{"type": "https://e.org/p", "status": 503, "instance": "urn:uuid:5"}"#, nil),
            (#"{"status": 503, "help": "https://e.org/"}"#, nil),
            (#"{"ok": false, "help": "https://e.org/"}"#, nil),
            (#"{"Mail": "https://e.org/m", "Maps": "https://e.org/p", "version": 1, "by": "A"}"#, nil),
            ("{CFBundleName = A; CFBundleIdentifier = \"org.a.b\"; SUFeedURL = \"https://e.org/f\";}", nil),
            (#"{"Mail": "https://e.org/m", "Maps": "https://e.org/p", "version": 1}"#, 2),
            (#"{"_comment": "Made by hand", "$schema": null, "//": 1, "Mail": "https://e.org/m"}"#, 1),
            (#"{"@context": "https://e.org/c", "_by": "urn:x", "$schema": "https://e.org/s"}"#, nil),
            (#"{"@odata.context": "https://e.org/c", "@odata.nextLink": "https://e.org/2", "value": []}"#, nil),
            (#"{"$schema": "https://e.org/s", "@type": "Apps", "_links": {"a": 1}, "Mail": "https://e.org/m"}"#, 1),
            (#"{"@Voice Aloud": "https://e.org/v", "@": "https://e.org/a", "@1": "https://e.org/1"}"#, 3),
            (#"{"Mail": "https://e.org/m", "Maps": "", "News": "null", "Clock": "c.png", "Chat": null}"#, 1),
            (#"{"Mail": "https://e.org/m", "Maps": "/p", "News": "https://e.org/\nb", "Chat": {}, "Tags": []}"#, 1),
            (#"{"version": 1, "updated": "2026-01-02T03:04:05Z", "links": ["https://e.org/m"]}"#, 1),
            (#"{"title": "Ours", "by": "A", "links": ["https://e.org/m", "https://e.org/p"]}"#, 2),
            (#"{"Mail": "https://e.org/m", "Maps": "https://e.org/p", "News": false}"#, 2),
            (#"{"title": "Our apps", "links": ["https://e.org/m", null, "https://e.org/p"]}"#, 2),
            (#"{"title": "Our apps", "links": [{"icon": "https://e.org/m"}, null]}"#, 1),
            (#"{"version": 1, "links": ["https://e.org/m", null]}"#, 1),
        ] as [(String, Int?)])
    func links(text: String, apps: Int?) {
        let verdict = ListParser().parse(text)
        #expect((try? verdict.get().entries.count) == apps)
        #expect(verdict.code == (apps == nil ? "no-known-shape" : nil))
    }

    @Test(
        "a list that has lost its URLs is replaced by nothing else in its file",
        arguments: [
            ("{apps = ({name = Mail;}, {name = Maps;}); homepage = \"https://e.org/\";}", "no-usable-entry"),
            ("{apps = (\"\", \"\"); source = \"https://e.org/feed\";}", "no-usable-entry"),
            ("{apps = ({name = Mail;}); shots = (\"https://e.org/s.png\");}", "no-usable-entry"),
            ("{programs = ({id = 1;}); homepage = \"https://e.org/\";}", "no-usable-entry"),
            ("{error = \"Error: no connection\";}", "no-known-shape"), ("(\"Error: no connection\")", "no-known-shape"),
            ("{note = \"https://e.org/ is down\";}", "no-known-shape"),
            ("{home = http://e.org; apps = {m = {icon = http://e.org/m;};};}", "no-known-shape"),
            ("{home = http://e.org; apps = \"\";}", "no-known-shape"),
            ("{home = http://e.org; apps = \" \";}", "no-known-shape"),
            ("{home = http://e.org; apps = Array;}", "no-known-shape"),
            ("{shots = (http://e.org/s, http://e.org/t); items = null;}", "no-known-shape"),
            ("{home = http://e.org; apps = ({Icon = http://e.org/m;});}", "no-known-shape"),
            ("{shots = (http://e.org/s, http://e.org/t); apps = ((a));}", "no-known-shape"),
            ("{home = http://e.org; Apps = ({Icon = http://e.org/m;}, {Icon = http://e.org/n;});}", "no-known-shape"),
            ("{home = http://e.org; list = {a = {icon = http://e.org/m;}; b = {c = d;};};}", "no-known-shape"),
            ("{Mail = http://e.org/a; Maps = http://e.org/b; icons = (http://e.org/c);}", "ambiguous-shape"),
            (
                "{icons = (http://e.org/c); list = ({icon = http://e.org/a;}, {icon = http://e.org/b;});}",
                "ambiguous-shape"
            ),
            ("{icons = (); programs = ({icon = http://e.org/c;});}", "ambiguous-shape"),
            ("{apps = (); x = (http://e.org/c);}", "ambiguous-shape"),
            ("{Mail = (http://e.org/a); Maps = \"\"; News = \"\";}", "ambiguous-shape"),
            ("{Mail = http://e.org/a; Maps = http://e.org/b; items = ();}", "ambiguous-shape"),
        ])
    func lostURLs(text: String, code: String) {
        #expect(ListParser().parse(text).code == code)
    }

    @Test(
        "a character beyond U+FFFF is two escapes in OpenStep lists",
        arguments: [
            (#"\UD83C\UDF88 f\U00FCr alle"#, "🎈 für alle"), (#"\Ud83c\Udf88"#, "🎈"), (#"a\\UD83C"#, #"a\UD83C"#),
            (#"\\\UD83C\UDF88"#, #"\🎈"#), (#"\"\U00e9\""#, "\"é\""),
        ])
    func surrogates(escaped: String, name: String) throws {
        let list = try ListParser().parse("({name = \"\(escaped)\"; icon = \"http://a/1\";})").get()
        #expect(list.entries.map(\.name) == [name])
    }

    @Test(
        "a property list with none of the shapes is rejected, and never an empty list",
        arguments: [
            ("", "empty-file"), (" \n\t", "empty-file"), ("\u{FEFF}\n", "empty-file"),
            ("{\"$archiver\" = NSKeyedArchiver; \"$objects\" = (\"$null\", \"http://e.org/a\");}", "no-known-shape"),
            ("// x", "no-known-shape"), ("{}", "no-known-shape"), ("hello", "no-known-shape"),
            ("(a, b)", "no-known-shape"),
            ("({title = x;})", "no-known-shape"), ("{a = b;}", "no-known-shape"), ("{x = ();}", "no-known-shape"),
            ("{apps = (Mail); icons = ();}", "no-known-shape"), ("{apps = (); items = (Mail);}", "no-known-shape"),
            ("((), ())", "no-known-shape"), ("<plist><true/></plist>", "no-known-shape"),
            ("bplist00", "not-a-property-list"), (#"{"apps": [], "apps": ["http://e.org/a"]}"#, "repeated-keys"),
            ("<!DOCTYPE html><html><body>404</body></html>", "not-a-property-list"),
            ("<plist><array><string>http://e.org/a", "not-a-property-list"),
            ("{x = (http://e.org/a); y = (http://e.org/b);}", "ambiguous-shape"),
            ("{Mail = http://e.org/a; Maps = (http://e.org/b);}", "ambiguous-shape"),
        ])
    func noShape(text: String, code: String) {
        #expect(ListParser().parse(text).code == code)
    }

    @Test("an ambiguous dictionary is rejected with the keys that it could be")
    func ambiguousKeys() throws {
        let verdict = ListParser().parse(#"{x = (http://e.org/a); "y z" = (http://e.org/b); t = (a);}"#)
        let rejection = try #require(throws: ListRejection.self) { try verdict.get() }
        #expect(rejection.message.contains(#"(x, ["y z"])"#))
    }
}

extension ListParser {
    func parse(_ text: String) -> ListVerdict { parse(Array(text.utf8)) }
}

extension ListVerdict {
    /// The rejection's code; `nil` for an app list.
    var code: String? {
        switch self {
        case .success: nil
        case .failure(let rejection): rejection.code.rawValue
        }
    }
}
