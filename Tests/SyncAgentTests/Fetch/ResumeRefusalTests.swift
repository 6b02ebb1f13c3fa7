// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import NIOHTTP1
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Refused rests of images")
struct ResumeRefusalTests {
    private static let missing = Array(CutIcon.bytes.dropFirst(CutIcon.cut))
    private static let parts =
        Array("--b\r\nContent-Range: \(CutIcon.range)\r\n\r\n".utf8) + missing + Array("\r\n--b--\r\n".utf8)

    private static func rest(_ bytes: some Sequence<UInt8>, _ range: String = CutIcon.range) -> CutIcon.Answer {
        CutIcon.Answer(206, ["Content-Range": range, "ETag": "\"1\""], body: Array(bytes))
    }

    private static let answers: [(String, CutIcon.Answer)] = [
        ("416", .init(416, ["Content-Range": "bytes */300000"])),
        ("another first byte", CutIcon.rest("bytes 200001-299999/300000")),
        ("the first byte", CutIcon.rest("bytes 0-299999/300000")),
        ("fewer bytes than asked for", rest(missing.prefix(100), "bytes 200000-200099/300000")),
        ("another length", CutIcon.rest("bytes 200000-300000/300001")),
        ("an end behind the length", rest(missing + [0], "bytes 200000-300000/*")),
        ("another unit", CutIcon.rest("lines 200000-299999/300000")), ("nonsense", CutIcon.rest("bytes")),
        ("no range", CutIcon.rest(nil)),
        ("two ranges", CutIcon.rest(CutIcon.range, ["Content-Range": CutIcon.range, "ETag": "\"1\""])),
        ("no tag", CutIcon.rest(CutIcon.range, [:])),
        ("two tags", CutIcon.rest(CutIcon.range, HTTPHeaders([("ETag", "\"1\""), ("ETag", "\"2\"")]))),
        ("another tag", CutIcon.rest(CutIcon.range, ["ETag": "\"2\""])),
        ("a weak tag", CutIcon.rest(CutIcon.range, ["ETag": "W/\"1\""])),
        (
            "a date that was not there",
            CutIcon.rest(CutIcon.range, ["ETag": "\"1\"", "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"])
        ),
        (
            "several parts",
            .init(206, ["Content-Type": "multipart/byteranges; boundary=b", "ETag": "\"1\""], body: parts)
        ),
        ("the bytes of another image", rest(missing.reversed())),
        ("a body that is too short", rest(missing.dropLast())), ("a body that is too long", rest(missing + [0])),
        ("nothing", rest([])), ("400", .init(400)), ("403", .init(403)), ("404", .init(404)), ("405", .init(405)),
        ("412", .init(412)), ("501", .init(501)), ("204", .init(204)), ("304", .init(304)),
        ("an encoded rest", CutIcon.rest(CutIcon.range, ["ETag": "\"1\"", "Content-Encoding": "gzip"])),
        ("a rest with the status of the whole", .init(200, ["Content-Range": CutIcon.range], body: missing)),
        ("a rest that does not say so", .init(200, body: missing)),
        ("a page", .init(200, ["Content-Type": "text/html"], body: Array("<!DOCTYPE html><p>No ranges".utf8))),
    ]

    @Test("an answer that is not the rest leads to one request for the whole image, at once", arguments: answers)
    func refusal(name: String, answer: CutIcon.Answer) async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), answer, .init(200, body: CutIcon.bytes))
        #expect(fetches.last?.digest == .of(CutIcon.bytes), "\(String(describing: fetches.last?.outcome))")
        #expect(fetches.last?.isTidy == true)
        #expect(requests == [[], CutIcon.asked, []])
    }

    @Test(
        "a rest whose head is not valid HTTP leads to one request for the whole image",
        arguments: [
            "HTTP/1.1 206 OK\r\nContent-Length: a\r\n\r\n", "HTTP/1.1 206 OK\r\n: x\r\n\r\n",
        ])
    func unreadable(answer: String) async throws {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        try await RawOrigin.run { request in
            if !request.values(of: "Range").isEmpty { return [.send(Array(answer.utf8)), .close] }
            let reply = request.rangeReply(CutIcon.bytes, entityTag: "\"1\"")
            return request.number == 1 ? [.send(Array(reply.prefix(CutIcon.cut))), .close] : [.send(reply)]
        } _: { [settings] origin in
            let url = origin.baseURL + "/icon"
            try await withTemporaryFolder { path in
                let fetches = try await CacheFixture(path).fetch([url, url], settings)
                #expect(fetches.map(\.code) == ["connection-closed", "image"])
                #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
                #expect(origin.requests.count(of: "/icon") == 3)
            }
        }
    }

    @Test("a failure after a refused rest is an ordinary one, and the partial image is not used again")
    func poisoned() async throws {
        let damaged = CutIcon.bytes.dropLast(1000) + Array(repeating: 0, count: 1000)
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), CutIcon.rest(nil), .init(200, ["ETag": "\"1\""], body: damaged), times: 3)
        #expect(fetches.map(\.code) == ["connection-closed", "image-damaged", "image-damaged"])
        #expect(fetches.map(\.isTidy) == [false, true, true])
        #expect(requests == [[], CutIcon.asked, [], []])
    }

    @Test("a partial image more than a day old is not resumed")
    func old() async throws {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        let transport = ScriptedTransport { _, _ in .init(200, body: CutIcon.bytes) }
        try await withTemporaryFolder { [settings] path in
            let cache = try CacheFixture(path)
            let past = AgentClock.wallTime + .seconds(-86_400)
            let fields = HTTPFields([("ETag", "\"1\"")])
            let response = StoredResponse(fields: fields, requestTime: past, responseTime: past)
            var partial = try #require(
                PartialDownload(
                    of: IconURL(CutIcon.url), from: FetchTarget(CutIcon.url), response: response, fields: fields))
            let name = try await cache.staging.begin(partial)
            try await cache.staging.append(Array(CutIcon.bytes.prefix(CutIcon.cut)), to: name)
            partial.bytes = CutIcon.cut
            await cache.staging.suspend(partial, now: past)
            let fetches = try await cache.fetch([CutIcon.url], over: transport, settings)
            #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
            #expect(transport.requests.map { CutIcon.conditions($0.headers) } == [[]])
        }
    }

    @Test("a partial image that changed on disk is not resumed", arguments: [true, false])
    func lost(isShorter: Bool) async throws {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        let transport = ScriptedTransport { _, number in
            [CutIcon.beginning(), CutIcon.rest(), .init(200, body: CutIcon.bytes)][number - 1]
        }
        try await withTemporaryFolder { [settings] path in
            let cache = try CacheFixture(path)
            try await cache.fetch([CutIcon.url], over: transport, settings)
            let file = "staging/" + PartialDownload.file(of: IconURL(CutIcon.url))
            cache.folder.remove(file)
            if isShorter { try cache.folder.write(CutIcon.bytes.prefix(100_000), to: file, mode: .ownerReadWrite) }
            let fetches = try await cache.fetch([CutIcon.url], over: transport, settings)
            #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
        }
    }
}
