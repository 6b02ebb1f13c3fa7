// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("The folder of icons with a relative name")
struct IconBaseTests {
    @Test(
        "a folder ends in a slash, whether it is written or not",
        arguments: [
            ("https://e.org/icons/", "https://e.org/icons/"), ("https://e.org/icons", "https://e.org/icons/"),
            ("http://e.org:8080", "http://e.org:8080/"), ("HTTPS://E.org/a%20b/", "HTTPS://E.org/a%20b/"),
        ])
    func folder(text: String, url: String) {
        #expect(IconBase(text)?.url == url)
    }

    @Test(
        "a base URL that is no folder on a server is refused",
        arguments: [
            "", "icons/", "/icons/", "//e.org/icons/", "ftp://e.org/", "file:///icons/", "data:,x", "https:",
            "https://",
            "https://user@e.org/", "https://e.org:65536/", "https://e.org/?a=b", "https://e.org/#a",
            "https://e.org/a b",
        ])
    func refused(text: String) {
        #expect(IconBase(text) == nil)
    }

    @Test(
        "a file's name is percent-encoded, its folders are not",
        arguments: [
            ("Mail.png", "Mail.png"), ("a/b c.png", "a/b%20c.png"), ("100%.png", "100%25.png"), ("é.png", "%C3%A9.png"),
            ("a?b#c.png", "a%3Fb%23c.png"), ("x:y+z&.png", "x%3Ay%2Bz%26.png"), ("-._~", "-._~"), ("\n", "%0A"),
            ("http://a/b", "http%3A//a/b"),
        ])
    func file(name: String, path: String) throws {
        let base = try #require(IconBase("https://e.org/icons"))
        #expect(base.url(ofFile: name) == "https://e.org/icons/" + path)
    }

    @Test(
        "a URL in the folder is that of a file, however its path is encoded",
        arguments: [
            ("https://e.org/icons/a/b%20c.png", "a/b c.png"), ("https://e.org/icons/%41.png?v=2#x", "A.png"),
            ("https://e.org/icons/%C3%A9.png", "é.png"), ("https://e.org/icons/", nil),
            ("https://e.org/icons/../a.png", nil),
            ("https://e.org/icons/%2E/a.png", nil), ("https://e.org/icons//a.png", nil),
            ("https://e.org/icons/a/", nil),
            ("https://e.org/icons/%zz.png", nil), ("https://e.org/icons/%FF.png", nil), ("https://e.org/icons", nil),
            ("https://e.org/other/a.png", nil), ("http://e.org/icons/a.png", nil),
        ] as [(String, String?)])
    func path(url: String, file: String?) throws {
        let base = try #require(IconBase("https://e.org/icons"))
        #expect(base.file(of: url) == file)
    }

    @Test(
        "a relative URL is resolved against the folder, an absolute one stays as it is",
        arguments: [
            ("a.png", "https://e.org/x/icons/a.png"), ("b/a.png?v=2", "https://e.org/x/icons/b/a.png?v=2"),
            ("./a.png", "https://e.org/x/icons/a.png"), ("../a.png", "https://e.org/x/a.png"),
            ("/a.png", "https://e.org/a.png"), ("//other.org/a.png", "https://other.org/a.png"),
            ("../../../a.png", "https://e.org/a.png"), ("é.png", "https://e.org/x/icons/%C3%A9.png"),
            (" a.png\n", "https://e.org/x/icons/a.png"), ("My App.png", "https://e.org/x/icons/My%20App.png"),
            ("Größe%202.png", "https://e.org/x/icons/Gr%C3%B6%C3%9Fe%202.png"),
            ("a b/é%20c.svg?d e#f", "https://e.org/x/icons/a%20b/%C3%A9%20c.svg?d%20e#f"),
            ("%41[1]%zz.png", "https://e.org/x/icons/%41%5B1%5D%25zz.png"),
            ("http://other.org/é.png", "http://other.org/é.png"),
        ])
    func relative(text: String, url: IconURL) throws {
        let base = try #require(IconBase("https://e.org/x/icons"))
        let limits = ListLimits(iconBase: base)
        #expect(limits.icon(text) == .success(url))
    }

    @Test("an invalid relative URL is refused, with a base folder and without")
    func flaws() throws {
        let base = try #require(IconBase("https://e.org/icons"))
        let limits = ListLimits(iconBase: base)
        #expect(limits.icon("") == .failure(.empty))
        for text in ["a b", "a\tb.png", "see http://e.org/a.png", "//a b/c.png", "no icon.png yet"] {
            #expect(limits.icon(text) == .failure(.notOneWord))
        }
        #expect(limits.icon("1:a") == .failure(.unresolvable))
        for text in ["=IMAGE(\"http://e.org/a.png\")", "![A](http://e.org/a.png)", "1http://e.org"] {
            #expect(limits.icon(text) == .failure(.withinText) && ListLimits().icon(text) == .failure(.withinText))
        }
        #expect(limits.icon("b/http://a/c.png") == .success("https://e.org/icons/b/http://a/c.png"))
        #expect(ListLimits().icon("b?http://a/c.png") == .failure(.relative))
        #expect(limits.icon("'http://e.org/a'") == .failure(.wrapped(in: .quotes)))
        #expect(limits.icon(String(repeating: "a", count: 8190)) == .failure(.unresolvable))
        #expect(ListLimits().icon("a.png") == .failure(.relative))
        #expect(ListLimits().icon("icons/a.png") == .failure(.relative))
        for text in ["127.0.0.1:9001/app9.png", "cdn.example.com/a.png", "10.0.0.1/a.png"] {
            #expect(ListLimits().icon(text) == .failure(.noScheme))
        }
    }

    @Test(
        "a URL in quotes or brackets is told from a relative one, and from a sentence",
        arguments: [
            (#""https://e.org/a.png""#, .quotes), ("'http://e.org/a.png',", .quotes), ("“https://e.org/a b”", .quotes),
            ("\"HTTPS://e.org/a.png", .quotes), ("«data:,x»", .quotes), ("<https://e.org/a.png>", .angleBrackets),
            ("( https://e.org/a b.png )", .parentheses), ("[\"https://e.org/a.png\"]", .squareBrackets),
            ("\"https://e.org/\" is down", nil), ("\"icons/a.png\"", nil), ("(see below)", nil), ("\"", nil),
            ("https://e.org/a.png\"", nil), ("", nil),
        ] as [(String, URLWrapping?)])
    func wrapping(text: String, wrapping: URLWrapping?) {
        let found: URLWrapping? = if case .wrapped(let found)? = AppEntry.flaw(inIcon: text) { found } else { nil }
        #expect(found == wrapping)
    }

    @Test("an icon's URL is longer only if it carries its image")
    func length() {
        let longest = "data:," + String(repeating: "x", count: DataURL.maxLength - 6)
        #expect(AppEntry.flaw(inIcon: longest) == nil)
        #expect(AppEntry.flaw(inIcon: longest + "x")?.description == "longer than 65536 bytes")
        #expect(AppEntry.flaw(inIcon: "http:" + longest.dropFirst(5))?.description == "longer than 8192 bytes")
    }
}
