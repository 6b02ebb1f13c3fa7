// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan
import Testing

@testable import HTTPRules

@Suite("Packed responses")
struct PackedResponseTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static func isKept(_ response: StoredResponse) -> Bool {
        let unpacked = PackedResponse(response).unpacked
        return unpacked == response && Array(unpacked.fields.text.utf8) == Array(response.fields.text.utf8)
    }

    @Test(
        "a response comes back as it was packed",
        arguments: [
            "", "date: \(date)\n", "etag: \"a\"\nlast-modified: \(date)\n", "etag: \n", "vary: é, *\nage: 7\n",
            "expires: \(date)\ncache-control: max-age=60, public\ndate: \(date)\n", "etag: \(date)\n",
            "etag: \"" + String(repeating: "x", count: 1000) + "\"\n",
            "etag: \"a\"\n:redirect: 2147483648\n:clock: -9\n",
        ], [nil, "", "https://a.example/é.png"])
    func same(fields: String, url: String?) {
        let response = StoredResponse(
            status: 206, url: url, storedFields: fields, requestTime: Sample.start,
            responseTime: Sample.start + .microseconds(1))
        #expect(response.fields.text == fields)
        #expect(Self.isKept(response))
        #expect(PackedResponse(response).url == url)
    }

    @Test(
        "a date in any form comes back byte for byte",
        arguments: [
            date, "Mon, 31 Dec 9999 23:59:60 GMT", "Sat, 00 Jan 0000 00:00:00 GMT", "Wed, 31 Feb 2026 24:61:63 GMT",
            "Wed, 32 Feb 2026 24:61:63 GMT", "Sun, 06 Nov 1994 08:49:64 GMT", "Sun, 06 Nov 1994 99:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 NOV 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3x GMT",
            "Sun. 06 Nov 1994 08.49.37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:3é GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT", "0",
        ])
    func dates(value: String) {
        #expect(Self.isKept(Sample.response([("Date", value), ("ETag", "\"a\""), ("Last-Modified", value)])))
    }

    @Test("times come back to the microsecond, in any order and at any distance")
    func times() {
        let times: [Int64] = [0, 1, -1, 1_795_000_000_123_456, -62_167_219_200_000_000, .max, .min]
        for request in times {
            for response in times {
                let stored = StoredResponse(
                    fields: HTTPFields(), requestTime: Timestamp(microseconds: request),
                    responseTime: Timestamp(microseconds: response))
                #expect(Self.isKept(stored), "\(request), \(response)")
                #expect(PackedResponse(stored).responseTime.microseconds == response)
            }
        }
    }

    @Test("random fields come back byte for byte, and only equal responses are equal when packed")
    func random() {
        var generator = SeededGenerator(seed: 7)
        let names = ["Age", "Date", "ETag", "Expires", "Last-Modified", "Cache-Control", "Vary", "Server"]
        let pieces = [Self.date, "\"x\"", ",", " ", "é", "max-age=1", "GMT", "0", "Sun, "]
        var packed: [PackedResponse] = []
        var responses: [StoredResponse] = []
        for _ in 0..<300 {
            let fields = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                let value = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator)!
                }
                return (name: names.randomElement(using: &generator)!, value: value.joined())
            }
            responses.append(Sample.response(fields, status: [200, 206].randomElement(using: &generator)!))
            packed.append(PackedResponse(responses.last!))
            #expect(Self.isKept(responses.last!))
        }
        for (a, b) in zip(packed.indices, packed.indices.dropFirst()) {
            #expect((packed[a] == packed[b]) == (responses[a] == responses[b]))
        }
    }

    @Test("a response as servers send it takes 40 bytes")
    func size() {
        let response = Sample.response([
            ("Date", Self.date), ("Last-Modified", Self.date), ("ETag", "\"6729d1a3-64\""),
        ])
        #expect(response.fields.text.utf8.count == 101)
        #expect(PackedResponse(response).bytes.count == 40)
    }
}
