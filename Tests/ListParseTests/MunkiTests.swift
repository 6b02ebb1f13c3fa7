// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Munki catalogs and pkginfo")
struct MunkiTests {
    private static let hash = "\(Digest.of("x"))"

    private func parse(_ text: String) throws -> ListVerdict {
        let base = try #require(IconBase("https://e.org/icons"))
        return ListParser(limits: ListLimits(iconBase: base)).parse(text)
    }

    private static func item(_ name: String, icon: String, expected: Digest? = nil) -> AppEntry {
        AppEntry(name: name, id: name, icon: "https://e.org/icons/\(icon)", expected: expected)
    }

    @Test(
        "an item has the icon that Munki shows for it",
        arguments: [
            ("icon_name = A;", "A.png"), ("icon_name = A.png;", "A.png"), ("icon_name = A.jpeg;", "A.jpeg"),
            ("icon_name = A.PNG;", "A.PNG"), ("icon_name = \"\n A.png \";", "A.png"),
            ("icon_name = \" \";", "Mail.png"), ("icon_name = A.webp;", "A.webp.png"),
            ("icon_name = \"A 1.2\";", "A%201.2.png"),
            ("icon_name = \"a/b.icns\";", "a/b.icns"), ("icon_name = \"a.png/b\";", "a.png/b.png"),
            ("icon_name = .png;", ".png.png"), ("icon_name = \"\";", "Mail.png"), ("catalogs = (testing);", "Mail.png"),
            ("icon_name = \"http://a/b.png\";", "http%3A//a/b.png"),
        ])
    func icon(keys: String, path: String) throws {
        let list = AppList(entries: [Self.item("Mail", icon: path)])
        #expect(try parse("({name = Mail; \(keys)})") == .success(list))
        #expect(try parse("{name = Mail; \(keys)}") == .success(list))
    }

    @Test("a pkginfo is one entry, whatever else is in it")
    func pkginfo() throws {
        let text = """
            {name = Mail; version = 1.2; catalogs = (testing, production); icon_name = Mail; icon_hash = \(Self.hash);
            PackageCompleteURL = "https://e.org/Mail.dmg"; items_to_copy = ({source_item = Mail.app;});
            installs = ({path = "/Applications/Mail.app"; type = application;});}
            """
        #expect(
            try parse(text) == .success(AppList(entries: [Self.item("Mail", icon: "Mail.png", expected: .of("x"))])))
    }

    @Test(
        "a dictionary with a usable list of apps is no package, whatever its other keys are",
        arguments: [
            "{name = Shop; catalogs = ({name = Mail; icon = \"https://e.org/m\";});}",
            "{name = Shop; icon_name = shop; programs = ({name = Mail; icon = \"https://e.org/m\";});}",
        ])
    func shop(text: String) throws {
        let list = AppList(entries: [AppEntry(name: "Mail", icon: "https://e.org/m")])
        #expect(try parse(text) == .success(list) && ListParser().parse(text) == .success(list))
    }

    @Test("a catalog has an entry for each item; the versions of an app have one image, and each its digest")
    func catalog() throws {
        let text = """
            ({name = Mail; version = 1; icon_hash = \(Self.hash);}, {name = Mail; version = 2; icon_name = Mail.png;},
            {name = Mail; icon_hash = \(Self.hash.uppercased());}, {name = Mail; icon_hash = \(Digest.of("y"));})
            """
        let digests: [Digest?] = [.of("x"), nil, .of("x"), .of("y")]
        let list = AppList(entries: digests.map { Self.item("Mail", icon: "Mail.png", expected: $0) })
        #expect(try parse(text) == .success(list))
    }

    @Test(
        "a bad value is reported with its key path",
        arguments: [
            ("icon_name = (a);", "icon_name: not a string", nil),
            ("icon_hash = abc;", "icon_hash: not a SHA-256 digest in hexadecimal digits", "Mail.png"),
            ("icon_hash = ();", "icon_hash: not a SHA-256 digest in hexadecimal digits", "Mail.png"),
            ("icon = \"a b\"; icon_name = A;", "icon: has a space or a control character in it", nil),
        ] as [(String, String, String?)])
    func problems(keys: String, problem: String, path: String?) throws {
        let list = try parse("({icon = \"https://e.org/a\";}, {name = Mail; \(keys)})").get()
        #expect(list.entries.dropFirst().map(\.icon) == [path].compactMap { $0.map { "https://e.org/icons/\($0)" } })
        #expect(list.problems.map(\.description) == ["[1].\(problem)"])
    }

    @Test("an item that has neither an icon nor a name is a problem")
    func nameless() throws {
        #expect(try parse("{icon_hash = \(Self.hash);}") == .failure(.noUsableEntry("name: not a string")))
        let list = try parse("({icon_hash = \(Self.hash);}, {name = Mail; icon_name = Mail;})").get()
        #expect(list.problems.map(\.description) == ["[0].name: not a string"] && list.entries.count == 1)
    }

    @Test("an item with a name that is too long, and without a base URL, is a problem of its entry alone")
    func longName() throws {
        let name = String(repeating: "x", count: AppEntry.maxTextBytes + 1)
        let verdict = ListParser().parse("({icon = \"https://e.org/a\";}, {catalogs = (a); name = \(name);})")
        #expect(try verdict.get().entries.count == 1)
        #expect(try ParseRecord.decode(ParseRecord.encode(verdict), maxEntries: 5) == verdict)
    }

    @Test("an icon key goes before the item's icon name")
    func iconKey() throws {
        let text = "({icon = \"a.png\"; icon_name = B; name = Mail; icon_hash = \(Self.hash);})"
        let entry = AppEntry(name: "Mail", icon: "https://e.org/icons/a.png")
        #expect(try parse(text) == .success(AppList(entries: [entry])))
    }

    @Test("without lists.iconBaseURL a list of names alone is rejected, and others go on without them")
    func noBase() throws {
        #expect(ListParser().parse("({name = Mail; icon_name = Mail;})") == .failure(.noIconBase))
        #expect(ListParser().parse("{name = Mail; catalogs = (testing);}") == .failure(.noIconBase))
        let mixed = try ListParser().parse("({name = Mail; icon_name = Mail;}, \"https://e.org/a\")").get()
        #expect(mixed.entries == [AppEntry(icon: "https://e.org/a")])
        #expect(mixed.problems.map(\.description) == ["[0].icon_name: relative URL, and lists.iconBaseURL is not set"])
    }

    @Test("_icon_hashes.plist names the images of the folder")
    func iconHashes() throws {
        let other = Digest.of("y").hex.uppercased()
        #expect(
            try parse("{\"A.png\" = \(Self.hash); \"b/C 1.png\" = \(other);}")
                == .success(AppList(images: ["https://e.org/icons/A.png", "https://e.org/icons/b/C%201.png"])))
        let remark = "{\"_A.png\" = \(Self.hash);}"
        #expect(try parse(remark) == .success(AppList(images: ["https://e.org/icons/_A.png"])))
        #expect(try parse("{\"_sum\" = \(Self.hash); A = \"http://a/1\";}").get().entries.map(\.name) == ["A"])
        // A package that names neither its icon nor its catalogs.
        #expect(try parse("{name = A; installer_item_hash = \(Self.hash);}") == .failure(.noKnownShape))
        #expect(try parse("{\"A.png\" = \(Self.hash); C = (a);}") == .failure(.noKnownShape))
        #expect(try parse("{}") == .failure(.noKnownShape))
        #expect(ListParser().parse("{\"A.png\" = \(Self.hash);}") == .failure(.noIconBase))
        #expect(try parse("{\"A.png\" = \(Self.hash); B = \"http://a/1\"; C = \"http://a/2\";}").get().images == nil)
        let base = try #require(IconBase("https://e.org/icons"))
        let limits = ListLimits(maxEntries: 1, iconBase: base)
        #expect(
            ListParser(limits: limits).parse("{\"A.png\" = \(Self.hash); \"B.png\" = \(Self.hash);}")
                == .failure(.tooManyEntries(limit: 1)))
    }

    @Test(
        "with lists.iconBaseURL, image files are the icons of each shape, spaces and escapes included",
        arguments: [
            ("{apps = (\"mail.png\", \"My Maps.PNG\");}", ["mail.png", "My%20Maps.PNG"]),
            ("(\"a/b.svg?v=2\")", ["a/b.svg?v=2"]), ("{Mail = \"mail.png\"; by = \"\";}", ["mail.png"]),
            ("({icon = \"100%25 é%202.png\";})", ["100%25%20%C3%A9%202.png"]),
            ("{logos = (\"a.png\", \"b.png\"); by = me;}", ["a.png", "b.png"]),
        ])
    func files(text: String, paths: [String]) throws {
        #expect(try parse(text).get().entries.map(\.icon.text) == paths.map { "https://e.org/icons/" + $0 })
        #expect(ListParser().parse(text).code != nil)
    }

    @Test("words are no icons, although lists.iconBaseURL is set, unless there is a URL beside them")
    func words() throws {
        #expect(try parse("(a, b)").code == "no-known-shape")
        #expect(try parse("{a = b;}").code == "no-known-shape")
        #expect(try parse("(\"u:1\", b)").get().entries.map(\.icon) == ["u:1", "https://e.org/icons/b"])
        let urls = ["http://a/1", "http://a/2", "https://e.org/icons/c"]
        #expect(try parse("{a = \"http://a/1\"; b = \"http://a/2\"; c = c;}").get().entries.map(\.icon.text) == urls)
        #expect(try parse("{a = \"http://a/1\"; b = b;}").code == "no-known-shape")
        #expect(try parse("({icon = a.png;})").get().entries.map(\.icon) == ["https://e.org/icons/a.png"])
    }
}
