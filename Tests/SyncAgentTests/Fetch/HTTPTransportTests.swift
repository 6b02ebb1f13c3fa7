// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import DemoOrigin
import HTTPRules
import SyncPlan
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent

@Suite("HTTP over the wire")
struct HTTPTransportTests {
    /// Sends one request, and reads its answer to the end.
    private func get(
        _ url: String, allow: String = "127.0.0.0/8", change: (inout Settings) -> Void = { _ in }
    ) async throws -> Result<(status: Int, body: [UInt8]), FetchFailure> {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange(allow))]
        change(&settings)
        return try await Wire.run(settings) { wire in
            do {
                return .success(try await wire.answer(from: url))
            } catch let failure as FetchFailure {
                return .failure(failure)
            }
        }
    }

    /// Sets limits on time that no test reaches.
    private static func wait(_ settings: inout Settings) {
        (settings.fetch.connectTimeout, settings.fetch.idleTimeout) = (.seconds(240), .seconds(240))
    }

    @Test("an answer comes with its status and body, and a redirect is not followed")
    func answers() async throws {
        try await TestOrigin.run { origin in
            origin.respond(to: "/away", with: OriginReply(status: 302, headers: [("Location", "/icons/Mail.png")]))
            let icon = try await get(origin.iconURL("Mail")).get()
            #expect(icon.status == 200 && icon.body == IconDrawing("Mail").png())
            #expect(try await get(origin.baseURL + "/away").get().status == 302)
            #expect(origin.requestCount == 2)
        }
    }

    @Test("a connection to an address that is not allowed ends before a byte is sent")
    func rebinding() async throws {
        try await RawOrigin.run { _ in
            [.close]
        } _: { origin in
            let result = try await get(origin.baseURL + "/", allow: "10.0.0.0/8")
            guard case .failure(let failure) = result else {
                Issue.record("there was an answer")
                return
            }
            #expect(failure.code == .fetch(.addressRefused), "\(failure)")
            #expect(origin.requests.total == 0)
        }
    }

    @Test("fields are sent byte for byte, also after a request whose fields are the same text in other bytes")
    func fields() async throws {
        let tags = ["\"\u{E9}\"", "\"e\u{301}\"", "\"\u{E9}\""]
        let heads = Mutex<[String]>([])
        try await RawOrigin.run { request in
            heads.withLock { $0.append(request.head) }
            return [.send("HTTP/1.1 304 Not Modified\r\n\r\n")]
        } _: { origin in
            var settings = Settings()
            settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
            try await Wire.run(settings) { wire in
                for tag in tags {
                    _ = try await wire.answer(from: origin.baseURL + "/", fields: [("If-None-Match", tag)])
                }
            }
        }
        let lines = heads.withLock { $0.map { $0.split(separator: "\r\n").filter { $0.hasPrefix("If-None-Match") } } }
        #expect(lines.map { $0.map { Array($0.utf8) } } == tags.map { [Array("If-None-Match: \($0)".utf8)] })
    }

    @Test("a broken answer is an error with a code, and never a short body")
    func broken() async throws {
        let head = "HTTP/1.1 200 OK\r\n"
        let cases: [(String, [RawOrigin.Step], Set<String>)] = [
            ("cut", [.send(head + "Content-Length: 10\r\n\r\n12345"), .close], ["connection-closed", "protocol"]),
            (
                "chunk", [.send(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"), .close],
                ["connection-closed", "protocol"]
            ),
            ("reset", [.reset], ["connection-closed"]),
            ("silent", [], ["timeout"]),
            ("status 0", [.send("HTTP/1.1 000 x\r\n\r\n")], ["protocol"]),
            ("status 99", [.send("HTTP/1.1 099 x\r\nContent-Length: 1\r\n\r\nx")], ["protocol"]),
            ("only interim", [.send("HTTP/1.1 102 x\r\n\r\n"), .close], ["connection-closed", "protocol"]),
            ("nonsense", [.send("nonsense\r\n\r\n"), .close], ["protocol"]),
        ]
        for (name, steps, codes) in cases {
            try await RawOrigin.run { _ in
                steps
            } _: { origin in
                let result = try await get(origin.baseURL + "/") {
                    $0.fetch.idleTimeout = name == "silent" ? .milliseconds(200) : .seconds(300)
                }
                guard case .failure(let failure) = result else {
                    Issue.record("\(name): there was an answer")
                    return
                }
                #expect(codes.contains(failure.code.rawValue), "\(name): \(failure)")
            }
        }
    }

    @Test("a refused connection fails as such, and not by a time limit")
    func unreachable() async throws {
        let port = try await TestOrigin.run { $0.port }
        guard case .failure(let failure) = try await get("http://127.0.0.1:\(port)/", change: Self.wait) else {
            Issue.record("there was an answer")
            return
        }
        #expect(failure.code == .fetch(.connect))
    }
}
