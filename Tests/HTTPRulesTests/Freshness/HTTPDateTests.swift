// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FuzzTargets
import HTTPRules
import SyncPlan
import Testing

@Suite("Dates of HTTP")
struct HTTPDateTests {
    private static let now = Sample.start
    private static let forms = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ]

    private static func parse(_ text: String, now: String = "2026-11-21T02:44:52Z") throws -> String? {
        HTTPDate.parse(text, now: try #require(Timestamp(now))).map { "\($0)" }
    }

    @Test(
        "all three forms of HTTP dates are read, in any case, with any day of the week",
        arguments: forms + [
            "  Sun, 06 Nov 1994 08:49:37 GMT\t", "SUN, 06 NOV 1994 08:49:37 gmt", "sunday, 06-nov-94 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994",
        ])
    func allForms(text: String) throws {
        #expect(try Self.parse(text) == "1994-11-06T08:49:37Z")
    }

    @Test(
        "text in other forms is no HTTP date",
        arguments: [
            "", "0", "-1", "foo", "GMT", ",", "Sun,", "1994-11-06T08:49:37Z", "784111777",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
            "Sunday, 06-Nov-+4 08:49:37 GMT", "Sunday, 06-Nov--4 08:49:37 GMT", "Sunday, 06/Nov/94 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov 31 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sün, 06 Nov 1994 08:49:37 GMT",
        ])
    func others(text: String) throws {
        #expect(try Self.parse(text) == nil)
    }

    @Test("a date cut anywhere is none", arguments: forms)
    func cut(text: String) throws {
        for length in 0..<text.utf8.count {
            #expect(try Self.parse(String(text.prefix(length))) == nil)
            #expect(try Self.parse(String(text.suffix(length))) == nil)
        }
    }

    @Test(
        "a year of two digits is the latest that is not more than 50 years ahead",
        arguments: [
            ("2026-11-21T02:44:52Z", "18-Aug-50 02:01:18", "2050-08-18T02:01:18Z"),
            ("2026-11-21T02:44:52Z", "18-Aug-26 02:01:18", "2026-08-18T02:01:18Z"),
            ("2026-11-21T02:44:52Z", "18-Aug-99 02:01:18", "1999-08-18T02:01:18Z"),
            ("2026-11-21T02:44:52Z", "31-Dec-75 23:59:59", "2075-12-31T23:59:59Z"),
            ("2026-11-21T02:44:52Z", "21-Nov-76 02:44:52", "2076-11-21T02:44:52Z"),
            ("2026-11-21T02:44:52Z", "21-Nov-76 02:44:53", "1976-11-21T02:44:53Z"),
            ("2026-11-21T02:44:52Z", "01-Jan-77 00:00:00", "1977-01-01T00:00:00Z"),
            ("2090-01-01T00:00:00Z", "06-Nov-05 08:49:37", "2105-11-06T08:49:37Z"),
            ("1999-12-31T23:59:59Z", "01-Jan-00 00:00:00", "2000-01-01T00:00:00Z"),
            ("0000-01-01T00:00:00Z", "01-Jan-99 00:00:00", nil),
        ])
    func twoDigits(now: String, date: String, result: String?) throws {
        #expect(try Self.parse("Thursday, \(date) GMT", now: now) == result)
    }

    @Test("the second of a leap is the next one")
    func leap() throws {
        #expect(try Self.parse("Sat, 31 Dec 2016 23:59:60 GMT") == "2017-01-01T00:00:00Z")
        #expect(try Self.parse("Thu, 29 Feb 2024 00:00:00 GMT") == "2024-02-29T00:00:00Z")
    }

    @Test(
        "a time is written in the preferred form",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (-86_400, "Wed, 31 Dec 1969 00:00:00 GMT"),
            (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func format(seconds: Int64, text: String) {
        #expect(HTTPDate.format(Timestamp(sinceEpoch: .seconds(seconds))) == text)
    }

    @Test("written HTTP dates are read back, and changed ones do not trap")
    func random() {
        var generator = SeededGenerator(seed: 1)
        let alphabet = Array("0123456789 ,:-+SunGMT\u{FF}é".unicodeScalars)
        for _ in 0..<5000 {
            let time = Timestamp(
                sinceEpoch: .seconds(Int.random(in: -62_167_219_200...253_402_300_799, using: &generator)))
            #expect(HTTPDate.parse(HTTPDate.format(time), now: Self.now) == time)
            var text = Array((Self.forms.randomElement(using: &generator) ?? "").unicodeScalars)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                text[index] = alphabet.randomElement(using: &generator) ?? " "
            }
            let now = Timestamp(sinceEpoch: .seconds(Int64.random(in: .min ... .max, using: &generator)))
            _ = HTTPDate.parse(String(String.UnicodeScalarView(text)), now: now)
        }
    }
}
