// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Times that do not count against downloads")
struct ConnectionWaitTests {
    private static let icon = MisbehavingStream.icon

    /// Answers `/held` when the gate is open, and all others at once.
    private static func script(_ gate: Gate) -> @Sendable (RawOrigin.Request) -> [RawOrigin.Step] {
        { request in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"
            return (request.target == "/held" ? [.wait(gate)] : []) + [.send(head), .send(icon)]
        }
    }

    /// Runs the body with downloads that may use loopback, and what comes of them.
    private func withDownloads<R>(
        _ change: (inout Settings) -> Void,
        _ body: (Downloads, inout AsyncStream<EndedDownload>.Iterator) async throws -> R
    ) async throws -> R {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        settings.fetch.connectTimeout = .seconds(60)
        settings.fetch.idleTimeout = .seconds(60)
        settings.upstream.idleTimeout = .seconds(60)
        settings.upstream.totalTimeout = .seconds(60)
        change(&settings)
        return try await withTemporaryFolder { [settings] path in
            let (ends, end) = AsyncStream.makeStream(of: EndedDownload.self)
            var iterator = ends.makeAsyncIterator()
            let downloads = Downloads(
                settings: settings, staging: try CacheFixture(path).staging, clock: AgentClock()
            ) { for one in $0 { end.yield(one) } }
            let result: Result<R, any Error>
            do {
                result = .success(try await body(downloads, &iterator))
            } catch {
                result = .failure(error)
            }
            await downloads.shutdown()
            return try result.get()
        }
    }

    private func begin(_ urls: [String], in downloads: Downloads) throws {
        downloads.begin(try urls.map { FetchRequest(trying: IconURL($0), from: try IconSource(IconURL($0))) })
    }

    private static func code(_ end: EndedDownload?) -> String? {
        switch end?.outcome {
        case .image: "image"
        case .failed(let failure): failure.message
        default: nil
        }
    }

    @Test("the time for which a download waits for a connection of its host does not count against its timeouts")
    func connection() async throws {
        let gate = Gate()
        defer { gate.open() }
        try await RawOrigin.run(Self.script(gate)) { origin in
            let upstream = try #require(UpstreamURL(origin.baseURL + "/"))
            try await withDownloads {
                $0.fetch.perHost = 1
                $0.fetch.totalTimeout = .seconds(2)
                $0.upstream.urls = [upstream]
            } _: { downloads, ends in
                async let document = downloads.document("held", of: upstream, fields: [])
                try await origin.requests.reach(1)
                try begin([origin.baseURL + "/1"], in: downloads)
                try await Task.sleep(for: .seconds(3))
                #expect(origin.connections.total == 1)
                gate.open()
                #expect(Self.code(await ends.next()) == "image")
                #expect(try await document.get().body == Self.icon)
            }
        }
    }

    @Test("requests for documents use one connection after each other")
    func reuse() async throws {
        let gate = Gate()
        gate.open()
        try await RawOrigin.run(Self.script(gate)) { origin in
            let upstream = try #require(UpstreamURL(origin.baseURL + "/"))
            try await withDownloads {
                $0.fetch.perHost = 1
                $0.upstream.urls = [upstream]
            } _: { downloads, _ in
                for name in ["a", "b", "c", "d"] {
                    _ = try await downloads.document(name, of: upstream, fields: []).get()
                }
                #expect(origin.connections.total == 1)
            }
        }
    }

    @Test("downloads that wait while others try to connect in vain meet their timeouts", .hasIdentity)
    func connecting() async throws {
        try await RawOrigin.run { _ in
            []
        } _: { silent in
            try await withDownloads {
                $0.fetch.connectTimeout = .seconds(2)
                $0.fetch.totalTimeout = .seconds(3)
            } _: { downloads, ends in
                // For HTTP/2, one connects at a time.
                try begin((1...3).map { "https://127.0.0.1:\(silent.port)/\($0)" }, in: downloads)
                var messages: [String] = []
                for _ in 1...3 { messages.append(Self.code(await ends.next()) ?? "") }
                #expect(messages.filter { $0.contains("fetch.totalTimeout") }.count == 2, "\(messages)")
            }
        }
    }

    @Test("the time for which the system sleeps does not count against the timeouts of a download")
    func sleep() async throws {
        let gate = Gate()
        defer { gate.open() }
        try await RawOrigin.run(Self.script(gate)) { origin in
            try await withDownloads {
                $0.fetch.totalTimeout = .seconds(3)
                $0.fetch.idleTimeout = .seconds(3)
            } _: { downloads, ends in
                try begin([origin.baseURL + "/held"], in: downloads)
                try await origin.requests.reach(1)
                try await Task.sleep(for: .seconds(2))
                await downloads.recordSleep(.seconds(60))
                try await Task.sleep(for: .seconds(2))
                gate.open()
                #expect(Self.code(await ends.next()) == "image")
            }
        }
    }

    @Test("a document that takes turns arrives at fetch.maxRate, and another one at once", arguments: [true, false])
    func turns(takesTurns: Bool) async throws {
        let body = [UInt8](repeating: 1, count: 100_000)
        try await RawOrigin.run { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n"), .send(body)]
        } _: { origin in
            let upstream = try #require(UpstreamURL(origin.baseURL + "/"))
            try await withDownloads {
                $0.fetch.maxRate = ByteCount(20 << 10)
                $0.upstream.urls = [upstream]
                // Less than it takes: the pauses do not count.
                if takesTurns { $0.upstream.totalTimeout = .seconds(2) }
            } _: { downloads, _ in
                let start = ContinuousClock.now
                let document = try await downloads.document("a", of: upstream, fields: [], takesTurns: takesTurns).get()
                #expect(document.body == body)
                #expect((ContinuousClock.now - start > .seconds(3)) == takesTurns)
            }
        }
    }
}
