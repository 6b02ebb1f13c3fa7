// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import NIOHTTP1
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Downloads that are cut, and rests that come in pieces")
struct CutDownloadTests {
    /// The bytes of the image in this range, and no others.
    private static func piece(_ range: Range<Int>, tag: String = "\"1\"", isCutAfter cut: Int? = nil) -> CutIcon.Answer
    {
        let headers: HTTPHeaders = [
            "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/300000", "ETag": tag,
        ]
        let body = Array(CutIcon.bytes[range].prefix(cut ?? .max))
        return CutIcon.Answer(206, headers, body: body, isCut: cut != nil)
    }

    private static func range(_ first: Int) -> [String] { ["bytes=\(first)-", "\"1\""] }

    // MARK: Pieces

    @Test("a rest that comes in pieces is requested piece by piece, in one download")
    func pieces() async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), Self.piece(200_000..<240_000), Self.piece(240_000..<280_000),
            Self.piece(280_000..<300_000))
        #expect(fetches.map(\.code) == ["connection-closed", "image"])
        #expect(requests == [[], Self.range(200_000), Self.range(240_000), Self.range(280_000)])
        #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
    }

    @Test(
        "an answer that does not fit behind a piece has the whole image requested, at once",
        arguments: [
            .init(416), piece(240_000..<300_000, tag: "\"2\""), piece(200_000..<240_000), piece(240_000..<240_100),
        ] as [CutIcon.Answer])
    func misfit(answer: CutIcon.Answer) async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), Self.piece(200_000..<240_000), answer, .init(200, body: CutIcon.bytes))
        #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
        #expect(requests == [[], Self.range(200_000), Self.range(240_000), []])
    }

    @Test("a failure after a piece leaves the pieces, and tells how far they reach", arguments: [503, nil])
    func failure(status: Int?) async throws {
        let failing = status.map { CutIcon.Answer($0) } ?? Self.piece(240_000..<280_000, isCutAfter: 30_000)
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), Self.piece(200_000..<240_000), failing,
            Self.piece(status == nil ? 270_000..<300_000 : 240_000..<300_000), times: 3)
        let code = status.map { "http-\($0)" } ?? "connection-closed"
        #expect(fetches.map(\.code) == ["connection-closed", code, "image"])
        #expect(requests.last == Self.range(status == nil ? 270_000 : 240_000))
        #expect(
            fetches[1].cut
                == .init(end: status == nil ? 270_000 : 240_000, length: 300_000, isWhole: false, isKept: true))
        #expect(fetches.last?.digest == .of(CutIcon.bytes))
    }

    // MARK: Cuts

    private static let cuts: [(String, CutIcon.Answer, Validators?, FetchFailure.Cut?)] = [
        ("a whole image", CutIcon.beginning(), nil, .init(end: 200_000, length: 300_000, isWhole: true, isKept: true)),
        (
            "in chunks", .init(200, ["ETag": "\"1\""], body: Array(CutIcon.bytes.prefix(70_000)), isCut: true), nil,
            .init(end: 70_000, length: nil, isWhole: true, isKept: true)
        ),
        (
            "without a tag", CutIcon.beginning(of: CutIcon.bytes, [:]), nil,
            .init(end: 200_000, length: 300_000, isWhole: true, isKept: false)
        ),
        (
            "of few bytes", .init(200, ["ETag": "\"1\""], body: Array(CutIcon.bytes.prefix(5)), isCut: true), nil,
            .init(end: 5, length: nil, isWhole: true, isKept: false)
        ),
        (
            "a refresh", CutIcon.beginning(), Validators(etag: "\"0\""),
            .init(end: 200_000, length: 300_000, isWhole: true, isKept: false)
        ),
        (
            "without a length, as if complete", .init(200, body: Array(CutIcon.bytes.prefix(70_000))), nil,
            .init(end: 70_000, length: nil, isWhole: true, isKept: false)
        ),
        (
            "complete, and truncated",
            .init(200, ["Content-Length": "70000"], body: Array(CutIcon.bytes.prefix(70_000))), nil, nil
        ),
        ("without a body", .init(200, ["Content-Length": "300000"], isCut: true), nil, nil),
        ("a status", .init(503), nil, nil),
    ]

    @Test("a download that was cut tells where, and whether it can be resumed there", arguments: cuts)
    func cut(
        name: String, answer: CutIcon.Answer, validators: Validators?, cut: FetchFailure.Cut?
    ) async throws {
        let fetches = try await CutIcon.fetch(1, over: ScriptedTransport { _, _ in answer }, validators: validators)
        #expect(fetches.first?.cut == cut)
    }

    @Test("a rest that never comes is a cut where the part ends")
    func nothing() async throws {
        let (fetches, _) = try await CutIcon.fetch(CutIcon.beginning(), Self.piece(200_000..<300_000, isCutAfter: 0))
        #expect(fetches.last?.cut == .init(end: 200_000, length: 300_000, isWhole: false, isKept: true))
    }

    // MARK: Sockets

    private static func settings() throws -> Settings {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        settings.fetch.idleTimeout = .seconds(60)
        settings.fetch.totalTimeout = .seconds(120)
        return settings
    }

    @Test(
        "a server that cuts the image and sends 64,000 bytes of a range is asked until the image is complete",
        arguments: [false, true])
    func capped(closes: Bool) async throws {
        try await RawOrigin.run { request in
            let reply = request.rangeReply(CutIcon.streamed, entityTag: "\"1\"", longest: 64_000)
            if request.values(of: "Range").isEmpty { return [.send(Array(reply.prefix(2_000_000))), .close] }
            return closes ? [.send(reply), .close] : [.send(reply)]
        } _: { origin in
            let url = origin.baseURL + "/icon"
            try await withTemporaryFolder { path in
                let fetches = try await CacheFixture(path).fetch([url, url], Self.settings())
                #expect(fetches.map(\.code) == ["connection-closed", "image"])
                #expect(fetches.last?.digest == .of(CutIcon.streamed) && fetches.last?.isTidy == true)
                let rest = CutIcon.streamed.count - (fetches.first?.cut?.end ?? 0)
                #expect(origin.requests.count(of: "/icon") == 1 + (rest + 63_999) / 64_000)
            }
        }
    }

    @Test(
        "a server that cuts every answer after some bytes sends the image in as many attempts as it takes",
        arguments: [RawOrigin.Step.close, .reset])
    func cutAlways(end: RawOrigin.Step) async throws {
        try await RawOrigin.run { request in
            let reply = request.rangeReply(CutIcon.streamed, entityTag: "\"1\"")
            return reply.count > 700_000 ? [.send(Array(reply.prefix(700_000))), end] : [.send(reply)]
        } _: { origin in
            let url = origin.baseURL + "/icon"
            try await withTemporaryFolder { path in
                let cache = try CacheFixture(path)
                var ends: [Int] = []
                var last: HostileFetch?
                // A reset may take bytes with it that were sent before.
                while last?.digest == nil, ends.count < 50 {
                    last = try await cache.fetch([url], Self.settings()).last
                    if let cut = last?.cut { ends.append(cut.end) }
                }
                #expect(last?.digest == .of(CutIcon.streamed))
                #expect(ends.count >= 4)
            }
        }
    }

    @Test(
        "an image that a server cuts at one byte is cut there each time, however the server ends it",
        arguments: [
            ("Content-Length: 300000\r\n\r\n", 300_000), ("Transfer-Encoding: chunked\r\n\r\n493e0\r\n", nil),
            ("\r\n", nil),
        ] as [(String, Int?)])
    func samePlace(fields: String, length: Int?) async throws {
        let answer = Array("HTTP/1.1 200 OK\r\n\(fields)".utf8) + CutIcon.bytes.prefix(70_000)
        try await RawOrigin.run { _ in
            [.send(answer), .close]
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL, origin.baseURL])
            let cut = FetchFailure.Cut(end: 70_000, length: length, isWhole: true, isKept: false)
            #expect(fetches.map(\.cut) == [cut, cut])
        }
    }
}

extension HostileFetch {
    /// Where the image was cut off, if it was.
    fileprivate var cut: FetchFailure.Cut? {
        if case .failed(let failure) = outcome { failure.cut } else { nil }
    }
}
