// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan
import Testing

@Suite("Stored responses")
struct StoredResponseTests {
    @Test("a stored response keeps the fields for freshness and validation, with the same results")
    func kept() {
        let response = Sample.response([
            ("Content-Type", "image/png"), ("Cache-Control", "max-age=1"), ("ETag", "\"a\""), ("Set-Cookie", "a=b"),
            ("cache-control", "public"), ("Date", Sample.date(0)), ("ETag", "\"b\""), ("Vary", "Accept"),
        ])
        #expect(
            response.fields.text
                == "cache-control: max-age=1, public\netag: \"a\"\ndate: \(Sample.date(0))\nvary: Accept\n")
        let again = StoredResponse(
            status: response.status, fields: HTTPFields(text: response.fields.text),
            requestTime: response.requestTime, responseTime: response.responseTime)
        #expect(again == response)
    }

    @Test(
        "the text of stored fields counts as if each field had come",
        arguments: [
            "", "etag: \"a\"\n", "etag: \"a\"\ndate: x\n", "etag:\n", "etag: \n", "etag: a", "etag:  a\n", "etag: a \n",
            "etag: a\netag: b\n", "ETag: a\n", "x: a\n", "etag: a\u{7F}\n", "etag: a\tb\n", "\n", "etag: a\n\n",
            "etag\n",
            "cache-control: max-age=1\nvary: Accept\n", "cache-control: max-age=1\ncache-control: public\n",
            "etag: " + String(repeating: "x", count: 1024) + "\n",
            "etag: " + String(repeating: "x", count: 1025) + "\n",
        ])
    func stored(text: String) {
        let stored = StoredResponse(
            status: 200, url: "http://a", storedFields: text, requestTime: Sample.start, responseTime: Sample.start)
        let made = StoredResponse(
            url: "http://a", fields: HTTPFields(text: text), requestTime: Sample.start, responseTime: Sample.start)
        #expect(stored == made)
    }

    @Test("a field that is longer than 1 KiB is not kept, and allows nothing")
    func long() {
        let long = String(repeating: "x", count: 1025)
        let names = ["age", "cache-control", "date", "etag", "expires", "last-modified", "vary"]
        let response = Sample.response(names.map { ($0, long) })
        #expect(response.fields.text.utf8.count < 100)
        #expect(response.validators.isEmpty)
        #expect(response.cacheControl.flags == [.noCache])
        let lines = Sample.response(Array(repeating: ("Cache-Control", "max-age=60"), count: 1000))
        #expect(lines.cacheControl.flags == [.noCache])
        let expires = Sample.response([("Expires", long)])
        #expect(Freshness(of: expires).basis == .denied(.malformedExpires))
        #expect(Sample.response(expires.fields.lines.map { ($0.name, $0.value) }) == expires)
    }

    @Test(
        "the first member of the first Age counts; what is not a number does not",
        arguments: [
            (["7"], 7), (["7, 0"], 7), (["0, 7"], 0), (["7", "0"], 7), (["0", "7"], 0), (["abc"], 0), (["-7"], 0),
            (["7.0"], 0), (["7;a=1"], 0), ([""], 0), ([",7"], 0), (["99999999999"], 1 << 31), ([], 0),
        ])
    func age(values: [String], seconds: Int) {
        #expect(Sample.response(values.map { ("Age", $0) }).age == .seconds(seconds))
    }

    @Test("a Date that is missing or malformed is the time of receipt")
    func date() {
        #expect(Sample.response([]).date == Sample.start)
        #expect(Sample.response([("Date", "today")]).date == Sample.start)
        #expect(Sample.response([("Date", Sample.date(-5))]).date == Sample.start + .seconds(-5))
    }

    @Test("validators are sent back as they came, and only if the server can read them")
    func validators() {
        let odd = "sunday, 06-NOV-94 08:49:37 gmt"
        #expect(
            Sample.response([("ETag", "W/\"a\""), ("Last-Modified", odd)]).validators
                == Validators(etag: "W/\"a\"", lastModified: odd))
        #expect(Sample.response([("ETag", "\"a"), ("Last-Modified", "yesterday")]).validators.isEmpty)
    }

    @Test(
        "no later request matches a response that varies on everything",
        arguments: [("*", true), ("Accept, *", true), ("Accept , * , B", true), ("Accept", false), ("**", false)])
    func vary(value: String, isEverything: Bool) {
        #expect(Sample.response([("Vary", value)]).variesOnEverything == isEverything)
        #expect(Sample.response([("Vary", "A"), ("Vary", value)]).variesOnEverything == isEverything)
    }

    @Test("a stored response keeps the first line of single fields, and whole lists, in their order")
    func random() {
        var generator = SeededGenerator(seed: 1)
        let single = ["age", "date", "etag", "expires", "last-modified"]
        let others = ["cache-control", "vary", "server", "ag", "agee", "x-etag", "dat", "content-length"]
        let values = ["", "a", "a, b", ",", "é\u{FFFD}", "a: b", "\ta ", String(repeating: "x", count: 600)]
        for _ in 0..<5000 {
            let fields = HTTPFields(
                (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                    let name = (single + others).randomElement(using: &generator) ?? ""
                    return (
                        Bool.random(using: &generator) ? name : name.uppercased(),
                        values.randomElement(using: &generator) ?? ""
                    )
                })
            var seen: Set<String> = []
            var kept: [(name: String, value: String)] = []
            for line in fields.lines where seen.insert(line.name).inserted {
                if single.contains(line.name) { kept.append((line.name, line.value)) }
                guard ["cache-control", "vary"].contains(line.name), let list = fields.joined(line.name) else {
                    continue
                }
                let substitute = line.name == "vary" ? "" : "no-cache"
                kept.append((line.name, list.utf8.count > 1024 ? substitute : list))
            }
            let response = Sample.response(fields.lines.map { ($0.name, $0.value) })
            #expect(response.fields == HTTPFields(kept))
            for name in single { #expect(fields.first(name) == fields[name].first) }
        }
    }
}
