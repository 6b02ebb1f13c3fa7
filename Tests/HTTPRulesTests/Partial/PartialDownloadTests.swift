// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import HTTPRules

@Suite("Partial downloads")
struct PartialDownloadTests {
    private static let url: IconURL = "https://a.example/1.png"
    private static let tag = ("ETag", "\"1\"")

    private static func kept(
        _ fields: [(name: String, value: String)], status: Int = 200
    ) throws -> PartialDownload? {
        PartialDownload(
            of: url, from: try FetchTarget("https://cdn.example/1.png"),
            response: Sample.response(fields, status: status), fields: HTTPFields(fields))
    }

    @Test(
        "a partial download is kept if it has a strong validator and the server does not deny ranges",
        arguments: [
            ([tag], 200, true), ([tag, ("Accept-Ranges", "bytes")], 200, true),
            ([tag, ("Accept-Ranges", "lines, Bytes")], 200, true), ([tag, ("Content-Length", "5")], 200, true),
            ([tag, ("Accept-Ranges", "none")], 200, false), ([tag, ("Accept-Ranges", "lines")], 200, false),
            ([tag, ("Accept-Ranges", "")], 200, false), ([("ETag", "W/\"1\"")], 200, false), ([], 200, false),
            ([("ETag", "\"\"")], 200, false), ([tag, tag], 200, false), ([tag, ("ETag", "\"2\"")], 200, false),
            ([tag], 206, false), ([tag], 203, false), ([tag], 404, false),
        ] as [([(name: String, value: String)], Int, Bool)])
    func keeping(fields: [(name: String, value: String)], status: Int, isKept: Bool) throws {
        let partial = try Self.kept(fields, status: status)
        #expect((partial != nil) == isKept)
    }

    @Test("the rest of a partial download is requested by its first byte and the validator")
    func request() throws {
        var byTag = try #require(try Self.kept([Self.tag]))
        byTag.bytes = 70_000
        #expect(byTag.requestFields.map(\.name) == ["Range", "If-Range"])
        #expect(byTag.requestFields.map(\.value) == ["bytes=70000-", "\"1\""])
        #expect(byTag.target == "https://cdn.example/1.png")
        let dates = [("Date", Sample.date(0)), ("Last-Modified", Sample.date(-60))]
        let byDate = try #require(try Self.kept(dates))
        #expect(byDate.requestFields.last?.value == Sample.date(-60))
    }

    @Test(
        "an answer extends a partial download only if it brings the missing bytes, or the first 16 KiB of them at least",
        arguments: [
            (["bytes 100000-199999/200000"], 200_000, 200_000), (["bytes 100000-199999/200000"], nil, 200_000),
            (["bytes 100000-100000/100001"], nil, 100_001), (["bytes 100000-199999/200000"], 200_001, nil),
            (["bytes 100000-199999/200000"], 199_999, nil), (["bytes 99999-199999/200000"], 200_000, nil),
            (["bytes 100001-199999/200000"], 200_000, nil), (["bytes 0-199999/200000"], 200_000, nil),
            (["bytes 100000-199998/200000"], 200_000, 199_999), (["bytes 100000-150000/200000"], nil, 150_001),
            (["bytes 100000-116383/200000"], 200_000, 116_384), (["bytes 100000-116382/200000"], 200_000, nil),
            (["bytes 100000-100000/200000"], 200_000, nil), (["bytes 100001-150000/200000"], 200_000, nil),
            (["bytes 100000-150000/200001"], 200_000, nil), (["bytes 100000-150000/*"], 200_000, 150_001),
            (["bytes 100000-199999/*"], 200_000, 200_000), (["bytes 100000-199999/*"], nil, nil),
            (["bytes 100000-200000/*"], 200_000, nil), (["bytes 100000-116382/*"], 200_000, nil),
            (["bytes */200000"], 200_000, nil),
            (["lines 100000-199999/200000"], 200_000, nil), ([], 200_000, nil), ([""], 200_000, nil),
            (["bytes 100000-199999/200000", "bytes 100000-199999/200000"], 200_000, nil),
        ] as [([String], Int?, Int?)])
    func extent(ranges: [String], length: Int?, end: Int?) throws {
        let partial = try #require(Sample.partial(length: length))
        let fields = ranges.map { (name: "Content-Range", value: $0) } + [Self.tag]
        let extended = partial.extended(by: Sample.response(fields, status: 206), fields: HTTPFields(fields))
        #expect(extended?.end == end)
        if let length { #expect(extended == nil || extended?.length == length) }
    }

    @Test(
        "an answer that may be about another image does not extend a partial download",
        arguments: [
            ([tag], true), ([("ETag", "\"2\"")], false), ([], false), ([tag, ("ETag", "\"2\"")], false),
            ([("ETag", "\"2\""), tag], false), ([("Last-Modified", Sample.date(-60))], false),
        ] as [([(name: String, value: String)], Bool)])
    func otherImage(validators: [(name: String, value: String)], isExtended: Bool) throws {
        let partial = try #require(Sample.partial())
        let fields = [(name: "Content-Range", value: "bytes 100000-199999/200000")] + validators
        let extended = partial.extended(by: Sample.response(fields, status: 206), fields: HTTPFields(fields))
        #expect((extended != nil) == isExtended)
    }

    @Test("the response is the first one, updated with the fields of the last")
    func combination() throws {
        let first = [
            Self.tag, ("Date", Sample.date(-500)), ("Age", "7"), ("Cache-Control", "max-age=60"), ("Vary", "Accept"),
        ]
        var partial = try #require(try Self.kept(first))
        partial.bytes = 5
        let fields = [
            ("Content-Range", "bytes 5-9/10"), Self.tag, ("Date", Sample.date(-1)), ("Cache-Control", "max-age=90"),
        ]
        let now = Sample.start + .seconds(500)
        let rest = StoredResponse(status: 206, fields: HTTPFields(fields), requestTime: now, responseTime: now)
        let whole = try #require(partial.extended(by: rest, fields: HTTPFields(fields))).response
        #expect(whole.status == 200 && whole.requestTime == now && whole.responseTime == now)
        #expect(whole.validators == Validators(etag: "\"1\"") && whole.fields["vary"] == ["Accept"])
        #expect(whole.cacheControl.maxAge == .duration(.seconds(90)))
        #expect(whole.date == Sample.start + .seconds(-1) && whole.age == .zero)
    }

    // MARK: Records

    @Test("a record brings back what was written, during the same run of the kernel")
    func record() throws {
        for length in [200_000, nil] {
            let partial = try #require(Sample.partial(of: "\(Self.url)?é\n\"", length: length))
            let json = Array(partial.record(boot: "a").utf8)
            #expect(PartialDownload(record: json, boot: "a", bytes: partial.bytes) == partial)
            #expect(PartialDownload(record: json, boot: "b", bytes: partial.bytes) == nil)
        }
    }

    @Test("a partial download is not restored without a record with a strong validator")
    func damagedRecords() throws {
        let text = try #require(Sample.partial()).record(boot: "a")
        for end in text.indices.dropLast(2) {
            #expect(PartialDownload(record: Array(text[..<end].utf8), boot: "a", bytes: 1) == nil)
        }
        let weak = text.replacing("etag: \\\"1", with: "etag: W/\\\"1")
        #expect(weak != text && PartialDownload(record: Array(weak.utf8), boot: "a", bytes: 1) == nil)
        #expect(PartialDownload(record: [], boot: "a", bytes: 1) == nil)
    }

    @Test("a file and its record have names of their own for each URL")
    func names() throws {
        let file = PartialDownload.file(of: Self.url)
        #expect(file == Digest.of(Self.url.text).hex + ".part")
        #expect(PartialDownload.file(ofRecord: PartialDownload.record(ofFile: file)) == file)
        for other in [file, "7", "", ".json", "x.json"] { #expect(PartialDownload.file(ofRecord: other) == nil) }
    }

    // MARK: Bounds

    @Test(
        "a download goes on if there are bytes enough, some are missing, and it began within a day",
        arguments: [
            (65_536, nil, 0, true), (65_535, nil, 0, false), (0, nil, 0, false), (199_999, 200_000, 0, true),
            (200_000, 200_000, 0, false), (200_001, 200_000, 0, false), (100_000, nil, 86_399, true),
            (100_000, nil, 86_400, false), (100_000, nil, -3600, true), (100_000, nil, -3601, false),
        ] as [(Int, Int?, Int, Bool)])
    func bounds(bytes: Int, length: Int?, age: Int, canGoOn: Bool) throws {
        let partial = try #require(Sample.partial(bytes: bytes, length: length))
        #expect(partial.canGoOn(at: Sample.start + .seconds(age)) == canGoOn)
        #expect(PartialDownload.kept(of: [partial], at: Sample.start + .seconds(age)).isEmpty == !canGoOn)
    }

    @Test(
        "the newest partial downloads are kept within their limits on number and size",
        arguments: [(100_000, 64), (5 << 20, 25)])
    func most(bytes: Int, count: Int) throws {
        let partials = try (0..<100).map {
            try #require(
                Sample.partial(of: "\($0)", bytes: bytes, length: nil, at: Sample.start + .seconds($0 * 37 % 100)))
        }
        let kept = PartialDownload.kept(of: partials, at: Sample.start + .seconds(100))
        #expect(kept.map(\.response.responseTime) == (1...count).map { Sample.start + .seconds(100 - $0) })
    }

    @Test(
        "a failure that passes, or cuts the image, leaves a part, and no other does",
        arguments: [
            (.timeout("x"), true), (FetchFailure(.connectionClosed, ""), true), (.status(503), true),
            (.status(429), true), (FetchFailure(.cutShort, ""), true), (.status(404), false), (.status(410), false),
            (.status(403), false),
            (.tooLarge(limit: ByteCount(1)), false), (FetchFailure(.protocolViolation, ""), false),
        ] as [(FetchFailure, Bool)])
    func failures(failure: FetchFailure, leavesPart: Bool) {
        #expect(failure.leavesPart == leavesPart)
    }
}
