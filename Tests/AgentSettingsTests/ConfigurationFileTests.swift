// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("The configuration file")
struct ConfigurationFileTests {
    /// A file and all that is said of it, without the file's name.
    struct BadFile: CustomTestStringConvertible, Sendable {
        var text: String
        var problems: [String]

        init(_ text: String, _ problems: String...) {
            (self.text, self.problems) = (text, problems)
        }

        var testDescription: String { String(text.prefix(100)) }
    }

    private static let size = "a size from 1 B to 1 GiB (B, KiB, MiB, GiB)"
    private static let tables =
        "[lists], [cache], [eviction], [fetch], [network], [images], [refresh], [render], [desktop], [upstream], [publish], [control], [dashboard], [serve], [metrics]"

    static let badFiles: [BadFile] = [
        // Names.
        BadFile("[fetch]\nmaxbytes = \"1MiB\"", "2: There is no setting fetch.maxbytes: did you mean fetch.maxBytes?"),
        BadFile("[fetch]\nmaxByte = \"1MiB\"", "2: There is no setting fetch.maxByte: did you mean fetch.maxBytes?"),
        BadFile("[fetch]\ncolour = 1", "2: There is no setting fetch.colour."),
        BadFile(
            "\"fetch.maxBytes\" = \"1MiB\"",
            "1: “fetch.maxBytes” is one key, because it is in quotes: write fetch.maxBytes without them."),
        BadFile("concurrency = 8", "1: There is no setting concurrency: did you mean fetch.concurrency?"),
        BadFile(
            "[lists]\nconcurrency = 8", "2: There is no setting lists.concurrency: did you mean fetch.concurrency?"),
        BadFile("[fetsh]\nconcurrency = 8", "1: There is no table [fetsh]: did you mean [fetch]?"),
        BadFile("\n\n[proxies]", "3: There is no table [proxies]: the tables are \(tables)."),
        BadFile("[keys]", "1: There is no table [keys]: write [[keys]], in double brackets."),
        BadFile("[[credentials]]", "1: Credentials are in auth.toml, beside this file."),
        BadFile("[fetch.limits]\nsize = 1", "1: There is no table [fetch.limits]: did you mean [lists]?"),
        BadFile("[fetch]\nmaxBytes.soft = 1", "2: fetch.maxBytes is a table: it takes a string, \(size)."),
        BadFile("fetch = 1", "1: fetch is a table, not an integer: begin it with a line [fetch]."),
        BadFile(
            "[[fetch]]\nconcurrency = 8",
            "1: fetch is a table, not an array with other values than strings: begin it with a line [fetch]."),
        // Names that cannot be read, and dates without a time.
        BadFile("\n[a.]\nx = 1", "2: The table has no name that can be read: write it as [fetch]."),
        BadFile("[a.é]", "1: The table has no name that can be read: write it as [fetch]."),
        BadFile("[[a.#]]", "1: The table has no name that can be read: write it as [fetch]."),
        BadFile("[fetch\rx]", "1: A carriage return is allowed only at the end of a line, before a line feed."),
        BadFile("[fetch]\nmaxBytes = 1979-05-27T", "2: There is no time after the “T” of a date."),
        BadFile("[lists]\niconKeys = [\n 1979-05-27t-1]", "2: There is no time after the “T” of a date."),
        // Types.
        BadFile("[fetch]\nmaxBytes = 5", "2: fetch.maxBytes is an integer: it takes a string, \(size)."),
        BadFile(
            "[fetch]\nconcurrency = \"8\"", "2: fetch.concurrency is a string: it takes a whole number from 1 to 1000."),
        BadFile(
            "[fetch]\nconcurrency = 8.0",
            "2: fetch.concurrency is a floating-point number: it takes a whole number from 1 to 1000."),
        BadFile("[images]\nallowSVG = \"true\"", "2: images.allowSVG is a string: it takes true or false."),
        BadFile("[images]\nallowSVG = 1", "2: images.allowSVG is an integer: it takes true or false."),
        BadFile(
            "[network]\nallow = \"10.0.0.0/8\"",
            "2: network.allow is a string: it takes an array of strings, networks such as 10.0.0.0/8 or fd00::/8."),
        BadFile(
            "[lists]\niconKeys = [\"icon\", 1]",
            "2: lists.iconKeys is an array with other values than strings: it takes an array of strings, keys."),
        BadFile(
            "[eviction]\nholdFor = 1979-05-27",
            "2: eviction.holdFor is a date or time: it takes a string, a whole number with its unit (ms, s, m, h, d), from 0s to 36525d."
        ),
        BadFile(
            "[cache]\nmode = 0o755", "2: cache.mode is an integer: it takes a string, 0755 or 0750."),
        // Values.
        BadFile("[fetch]\nmaxBytes = \"5MB\"", "2: “5MB” is not a value for fetch.maxBytes: it takes \(size)."),
        BadFile("[fetch]\nmaxBytes = \"\"", "2: “” is not a value for fetch.maxBytes: it takes \(size)."),
        BadFile(
            "[fetch]\n\nconcurrency = 1001 # many",
            "3: “1001” is not a value for fetch.concurrency: it takes a whole number from 1 to 1000."),
        BadFile(
            "[lists]\nsettle = \"100\"",
            "2: “100” is not a value for lists.settle: it takes a whole number with its unit (ms, s, m, h, d), from 0s to 36525d."
        ),
        BadFile(
            "[network]\nallow = [\n  \"10.0.0.0/8\",\n  \"10.0.0.0/33\",\n]",
            "2: “10.0.0.0/33” is not a value for network.allow: it takes networks such as 10.0.0.0/8 or fd00::/8."),
        BadFile("[lists]\niconKeys = [\"a,b\"]", "2: “a,b” is not a value for lists.iconKeys: it takes keys."),
        BadFile(
            "[dashboard]\nlisten = \"0.0.0.0:80\"",
            "2: “0.0.0.0:80” is not a value for dashboard.listen: it takes a loopback address with a port, such as 127.0.0.1:8080 or [::1]:8080."
        ),
        BadFile(
            "[fetch]\nproxy = \"ftp://me:secret@p.example:1\"",
            "2: “…” is not a value for fetch.proxy: it takes a proxy with its port, such as http://proxy.example.com:3128."
        ),
        // What is there twice.
        BadFile(
            "[fetch]\nconcurrency = 8\nconcurrency = 9",
            "3: fetch.concurrency is set twice: remove this line, or line 2."),
        BadFile(
            "fetch.concurrency = 8\n[fetch]\nconcurrency = 9",
            "2: The table [fetch] is there twice: put its keys together at line 1.",
            "3: fetch.concurrency is set twice: remove this line, or line 1."),
        BadFile(
            "[fetch]\n[cache]\n[fetch]\nconcurrency = 9",
            "3: The table [fetch] is there twice: put its keys together at line 1."),
        BadFile(
            "[fetch]\nperHost = 2\n[fetch]\nconcurency = 9\nfoo.bar = 1",
            "3: The table [fetch] is there twice: put its keys together at line 1.",
            "4: There is no setting fetch.concurency: did you mean fetch.concurrency?",
            "5: There is no setting fetch.foo."),
        // Syntax.
        BadFile("[fetch\nconcurrency = 8", "1: This is not TOML: a “]” is missing after the name of the table."),
        BadFile(
            "[fetch]\nconcurrency 8",
            "2: This is not TOML: a “=” is missing after the key. fetch.concurrency takes a whole number from 1 to 1000."
        ),
        BadFile(
            "[fetch]\nmaxBytes = 5MiB",
            "2: This is not TOML: the value is not a string in quotes, a 64-bit integer, true or false. fetch.maxBytes takes a string, \(size)."
        ),
        BadFile(
            "[fetch]\nuserAgent = \"a",
            "2: This is not TOML: the quotes at the end of a string are missing. fetch.userAgent takes a string, printable ASCII, at most 256 characters."
        ),
        BadFile(
            "[fetch]\nmaxBytes = \"a\\qb\"",
            "2: This is not TOML: a backslash in double quotes begins no known escape sequence: write it twice. fetch.maxBytes takes a string, \(size)."
        ),
        BadFile("[fetch]\nuserAgent = \"a\\u0000b\"", "2: A NUL character is not allowed."),
        BadFile(String(repeating: "a.", count: 16) + "a = 1", "1: The key has more than 16 parts."),
        BadFile(
            "[lists]\niconBaseURL = '''a\n[fetch]\nperHost = 1",
            "2: The value has no end: a bracket or quotes are missing."),
        // All of them at once.
        BadFile(
            """
            [fetch]
            maxBytes = "5MB"
            concurrency = [
            perHost = 0
            [images]
            allowSvg = true
            maxSide == 3
            """,
            "2: “5MB” is not a value for fetch.maxBytes: it takes \(size).",
            "3: The value has no end: a bracket or quotes are missing.",
            "4: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000.",
            "6: There is no setting images.allowSvg: did you mean images.allowSVG?",
            "7: This is not TOML: the value is not a string in quotes, a 64-bit integer, true or false. images.maxSide takes a whole number from 1 to 65535."
        ),
    ]

    @Test("a bad configuration file gets its errors, with lines", arguments: badFiles)
    func bad(_ file: BadFile) {
        let problems = ConfigurationFile(path: "f.toml", text: file.text).problems
        #expect(problems.map(\.description) == file.problems.map { "f.toml:" + $0 })
    }

    @Test(
        "the first of very many errors are reported, and the others are counted",
        arguments: [
            "[fetch]\n" + (0..<10_000).map { "a\($0) = 1\n" }.joined(), (0..<10_000).map { "[a\($0)]\n" }.joined(),
            String(repeating: "[fetch]\n", count: 10_001),
            "perHost = 1\n" + String(repeating: "perHost = 1\n", count: 10_000),
        ])
    func many(text: String) throws {
        let problems = ConfigurationFile(path: "f.toml", text: text).problems
        #expect(problems.count == 51)
        #expect(problems.last?.description == "f.toml: There are 9950 more errors: correct these first.")
    }

    @Test(
        "a good value of a setting is read in each form of TOML",
        arguments: [
            ("[fetch]\nmaxBytes = \"5MiB\"", "fetch.maxBytes", "5MiB", 2),
            ("fetch.maxBytes = '1KiB'", "fetch.maxBytes", "1KiB", 1),
            ("fetch = { maxBytes = \"1B\", perHost = 1 }", "fetch.perHost", "1", 1),
            ("# a\n\n[ \"fetch\" ]\n\"maxBytes\" = \"\"\"1B\"\"\"", "fetch.maxBytes", "1B", 4),
            ("[images]\r\nmaxSide = 0x10\r\nallowSVG = true\r\n", "images.allowSVG", "true", 3),
            ("[images]\nmaxPixels = 1_000_000", "images.maxPixels", "1000000", 2),
            ("[network]\nallow = [\n# one\n\"::1\", \"10.0.0.0/8\",\n]\n[fetch]\nperHost = 2", "fetch.perHost", "2", 7),
            ("[network]\nallow = []", "network.allow", "", 2),
            ("[lists]\niconBaseURL = \"\"", "lists.iconBaseURL", "", 2), ("", "fetch.perHost", "4", 0),
            ("\u{FEFF}fetch.perHost = 5\n[images]", "fetch.perHost", "5", 1),
        ])
    func good(text: String, name: String, value: String, line: Int) throws {
        let file = ConfigurationFile(path: "f.toml", text: text)
        #expect(file.problems.isEmpty, "\(file.problems)")
        var effective = EffectiveSettings()
        effective.apply(file)
        let key = try #require(SettingKey.named(name))
        #expect(key.value(in: effective.settings) == value)
        #expect(effective.origin(of: key) == (line == 0 ? .preset : .file("f.toml", line: line)))
    }

    @Test("a configuration file that cannot be read is an error, and nothing waits for it")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            func problems(_ name: String) -> [String] {
                let path = folder.appending(name).string
                return ConfigurationFile(path: path).problems.map {
                    $0.description.replacing(folder.string + "/", with: "")
                }
            }
            #expect(problems("none") == ["none: The file does not exist. Create it, or name another one."])
            try #require(mkfifo(folder.appending("pipe").string, 0o600) == 0)
            #expect(problems("pipe") == ["pipe: It is not a regular file: name a TOML file."])
            try makeFolder(folder.appending("folder"))
            #expect(problems("folder") == ["folder: It is not a regular file: name a TOML file."])
            try write([UInt8](repeating: 0x23, count: 1 << 20 + 1), to: folder.appending("large"))
            #expect(problems("large") == ["large: The file is larger than 1 MiB."])
            try write([0x23, 0xFF], to: folder.appending("latin"))
            #expect(problems("latin") == ["latin: The file is not UTF-8, which TOML is written in."])
            #expect(ConfigurationFile(path: folder.appending("none").string, isOptional: true).problems.isEmpty)
        }
    }

    @Test("a damaged configuration file gives errors or settings, and no crash")
    func damaged() {
        let bytes = Array(SettingKey.defaultFile.replacing("\n#", with: "\n").utf8)
        var random = SeededRandom(seed: 1)
        for _ in 0..<100 {
            var damaged = bytes
            for _ in 0..<3 {
                let index = Int.random(in: 0..<damaged.count, using: &random)
                if Bool.random(using: &random) {
                    damaged.remove(at: index)
                } else {
                    damaged[index] = .random(in: 0...127, using: &random)
                }
            }
            let file = ConfigurationFile(path: "f", text: String(decoding: damaged, as: UTF8.self))
            var effective = EffectiveSettings()
            effective.apply(file)
            #expect(effective.problems == file.problems)
        }
    }
}
