// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("The origin of the tests")
struct TestOriginTests {
    @Test("the test origin draws an icon for any name", arguments: ["Mail", "Ünï/çødé & more?", "100%", "..", ""])
    func icon(name: String) async throws {
        try await TestOrigin.run { origin in
            let answer = try await Exchange.with(origin.iconURL(name))
            #expect(answer.status == 200)
            #expect(answer.body == IconDrawing(name).png())
            #expect(answer.headers["content-type"] == ["image/png"])
            #expect(answer.headers["content-length"] == ["\(answer.body.count)"])
            #expect(answer.headers["etag"] == [IconDrawing(name).entityTag])
            #expect(answer.headers["last-modified"].count == 1)
        }
    }

    @Test("the test origin draws in the side and pads to the size that the query asks for")
    func query() async throws {
        try await TestOrigin.run { origin in
            let answer = try await Exchange.with(origin.iconURL("Mail", side: 128, bytes: 12_288))
            #expect(answer.body == IconDrawing("Mail", side: 128, paddedTo: 12_288).png())
            #expect(answer.body.count == 12_288)
        }
    }

    @Test(
        "the test origin says what is wrong with a request",
        arguments: [
            ("/", HTTPMethod.GET, 404), ("/icons/Mail.gif", .GET, 404), ("/icons/a/b.png", .GET, 404),
            ("/icons.png", .GET, 404), ("/icons/Mail.png", .POST, 405),
            ("/icons/Mail.png?side=0", .GET, 400), ("/icons/Mail.png?side=9000", .GET, 400),
            ("/icons/Mail.png?side=large", .GET, 400), ("/icons/Mail.png?bytes=-1", .GET, 400),
        ])
    func refusals(path: String, method: HTTPMethod, status: Int) async throws {
        try await TestOrigin.run { origin in
            let answer = try await Exchange.with(origin.baseURL + path, method: method)
            #expect(answer.status == status)
            #expect(origin.requestCount == 1)
        }
    }

    @Test("the test origin answers HEAD with the headers of GET and no body")
    func head() async throws {
        try await TestOrigin.run { origin in
            let answer = try await Exchange.with(origin.iconURL("Mail"), method: .HEAD)
            #expect(answer.status == 200)
            #expect(answer.headers["content-length"] == ["2244"])
            #expect(answer.body.isEmpty)
        }
    }

    @Test(
        "the test origin answers 304 to those who have the icon, and only to them",
        arguments: [
            ([("If-None-Match", "TAG")], 304), ([("If-None-Match", "W/TAG")], 304),
            ([("If-None-Match", "\"other\", TAG")], 304), ([("If-None-Match", "*")], 304),
            ([("If-Modified-Since", "DATE")], 304),
            ([("If-None-Match", "\"other\"")], 200),
            ([("If-None-Match", "\"other\""), ("If-Modified-Since", "DATE")], 200),
            ([("If-Modified-Since", "Fri, 02 Jan 2026 00:00:00 GMT")], 200), ([], 200),
        ] as [([(String, String)], Int)])
    func revalidation(headers: [(String, String)], status: Int) async throws {
        try await TestOrigin.run { origin in
            let first = try await Exchange.with(origin.iconURL("Mail"))
            let tag = try #require(first.headers.first(name: "etag"))
            let date = try #require(first.headers.first(name: "last-modified"))
            let sent = headers.map { name, value in
                (name, value.split(separator: "TAG", omittingEmptySubsequences: false).joined(separator: tag))
            }.map { name, value in (name, value == "DATE" ? date : value) }
            let second = try await Exchange.with(origin.iconURL("Mail"), headers: sent)
            #expect(second.status == status)
            #expect(second.body.isEmpty == (status == 304))
            #expect(second.headers["content-length"].isEmpty == (status == 304))
            #expect(second.headers["etag"] == [tag])
        }
    }

    @Test("the test origin counts every request under its path, whatever the answer")
    func counts() async throws {
        try await TestOrigin.run { origin in
            for url in [origin.iconURL("a"), origin.iconURL("a", side: 8), origin.iconURL("b"), origin.baseURL + "/no"]
            {
                _ = try await Exchange.with(url)
            }
            #expect(origin.requestCount == 4)
            #expect(origin.requestCount(for: TestOrigin.iconPath("a")) == 2)
            #expect(origin.requestCount(for: TestOrigin.iconPath("b")) == 1)
            #expect(origin.requestCount(for: "/no") == 1)
            #expect(origin.requestCount(for: "/never") == 0)
        }
    }

    @Test("the test origin answers from a script, which sees the request and its number")
    func scripts() async throws {
        try await TestOrigin.run { origin in
            let path = TestOrigin.iconPath("Mail")
            origin.respond(to: path) { request in
                request.number == 1
                    ? OriginReply(status: 503, headers: [("Retry-After", "3")], body: Array("later".utf8))
                    : OriginReply(
                        body: Array("\(request.method) \(request.query ?? "") \(request.headers["x"] ?? "")".utf8))
            }
            let first = try await Exchange.with(origin.iconURL("Mail"))
            #expect(first.status == 503)
            #expect(first.headers["retry-after"] == ["3"])
            #expect(first.body == Array("later".utf8))

            let second = try await Exchange.with(origin.baseURL + path + "?q=1", headers: [("X", "a"), ("X", "b")])
            #expect(second.body == Array("GET q=1 a, b".utf8))

            origin.respond(to: path, with: .icon(IconDrawing("Maps")))
            #expect(try await Exchange.with(origin.iconURL("Mail")).body == IconDrawing("Maps").png())
        }
    }

    @Test("the test origin holds an answer back until it is released")
    func hold() async throws {
        try await TestOrigin.run { origin in
            let path = TestOrigin.iconPath("Mail")
            origin.hold(path)
            async let held = Exchange.with(origin.iconURL("Mail"))
            try await origin.received(1, for: path)
            #expect(try await Exchange.with(origin.iconURL("Maps")).status == 200, "other paths are not held")

            origin.respond(to: path, with: OriginReply(status: 410))
            origin.release(path)
            #expect(try await held.status == 410, "the answer is that of the moment of the release")
            #expect(try await Exchange.with(origin.iconURL("Mail")).status == 410, "nothing is held any more")
        }
    }

    @Test("the test origin refuses connections once it is cut off, and ends those that are open without an answer")
    func cutOff() async throws {
        try await TestOrigin.run { origin in
            let path = TestOrigin.iconPath("Mail")
            origin.hold(path)
            let idle = try await Exchange.with(origin.iconURL("Maps"))
            #expect(idle.status == 200)
            let held = Task { try await Exchange.with(origin.iconURL("Mail")) }
            try await origin.received(1, for: path)

            await origin.cutOff()
            await #expect(throws: LocalConnection.Failure.closed) { try await held.value }
            await expectRefusal(of: origin.iconURL("Maps"))
            #expect(origin.requestCount == 2)
            await origin.cutOff()
        }
    }

    @Test("the test origin comes back at the port of one that was cut off")
    func samePort() async throws {
        try await TestOrigin.run { first in
            let url = first.iconURL("Mail")
            #expect(try await Exchange.with(url).status == 200)
            await first.cutOff()
            let answer = try await TestOrigin.run(port: first.port) { _ in try await Exchange.with(url) }
            #expect(answer.status == 200)
        }
    }

    @Test("the test origin has stopped at the end of its scope, even with an answer held back")
    func scope() async throws {
        let path = TestOrigin.iconPath("Mail")
        try await withThrowingTaskGroup(of: Void.self) { group in
            let port = try await TestOrigin.run { origin in
                origin.hold(path)
                let url = origin.iconURL("Mail")
                group.addTask {
                    await #expect(throws: LocalConnection.Failure.closed) { try await Exchange.with(url) }
                }
                try await origin.received(1, for: path)
                return origin.port
            }
            await expectRefusal(of: "http://127.0.0.1:\(port)/")
            try await group.waitForAll()
        }
    }

    @Test("the test origin passes on what its body throws, and the error of a port that is taken")
    func errors() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await TestOrigin.run { _ in throw Stop() } }
        try await TestOrigin.run { origin in
            await #expect(throws: IOError.self) { try await TestOrigin.run(port: origin.port) { _ in } }
        }
    }

    private func expectRefusal(of url: String) async {
        let failure = await #expect(throws: IOError.self) { try await Exchange.with(url) }
        #expect(failure?.errnoCode == ECONNREFUSED)
    }
}
