// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import NIOHTTP1
import SyncPlan
import Testing

@testable import SyncAgent

@Suite("Resumed downloads")
struct ResumeTests {
    @Test("a resumed download requests only the rest, and the parts together are the image")
    func resume() async throws {
        let rest = CutIcon.rest(CutIcon.range, ["ETag": "\"1\"", "Cache-Control": "max-age=9"])
        let (fetches, requests) = try await CutIcon.fetch(CutIcon.beginning(), rest)
        #expect(fetches.map(\.code) == ["connection-closed", "image"])
        #expect(requests == [[], CutIcon.asked])
        guard case .image(let staged, let response)? = fetches.last?.outcome else { return }
        #expect(staged.image.sha256 == .of(CutIcon.bytes) && staged.image.bytes == CutIcon.bytes.count)
        #expect(response.status == 200 && response.validators.etag == "\"1\"")
        #expect(response.cacheControl.maxAge == .duration(.seconds(9)))
        #expect(fetches.first?.staging.count == 2 && fetches.last?.isTidy == true)
    }

    @Test("a rest that is cut is resumed as well")
    func twice() async throws {
        var second = CutIcon.rest()
        second.body = Array(CutIcon.bytes[200_000..<250_000])
        second.isCut = true
        var third = CutIcon.rest("bytes 250000-299999/300000")
        third.body = Array(CutIcon.bytes[250_000...])
        let (fetches, requests) = try await CutIcon.fetch(CutIcon.beginning(), second, third, times: 3)
        #expect(fetches.map(\.code) == ["connection-closed", "connection-closed", "image"])
        #expect(requests == [[], CutIcon.asked, ["bytes=250000-", "\"1\""]])
        #expect(fetches.last?.digest == .of(CutIcon.bytes))
    }

    @Test(
        "a rest without the length of the whole is joined if the first answer announced it",
        arguments: [true, false])
    func unknownLength(isAnnounced: Bool) async throws {
        var beginning = CutIcon.beginning()
        if !isAnnounced { beginning.headers.remove(name: "Content-Length") }
        let (fetches, requests) = try await CutIcon.fetch(
            beginning, CutIcon.rest("bytes 200000-299999/*"), .init(200, body: CutIcon.bytes))
        #expect(fetches.last?.digest == .of(CutIcon.bytes) && fetches.last?.isTidy == true)
        #expect(requests == (isAnnounced ? [[], CutIcon.asked] : [[], CutIcon.asked, []]))
    }

    @Test("a changed image is downloaded whole instead of resumed")
    func changed() async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), .init(200, ["ETag": "\"2\""], body: CutIcon.other))
        #expect(fetches.last?.digest == .of(CutIcon.other) && fetches.last?.isTidy == true)
        #expect(requests == [[], CutIcon.asked])
    }

    @Test("a changed image that is cut is resumed from its newest part")
    func changedAndCut() async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), CutIcon.beginning(of: CutIcon.other, ["ETag": "\"2\""]),
            CutIcon.rest(CutIcon.range, ["ETag": "\"2\""], of: CutIcon.other), times: 3)
        #expect(fetches.last?.digest == .of(CutIcon.other))
        #expect(requests == [[], CutIcon.asked, ["bytes=200000-", "\"2\""]])
    }

    @Test("a download without an entity tag is resumed by its date")
    func byDate() async throws {
        let date = "Fri, 20 Nov 2026 10:00:00 GMT"
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(of: CutIcon.bytes, ["Last-Modified": date, "Date": "Fri, 20 Nov 2026 10:01:00 GMT"]),
            CutIcon.rest(CutIcon.range, ["Last-Modified": date]))
        #expect(fetches.last?.digest == .of(CutIcon.bytes))
        #expect(requests == [[], ["bytes=200000-", date]])
    }

    @Test(
        "a download without a strong validator, or without ranges, is not resumed",
        arguments: [
            [:], ["ETag": "W/\"1\""], ["ETag": "1"], ["ETag": "\"1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"],
            ["Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT", "Date": "Fri, 20 Nov 2026 10:00:30 GMT"],
        ] as [[String: String]])
    func notResumable(fields: [String: String]) async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(of: CutIcon.bytes, .init(Array(fields))), .init(200, body: CutIcon.bytes))
        #expect(fetches.map(\.code) == ["connection-closed", "image"] && fetches.first?.isTidy == true)
        #expect(requests == [[], []])
    }

    @Test("partial small bodies and those of refreshes are not kept")
    func notKept() async throws {
        let small = CutIcon.Answer(200, ["ETag": "\"1\""], body: Array(CutIcon.bytes.prefix(60_000)), isCut: true)
        let cut = try await CutIcon.fetch(small)
        #expect(cut.fetches.map(\.isTidy) == [true, true] && cut.requests == [[], []])
        let refresh = try await CutIcon.fetch(CutIcon.beginning(), validators: Validators(etag: "\"0\""))
        #expect(refresh.fetches.map(\.isTidy) == [true, true] && refresh.requests == [[], []])
    }

    @Test("a server that cannot answer now leaves the partial image as it is", arguments: [503, 429])
    func unavailable(status: Int) async throws {
        let (fetches, requests) = try await CutIcon.fetch(
            CutIcon.beginning(), .init(status), CutIcon.rest(), times: 3)
        #expect(fetches.map(\.code) == ["connection-closed", "http-\(status)", "image"])
        #expect(requests == [[], CutIcon.asked, CutIcon.asked])
        #expect(fetches.last?.digest == .of(CutIcon.bytes))
    }

    @Test("the size limit of a resumed download holds for the whole image")
    func tooLarge() async throws {
        var beginning = CutIcon.beginning()
        beginning.headers.remove(name: "Content-Length")
        let (fetches, requests) = try await CutIcon.fetch(beginning, CutIcon.rest()) {
            $0.fetch.maxBytes = ByteCount(299_999)
        }
        #expect(fetches.map(\.code) == ["connection-closed", "too-large"])
        #expect(requests == [[], CutIcon.asked])
    }

    @Test("the rest of an image is requested from the URL of its beginning, and nowhere else")
    func redirects() async throws {
        let a = CutIcon.url + "/a"
        let b = CutIcon.url + "/b"
        let transport = ScriptedTransport { url, number in
            switch (url, number) {
            case (CutIcon.url, ...4): .init(302, ["Location": a])
            case (CutIcon.url, _): .init(302, ["Location": b])
            case (a, 2): CutIcon.beginning()
            case (b, _): .init(200, body: CutIcon.other)
            default: nil
            }
        }
        let fetches = try await CutIcon.fetch(3, over: transport)
        #expect(fetches.map(\.code) == ["connection-closed", "connect", "image"])
        #expect(transport.requests.map(\.url) == [CutIcon.url, a, CutIcon.url, a, CutIcon.url, b])
        #expect(transport.requests.map { CutIcon.conditions($0.headers) } == [[], [], [], CutIcon.asked, [], []])
    }
}
