// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Testing

@Suite("The reader of TOML")
struct TOMLReaderTests {
    typealias Value = TOMLReader.Value

    /// A text, and each value with its line and the parts of its key.
    private static let valid: [(String, [String])] = [
        // Comments, blanks and line ends.
        ("", []), ("\n \t\n# é \t #\n#", []), ("\u{FEFF}a = 1", ["1 a 1"]),
        ("a=1\r\n\r\nb=2#c\r\n", ["1 a 1", "3 b 2"]),
        // Keys.
        ("1-_A = 1\ntrue = 2\n1979-05-27 = 3", ["1 1-_A 1", "2 true 2", "3 1979-05-27 3"]),
        (#""a b" = 1"# + "\n'c\"' = 2\n\"\" = 3", ["1 a b 1", "2 c\" 2", "3  3"]),
        ("a.b . \"c.d\".'e' = 1\na.b.f=2\n3.1 = 4", ["1 a|b|c.d|e 1", "2 a|b|f 2", "3 3|1 4"]),
        ("\"\\u0061\\t\\\"\" = 1", ["1 a\t\" 1"]),
        // Tables.
        (
            "[a]\nb = 1\n\t[ c . \"d\" ] # e\nf = 2\n[c]\ng = 3",
            ["1 a []", "2 a|b 1", "3 c|d []", "4 c|d|f 2", "5 c []", "6 c|g 3"]
        ),
        ("[a]\nb.c = 1\n[a.b.d]\n[a.e]", ["1 a []", "2 a|b|c 1", "3 a|b|d []", "4 a|e []"]),
        ("[a.b]\n[a]\nc.d = 1\nc.e = 2", ["1 a|b []", "2 a []", "3 a|c|d 1", "4 a|c|e 2"]),
        ("[[a]]\nb = 1\n[[a]]\nb = 1", ["1 a [[]]", "2 a|[0]|b 1", "3 a [[]]", "4 a|[1]|b 1"]),
        (
            "[[a]]\n[a.b]\nc = 1\n[[a.d]]\ne = 2\n[[a]]\n[a.b]\nc = 3",
            [
                "1 a [[]]", "2 a|[0]|b []", "3 a|[0]|b|c 1", "4 a|[0]|d [[]]", "5 a|[0]|d|[0]|e 2", "6 a [[]]",
                "7 a|[1]|b []", "8 a|[1]|b|c 3",
            ]
        ),
        // Strings.
        (#"a = "\b\t\n\f\r\"\\\u00e9\U0001F600#'""#, ["1 a \"\u{8}\t\n\u{C}\r\"\\é😀#'\""]),
        (#"a = '\b"\'"#, [#"1 a "\b"\""#]), ("a = \"\"\nb = ''", ["1 a \"\"", "2 b \"\""]),
        ("a = \"\"\"\nb = 1\n[c]\"\"\nd\"\"\"\ne = 2", ["1 a \"b = 1\n[c]\"\"\nd\"", "5 e 2"]),
        ("a = \"\"\"b\"\"\"\"\"\nc = '''''d'''''", ["1 a \"b\"\"\"", "2 c \"''d''\""]),
        ("a = \"\"\"b \\  \n\n \t c\\\n\"\"\"\nd = 1", ["1 a \"b c\"", "5 d 1"]),
        ("a = '''\r\n\\b\r\nc'''", ["1 a \"\\b\nc\""]), ("a = \"\"\"\\\"\"\"\"", ["1 a \"\"\""]),
        // Integers and booleans.
        (
            "a = +1_0\nb = -0\nc = 0xdead_BEEF\nd = 0o17\ne = 0b1_0",
            ["1 a 10", "2 b 0", "3 c 3735928559", "4 d 15", "5 e 2"]
        ),
        ("a = 9223372036854775807\nb = -9223372036854775808", ["1 a \(Int.max)", "2 b \(Int.min)"]),
        ("a = true\nb = false", ["1 a true", "2 b false"]),
        // Types that have no value here.
        (
            "a = 1.0\nb = -1e+5\nc = 1_0.5E-1\nd = inf\ne = -nan",
            ["1 a float", "2 b float", "3 c float", "4 d float", "5 e float"]
        ),
        (
            "a = 1979-05-27\nb = 1979-05-27T07:32:00.5-07:00\nc = 1979-05-27 07:32:00Z # d\ne = 07:32:00",
            ["1 a date", "2 b date", "3 c date", "4 e date"]
        ),
        // Arrays and inline tables.
        ("a = [ # b\n\n 1,\n2 # c = [\n,]\nd = [ ]\ne = [[1], ['f']]", ["1 a [1, 2]", "6 d []", "7 e [[1], [\"f\"]]"]),
        ("a = [\n[1],\n[ true ],\n[1.5]\n]", ["1 a [[1], [true], [float]]"]),
        ("a = [{b = 1}, {}]", ["1 a [{}, {}]"]),
        ("a = { b = 1, c.d = [\n2], e = {} }\nf = {}", ["1 a|b 1", "1 a|c|d [2]", "2 a|e {}", "1 a {}", "3 f {}"]),
        (
            "a = " + String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
            ["1 a " + String(repeating: "[", count: 64) + String(repeating: "]", count: 64)]
        ),
    ]

    @Test("the reader of TOML reads statements in all their forms", arguments: valid)
    func reads(text: String, values: [String]) {
        let reader = TOMLReader(text)
        #expect(reader.flaws.isEmpty)
        #expect(reader.items.map { "\($0.line) \($0.key.joined(separator: "|")) \(shown($0.value))" } == values)
    }

    private static let noKey = "This is not TOML: a key is missing, or needs quotes."
    private static let unknownValue =
        "This is not TOML: the value is not a string in quotes, a 64-bit integer, true or false."
    private static let noEscape =
        "This is not TOML: a backslash in double quotes begins no known escape sequence: write it twice."
    private static let noComma = "This is not TOML: a comma or a “]” is missing in the array."

    /// Errors, with statements of one line that have them.
    private static let invalid: [(String, [String])] = [
        (noKey, ["= 1", ".a = 1", "a. = 1", "a..b = 1", "é = 1", "?", "a = {,}", "a = {b = 1,}", "a = {", "]", "}"]),
        (
            "This is not TOML: a “=” is missing after the key.",
            ["a", "a 1", "a b = 1", "a: 1", #""""a""" = 1"#, "a = {b}", "aé = 1"]
        ),
        (
            "This is not TOML: the value is missing.",
            ["a =", "a = # b", "a = [,]", "a = [1,,2]", "a = {b = , c = 1}", "a = ]"]
        ),
        (
            unknownValue,
            [
                "a = b", "a = True", "a = 5MiB", "a = 1 2", "a = 1 = 2", "a = é", "a = = 1", "a = +", "a = 01",
                "a = -01", "a = 0_1", "a = _1", "a = 1_", "a = 1__0", "a = ++1", "a = +-1", "a = 0x", "a = 0x_1",
                "a = 0xG", "a = +0x1", "a = 0x-1", "a = 0o8", "a = 0b2", "a = 0X1", "a = 9223372036854775808",
                "a = -9223372036854775809", "a = 0xFFFFFFFFFFFFFFFF", "a = 1e", "a = .", "a = e", "a = 79-05-27",
                "a = [b]", "a = 1\u{301}",
            ]
        ),
        (
            "This is not TOML: the quotes at the end of a string are missing.",
            ["a = \"", "a = 'b", "a = \"b\\", "a = \"b\\\"", "\"a = 1", "a = ['b", "a = {b = 'c}"]
        ),
        (
            noEscape,
            [
                #"a = "\q""#, #"a = "\ ""#, #"a = "\u00e""#, #"a = "\uD800""#, #"a = "\U00110000""#, #"a = "\x41""#,
                #""a\q" = 1"#, #"a = """\u+123""""#,
            ]
        ),
        (
            "This is not TOML: unexpected text at the end of the line.",
            ["a = 'b' c", "a = 'b' 'c'", #"a = """b"""""""#, "a = [] b", "a = {} =", "a = 1]"]
        ),
        (noComma, ["a = [1}", "a = ['b' 'c']", "a = [[] []]"]),
        (
            "This is not TOML: a comma is missing in the inline table, or a “}” on the same line.",
            ["a = {b = 1", "a = {b = 'c' d = 1}", "a = {b = 1]", "a = {b = 1 # c"]
        ),
        (
            "A control character is not allowed.",
            ["a = \"\u{1}\"", "a = 1 # \u{7F}", "# \u{1F}", "a = '\u{B}'", "a = '''\u{8}'''", "\u{C}"]
        ),
        (
            "A carriage return is allowed only at the end of a line, before a line feed.",
            ["a = 1\r#", "# \r#", "a = 'b\rc'", "a\r = 1"]
        ),
        (
            "A NUL character is not allowed.",
            ["a = \"\0\"", "#\0", "a\0 = 1", #"a = "\u0000""#, #"a = "\U00000000""#, #""\u0000" = 1"#]
        ),
        ("There is no time after the “T” of a date.", ["a = 1979-05-27T", "a = 1979-05-27tx", "a = [1979-05-27T-1]"]),
        (
            "This is not TOML: more than 64 brackets are open.",
            ["a = " + String(repeating: "[", count: 65)]
        ),
        (
            "The key has more than 16 parts.",
            [
                String(repeating: "a.", count: 16) + "b = 1", String(repeating: "a = {", count: 17),
                String(repeating: "a = [{", count: 17),
            ]
        ),
    ]

    @Test("the reader of TOML finds the fault of a statement, and reads those around it", arguments: invalid)
    func finds(message: String, statements: [String]) {
        for statement in statements {
            let reader = TOMLReader("first = 1\n\(statement)\nlast = 2")
            let flaws = reader.flaws.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.message)" }
            #expect(flaws == ["2 \(message)"], "\(statement.prefix(100))")
            let keys = reader.items.compactMap(\.key.last).filter { $0 != "a" }
            #expect(keys == ["first", "last"], "\(statement.prefix(100))")
        }
    }

    /// Texts, with the lines of their values and their errors.
    private static let flawed: [(String, [Int], [String])] = [
        // Keys that are there already.
        ("a = 1\na = 2\n\"a\" = 3", [1], twice("a", [2, 3], first: 1)),
        ("a = 1\na.b = 2\n[a]\n[a.c]\nd = 1", [1, 5], twice("a", [2, 3, 4], first: 1)),
        ("a.b = 1\na = 2\na.b.c = 3", [1], twice("a", [2], first: 1) + twice("a.b", [3], first: 1)),
        (
            "a = {b = 1}\na.c = 2\n[a.d]\n[a]\nb = 3", [1, 1],
            twice("a", [2, 3, 4], first: 1) + twice("a.b", [5], first: 1)
        ),
        (
            "a = {b = 1, b = 2}\nc = {d.e = 1, d = 2}", [],
            twice("a.b", [1], first: 1) + twice("c.d", [2], first: 2)
        ),
        ("[a.b]\n[a]\nb = 1\nc = 2", [1, 2, 4], twice("a.b", [3], first: 1)),
        ("a = 1\na = [\n2,\n]\nb = 3", [1, 5], twice("a", [2], first: 1)),
        ("a = 1\na = [\n2\nb = 3", [1, 4], twice("a", [2], first: 1)),
        // Tables that are there already.
        ("[a]\nb = 1\n[a]\nb = 2\nc = 3", [1, 2, 5], twiceTable("a", 3, first: 1) + twice("a.b", [4], first: 2)),
        ("a.b = 1\n[a]\nc = 2", [1, 3], twiceTable("a", 2, first: 1)),
        ("[a.b]\n[a]\nb.c = 1", [1, 2], twiceTable("a.b", 3, first: 1)),
        ("[a]\nb.c = 1\n[a.b]", [1, 2], twiceTable("a.b", 3, first: 2)),
        // Names of tables.
        ("[]\na = 1", [], nameless), ("[a.]\na = 1", [], nameless), ("[a..b]", [], nameless), ("[a.é]", [], nameless),
        ("[[]]", [], nameless), ("['a]\nb = 1", [], nameless), ("[", [], nameless), ("[a.#]\n[b]", [2], nameless),
        ("[a\nb = 1\n[c]", [3], noBracket), ("[a b]", [], noBracket), ("[[a]\nb = 1", [], noBracket),
        ("[[a] ]", [], noBracket), ("[a # b", [], noBracket),
        ("[a]]\nb = 1", [2], ["1 This is not TOML: unexpected text at the end of the line."]),
        // Values without an end.
        ("a = [\n1,\n", [], endless), ("a = \"\"\"b\n[c]\nd = 1", [], endless), ("a = '''b''\n'", [], endless),
        ("a = [\n'b'\n c.d = 1\n[e]", [3, 4], endless), ("a = [[\n[true],\n[b] # c\nd = 1", [3, 4], endless),
        ("a = [{b = [\nc = 1", [2], endless),
        // What goes on behind an error in several lines.
        ("a = [\n1 2,\n[3],\n'b = 1',\n]\nc = 1", [6], ["2 \(unknownValue)"]),
        ("a = [\n\"\"\"\nb = 1\n\"\"\" 2\n]\nc = 1", [6], ["4 \(noComma)"]),
        ("a = \"\"\"\nb = \\q\nc = \\0\n\"\"\"\nd = 1", [5], ["2 \(noEscape)", "3 \(noEscape)"]),
        ("a = {\nb = 1\n}", [2], ["1 \(noKey)", "3 \(noKey)"]),
    ]

    private static let nameless = ["1 The table has no name that can be read: write it as [fetch]."]
    private static let noBracket = ["1 This is not TOML: a “]” is missing after the name of the table."]
    private static let endless = ["1 The value has no end: a bracket or quotes are missing."]

    private static func twice(_ name: String, _ lines: [Int], first: Int) -> [String] {
        lines.map { "\($0) \(name) is set twice: remove this line, or line \(first)." }
    }

    private static func twiceTable(_ name: String, _ line: Int, first: Int) -> [String] {
        ["\(line) The table [\(name)] is there twice: put its keys together at line \(first)."]
    }

    @Test("the reader of TOML finds the faults of several lines, and reads the others", arguments: flawed)
    func findsAll(text: String, lines: [Int], problems: [String]) {
        let reader = TOMLReader(text)
        #expect(reader.flaws.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.message)" } == problems)
        #expect(reader.items.map(\.line) == lines)
    }

    private func shown(_ value: Value) -> String {
        switch value {
        case .string(let text): "\"\(text)\""
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .float: "float"
        case .date: "date"
        case .array(let values): "[" + values.map(shown).joined(separator: ", ") + "]"
        case .inlineTable: "{}"
        case .table: "[]"
        }
    }
}
