// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

@testable import HTTPRules

@Suite("The lines before a body")
struct HeadReaderTests {
    /// Reads lines, each of which gets its line break.
    ///
    /// - Returns: The head, if the lines have a final one.
    private static func head(_ lines: [String], lineBreak: String = "\r\n") throws -> ResponseHead? {
        var reader = HeadReader()
        var head: ResponseHead?
        for line in lines {
            let found = try Array((line + lineBreak).utf8).withUnsafeBytes { try reader.read($0) }
            #expect(found == nil || head == nil, "there are two heads")
            head = head ?? found
        }
        return head
    }

    @Test(
        "a status line has a version, and a status of three digits",
        arguments: [
            ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/1.1 200", 200), ("HTTP/1.1 999 ", 999),
            ("HTTP/1.1 101 Switching Protocols", 101), ("HTTP/2 200 ", 200), ("HTTP/2 101 ", nil), ("", nil),
            ("HTTP/1.1", nil), ("HTTP/1.1 20 OK", nil), ("HTTP/1.1 2000 OK", nil), ("HTTP/1.1 099 x", nil),
            ("HTTP/1.1 000 x", nil), ("HTTP/1.1 -20 x", nil), ("HTTP/1.1 OK", nil), ("HTTP/1.1  200 OK", nil),
            ("HTTP/1.2 200 OK", nil), ("HTTP/2.0 200 OK", nil), ("HTTP/3 200 ", nil), ("http/1.1 200 OK", nil),
            ("220 mail.example ESMTP", nil), ("X: a", nil), ("\u{89}PNG", nil),
        ])
    func status(line: String, status: Int?) throws {
        let head = try? Self.head([line, ""])
        #expect(head?.status == status)
        #expect(head?.isMultiplexed ?? false == line.hasPrefix("HTTP/2 ") && head != nil || head == nil)
    }

    @Test("fields have names in lower case, and values without white space around them", arguments: ["\r\n", "\n"])
    func fields(lineBreak: String) throws {
        let lines = ["HTTP/1.1 200 OK", "ETag: \"1\"", "X-Y:a \t b \t", "Empty:", "x-y:\t c: d", "Ü-free: ü", ""]
        let head = try #require(try Self.head(lines, lineBreak: lineBreak))
        #expect(head.fields.lines.map(\.name) == ["etag", "x-y", "empty", "x-y"])
        #expect(head.fields["etag"] == ["\"1\""])
        #expect(head.fields["x-y"] == ["a \t b", "c: d"])
        #expect(head.fields["empty"] == [""])
    }

    @Test(
        "lines that are no field, or a malformed one that counts, are refused in heads and trailers",
        arguments: [
            "Nonsense", ": x", "\rX: y", "\r\r", "\u{7F}: x", "é: x", "ETag : x", "E T a g: x", "ET\0ag: x",
            "ETag: \"a\0b\"",
            "Content-Length : 5",
            "content-length\t: 5", "Content-Length\u{A0}: 5", "\0Content-Length: 5", "Content-Length: 5\r",
            "Transfer-Encoding : chunked", "Location: /a\rb", "Location: /\u{7F}", "Vary: \u{1B}[0m",
        ])
    func badFields(line: String) throws {
        #expect(throws: FetchFailure.self) { try Self.head(["HTTP/1.1 200 OK", line, ""]) }
        #expect(throws: FetchFailure.self) { try Self.head(["HTTP/1.1 103 Early Hints", line, ""]) }
        #expect(throws: FetchFailure.self) { try Self.head(["HTTP/1.1 200 OK", "", line]) }
    }

    @Test(
        "other malformed fields are dropped, with the lines that go on with them",
        arguments: [
            "X-A : b", "X A: b", "X-É: b", "X: a\rb", "X: a\r", "X: a\0b", "X: \u{7F}", "X: \u{1B}[0m",
            "X: \rContent-Length: 5",
            "X-Content-Length : 5", "X\0: b",
        ])
    func dropped(line: String) throws {
        let head = try Self.head(["HTTP/1.1 200 OK", "A: b", line, " Content-Length: 6", "C: d", ""])
        #expect(head?.fields.lines.map(\.name) == ["a", "c"])
        #expect(try Self.head(["HTTP/1.1 200 OK", "", line, " c", ""]) != nil)
    }

    @Test(
        "a folded line goes on with the field before it, behind a space; a length or a coding may not go on",
        arguments: [
            (["X: a;", "  b;", "\t c"], "x", "a; b; c"), (["X:", " a"], "x", "a"), (["X: a", " "], "x", "a"),
            (["X: a", "\t", " b"], "x", "a  b"), (["X: a", " Content-Length: 5"], "x", "a Content-Length: 5"),
            (["ETag: \"a", " b\""], "etag", "\"a b\""), (["Location:", " /a"], "location", "/a"),
            (["Location: /a", " b"], "location", "/a b"), (["X", " : a"], "y", nil), (["X A: b", " c"], "x", nil),
            (["Content-Length: 5", " 0"], "x", "refused"), (["Content-Length:", " 5"], "x", "refused"),
            (["Content-Length: 5", " "], "x", "refused"), (["Content-Length", " : 5"], "x", "refused"),
            (["Transfer-Encoding:", " chunked"], "x", "refused"), (["Location: /a", " \0"], "x", "refused"),
            (["TRANSFER-ENCODING: chunked", " , gzip"], "x", "refused"), (["Nonsense", " a"], "x", "refused"),
            ([" X: a"], "x", "refused"), (["\tX: a"], "x", "refused"), ([" "], "x", "refused"),
        ] as [([String], String, String?)])
    func folded(lines: [String], name: String, value: String?) throws {
        for start in [[], ["HTTP/1.1 103 Early Hints", "B: c", " d", ""]] {
            let head = try? Self.head(start + ["HTTP/1.1 200 OK"] + lines + [""])
            #expect((head == nil) == (value == "refused"))
            #expect(head == nil || head?.fields.first(name) == value)
            #expect(head?.fields["content-length"].isEmpty != false)
        }
    }

    @Test("bytes that are not UTF-8 are no error")
    func otherEncodings() throws {
        var reader = HeadReader()
        var head: ResponseHead?
        for line in [Array("HTTP/1.1 200 OK\r\n".utf8), Array("X: ".utf8) + [0xFF, 0xE4, 0x0D, 0x0A], [0x0D, 0x0A]] {
            head = try line.withUnsafeBytes { try reader.read($0) }
        }
        #expect(head?.fields["x"].count == 1)
    }

    @Test(
        "a Location that is not UTF-8 keeps its bytes, percent-encoded; one in UTF-8 stays what it is",
        arguments: [
            ("Location", Array("/caf".utf8) + [0xE9] + Array(".png?é".utf8), "/caf%E9.png?%C3%A9"),
            ("LOCATION", [0x2F, 0x80, 0xFF, 0x25, 0x66], "/%80%FF%f"), ("location", Array("/é%20 x".utf8), "/é%20 x"),
            ("Location", Array("http://münchen.example/".utf8), "http://münchen.example/"),
            ("X-Location", [0x2F, 0xE9], "/\u{FFFD}"),
        ] as [(String, [UInt8], String)])
    func location(name: String, value: [UInt8], text: String) throws {
        var reader = HeadReader()
        var head: ResponseHead?
        for line in [Array("HTTP/1.1 302 Found".utf8), Array("\(name): ".utf8) + value, []] {
            head = try (line + [0x0D, 0x0A]).withUnsafeBytes { try reader.read($0) }
        }
        #expect(head?.fields[name.lowercased()].map { Array($0.utf8) } == [Array(text.utf8)])
    }

    @Test(
        "interim heads are passed over, up to 32 of them", arguments: [(0, true), (1, true), (32, true), (33, false)])
    func interim(count: Int, isGood: Bool) throws {
        let interim = Array(
            repeatElement(["HTTP/1.1 103 Early Hints", "Content-Length: 5", ""], count: count).joined())
        let head = try? Self.head(interim + ["HTTP/1.1 200 OK", "A: b", ""])
        #expect((head != nil) == isGood)
        #expect(head?.fields["content-length"].isEmpty != false)
    }

    @Test("trailers are passed over, and a second head is none")
    func trailers() throws {
        let head = try Self.head(["HTTP/1.1 200 OK", "A: b", "", "ETag: \"2\"", " 3", ""])
        #expect(head?.fields["etag"] == [])
        #expect(throws: FetchFailure.self) { try Self.head(["HTTP/1.1 200 OK", "", "HTTP/1.1 200 OK", ""]) }
    }

    @Test(
        "heads and trailers have an end",
        arguments: [
            ([], "X: ", HeadReader.limit, 1), ([], "HTTP/1.1 200 ", HeadReader.limit, 1), ([], "X: ", 1, 600),
            ([""], "X: ", 1, 600), ([""], "X: ", 1000, 140), (["X: a"], " ", 1, 600), (["X: a"], " ", 1000, 140),
        ])
    func endless(lines: [String], name: String, length: Int, count: Int) throws {
        let line = name + String(repeating: "x", count: length)
        let start = name.hasPrefix("HTTP") ? [] : ["HTTP/1.1 200 OK"]
        #expect(throws: FetchFailure.self) { try Self.head(start + lines + Array(repeating: line, count: count)) }
    }

    @Test(
        "a body has one length, or comes in chunks and nothing else",
        arguments: [
            (["Content-Length: 5"], true), (["Content-Length: 5", "Content-Length: 5"], true),
            (["Content-Length: 0"], true), (["Content-Length: 9223372036854775807"], true),
            (["Content-Length: 5", "Content-Length: 6"], false), (["Content-Length: 5, 5"], false),
            (["Content-Length: -5"], false), (["Content-Length: +5"], false), (["Content-Length: 0x5"], false),
            (["Content-Length: 5a"], false), (["Content-Length: "], false), (["Content-Length: ５"], false),
            (["Content-Length: 18446744073709551616"], false), (["Transfer-Encoding: chunked"], true),
            (["Transfer-Encoding: Chunked"], true), (["Transfer-Encoding: gzip, chunked"], false),
            (["Transfer-Encoding: chunked, gzip"], false), (["Transfer-Encoding: identity"], false),
            (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], false),
            (["Transfer-Encoding: chunked", "Content-Length: 5"], false), ([], true),
        ] as [([String], Bool)])
    func framing(fields: [String], isGood: Bool) throws {
        let head = try? Self.head(["HTTP/1.1 200 OK"] + fields + [""])
        #expect((head != nil) == isGood)
    }

    @Test(
        "the end of a body is known from its length or its last chunk, but not from a closed connection or stream",
        arguments: [
            (["HTTP/1.1 200 OK", "Content-Length: 5"], true), (["HTTP/1.0 200 OK", "Content-Length: 5"], true),
            (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], true), (["HTTP/2 200 "], false),
            (["HTTP/2 200 ", "content-length: 5"], true), (["HTTP/2 200 ", "transfer-encoding: chunked"], false),
            (["HTTP/1.1 200 OK"], false), (["HTTP/1.0 200 OK"], false),
            (["HTTP/1.1 200 OK", "Connection: close"], false),
        ])
    func delimited(lines: [String], isDelimited: Bool) throws {
        let head = try #require(try Self.head(lines + [""]))
        #expect(head.isDelimited == isDelimited)
    }

    @Test("a status line is a version, a space, three digits, and nothing or a space after them, whatever else it has")
    func randomStatus() {
        var generator = SeededGenerator(seed: 1)
        let parts = [
            "HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/", " ", " ", " ", "200", "404", "20", "0", "1", "OK", "\t",
        ]
        for _ in 0..<5000 {
            let line = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }.joined()
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            let status = words.count > 1 && words[1].count == 3 ? Int(words[1]) : nil
            let isKnown = ["HTTP/1.1", "HTTP/1.0", "HTTP/2"].contains(words[0])
            // An interim answer has no head of its own.
            let expected = isKnown ? status.flatMap { $0 >= 200 || $0 == 101 && words[0] != "HTTP/2" ? $0 : nil } : nil
            #expect((try? Self.head([line, ""]))?.status == expected, "\(line)")
        }
    }
}
