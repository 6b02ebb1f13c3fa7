// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent
@testable import Transfers

@Suite("HTTP/2", .hasIdentity)
struct HTTP2Tests {
    private static let icon = MisbehavingStream.icon

    /// Answers with the settings, and with the image to every request.
    @Sendable private static func good(_ request: RawOrigin.Request) -> [RawOrigin.Step] {
        [.send(request.target == "*" ? Frame.settings() : MisbehavingStream.good(request.stream))]
    }

    /// Runs the body with a transport that trusts the origin, and may ask it.
    private func withTransport(
        _ trust: (inout Settings) -> Void, change: (inout Settings) -> Void = { _ in },
        _ body: (Wire) async throws -> Void
    ) async throws {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        settings.fetch.connectTimeout = .seconds(30)
        settings.fetch.idleTimeout = .seconds(60)
        trust(&settings)
        change(&settings)
        try await Wire.run(settings, body)
    }

    /// Asks for as many URLs at once.
    private func ask(_ origin: RawOrigin, _ count: Int, over transport: Wire) async throws {
        try await withThrowingTaskGroup { group in
            for number in 1...count {
                group.addTask { try await transport.answer(from: "\(origin.baseURL)/\(number)").body }
            }
            for try await body in group { #expect(body == Self.icon) }
        }
    }

    @Test("requests to a server do not wait for another server that takes connections and is silent")
    func besideSilence() async throws {
        let silentEnds = Counter()
        try await RawOrigin.run { _ in
            []
        } _: { silent in
            try await RawOrigin.runSecure(Self.good) { origin, trust in
                try await withTransport(trust, change: { $0.fetch.connectTimeout = .seconds(120) }) { transport in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 1...4 {
                            group.addTask {
                                _ = try? await transport.answer(from: "https://127.0.0.1:\(silent.port)/\(number)")
                                _ = silentEnds.next()
                            }
                        }
                        try await silent.connections.reach(1)
                        try await ask(origin, 4, over: transport)
                        #expect(silentEnds.last == 0)
                        group.cancelAll()
                    }
                }
            }
        }
    }

    @Test("HTTP/2 requests share one connection, and none of them waits for another's answer")
    func multiplexed() async throws {
        let streams = Mutex<[Int]>([])
        try await RawOrigin.runSecure { request in
            guard request.target != "*" else { return [.send(Frame.settings())] }
            return streams.withLock {
                $0.append(request.stream)
                return $0.count == 40 ? $0.reversed().map { .send(MisbehavingStream.good($0)) } : []
            }
        } _: { origin, trust in
            try await withTransport(trust) { transport in
                try await ask(origin, 40, over: transport)
                #expect(origin.connections.total == 1)
            }
        }
    }

    @Test("CurlMulti gives what came for a transfer that was paused and cancelled to no other one")
    func pausedAndCancelled() async throws {
        try await RawOrigin.runSecure { request in
            switch request.target {
            case "*": [.send(Frame.settings())]
            case "/open": [.send(MisbehavingStream.head(request.stream))]
            case "/paused":
                [.send(MisbehavingStream.head(request.stream) + Frame.data(request.stream, [1, 2, 3], end: false))]
            default: Self.good(request)
            }
        } _: { origin, trust in
            try await withTransport(trust) { transport in
                // It keeps the connection in use, so that libcurl leaves the bytes of others where they are.
                let open = Task { _ = try? await transport.answer(from: origin.baseURL + "/open") }
                defer { open.cancel() }
                try await origin.requests.reach(2)
                let (first, second) = (Wire.Pause(), Wire.Pause())
                let paused = Task { try? await transport.answer(from: origin.baseURL + "/paused", first) }
                try await first.begun.wait()
                paused.cancel()
                #expect(await paused.value == nil)
                async let image = transport.answer(from: origin.baseURL + "/image", second)
                try await second.begun.wait()
                await transport.resume(second)
                #expect(try await image.body == Self.icon)
                #expect(origin.connections.total == 1)
            }
        }
    }

    @Test("a transfer that was paused alone on its connection lets its server send no more besides bodies")
    func pausedAlone() async throws {
        let gate = Gate()
        defer { gate.open() }
        let junk = Array(repeating: Frame.bytes(type: 99, Array(repeating: 0, count: 16_000)), count: 1900).flatMap(
            \.self)
        try await RawOrigin.runSecure { request in
            guard request.target != "*" else { return [.send(Frame.settings())] }
            let start = MisbehavingStream.head(request.stream) + Frame.data(request.stream, [1, 2, 3], end: false)
            return [.send(start), .wait(gate), .send(junk), .send(Frame.data(request.stream, [4]))]
        } _: { origin, trust in
            try await withTransport(trust) { transport in
                let pause = Wire.Pause()
                let answer = Task { try await transport.answer(from: origin.baseURL + "/paused", pause).body }
                try await pause.begun.wait()
                await transport.resume(pause)
                gate.open()
                let failure = await #expect(throws: FetchFailure.self) { try await answer.value }
                #expect(failure?.code == .fetch(.protocolViolation))
            }
        }
    }

    @Test("with a limited rate, a server that speaks HTTP/2 gets HTTP/1 requests, which wait one by one")
    func limitedRate() async throws {
        try await RawOrigin.runSecure(protocols: ["h2", "http/1.1"]) { request in
            let isHTTP1 = request.stream == 0 && request.target != "*"
            return isHTTP1 ? [.send(Array(Self.text.utf8) + Self.icon)] : Self.good(request)
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL]) {
                trust(&$0)
                $0.fetch.maxRate = .mebibytes(1)
            }
            #expect(fetches.map(\.code) == ["image"] && fetches.first?.isMultiplexed != true, "\(fetches)")
        }
    }

    @Test("redirects and conditional requests stay on an HTTP/2 connection, and the download says so")
    func redirects() async throws {
        try await RawOrigin.runSecure { request in
            switch request.target {
            case "/1": [.send(Frame.headers(request.stream, [":status": "301", "location": "/2"], end: true))]
            case "/2" where request.head.contains("if-none-match: \"1\""):
                [.send(Frame.headers(request.stream, [":status": "304", "content-length": "5"], end: true))]
            default: Self.good(request)
            }
        } _: { origin, trust in
            let urls = ["/1", "/2", "/3"].map { origin.baseURL + $0 }
            let fetches = try await HostileFetch.run(urls, validators: Validators(etag: "\"1\""), change: trust)
            #expect(fetches.map(\.code) == ["image", "not-modified", "image"])
            #expect(origin.connections.total == 1 && origin.requests.total == 5)
            #expect(fetches.allSatisfy { $0.isMultiplexed == true })
        }
    }

    @Test(
        "a server that has not agreed on HTTP/2 gets HTTP/1 requests, and has to speak it",
        arguments: [
            (["http/1.1"], Array(text.utf8) + icon, "image"), ([], Array(text.utf8) + icon, "image"),
            ([], Frame.settings(), "protocol"),
        ])
    func negotiation(protocols: [String], answer: [UInt8], code: String) async throws {
        try await RawOrigin.runSecure(protocols: protocols) { _ in
            [.send(answer)]
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL], change: trust)
            #expect(fetches.first?.code == code, "\(fetches)")
            #expect(fetches.first?.isMultiplexed != true)
        }
    }

    private static let text = "HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"

    @Test(
        "a server that agrees on HTTP/2 and does not speak it gets HTTP/1 the next time",
        arguments: [
            ([], "timeout"), ([.send("HTTP/1.1 400 Bad Request\r\n\r\n")], "connection-closed"),
            ([.close], "connection-closed"), ([.reset], "connection-closed"),
        ] as [([RawOrigin.Step], String)])
    func fallback(steps: [RawOrigin.Step], code: String) async throws {
        try await RawOrigin.runSecure(protocols: ["h2", "http/1.1"]) { request in
            if request.target == "*" { return steps }
            return request.stream == 0 ? [.send(Array(Self.text.utf8) + Self.icon)] : []
        } _: { origin, trust in
            // The request goes out with the preface: it is no matter of the connection that there is no answer.
            let fetches = try await HostileFetch.run(
                [origin.baseURL + "/1", origin.baseURL + "/2"],
                idleTimeouts: code == "timeout" ? [0: .milliseconds(300)] : [:], change: trust)
            #expect(fetches.map(\.code) == [code, "image"], "\(fetches)")
        }
    }

    /// Downloads from as many URLs at once, and returns how that ended.
    private static func fetch(
        _ count: Int, from url: String, _ settings: Settings, over downloads: Fetching
    ) async throws -> [String] {
        let urls = (1...count).map { IconURL("\(url)/\($0)") }
        let sources = try urls.map { try settings.network.source(of: $0) }
        return await withTaskGroup(of: String.self) { group in
            for (url, source) in zip(urls, sources) {
                group.addTask {
                    let outcome = await downloads.fetch(FetchRequest(trying: url, from: source)).outcome
                    return HostileFetch(outcome: outcome, staging: []).code
                }
            }
            return await group.reduce([]) { $0 + [$1] }
        }
    }

    @Test(
        "requests that fail together switch their server to HTTP/1, or back to HTTP/2, once", arguments: [true, false])
    func together(isHTTP1Known: Bool) async throws {
        let count = 4
        let arrived = Mutex(0)
        var ends: [[String]] = []
        try await RawOrigin.runSecure(protocols: isHTTP1Known ? ["h2", "http/1.1"] : ["h2"]) { request in
            if request.stream == 0, request.target != "*" { return [.send(Array(Self.text.utf8) + Self.icon)] }
            if !isHTTP1Known, request.connection > 1 { return Self.good(request) }
            guard request.target != "*" else { return [] }
            let isLast = arrived.withLock {
                $0 += 1
                return $0.isMultiple(of: count)
            }
            return isLast ? [.close] : []
        } _: { origin, trust in
            var settings = Settings()
            settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
            (settings.fetch.idleTimeout, settings.fetch.connectTimeout) = (.seconds(60), .seconds(30))
            trust(&settings)
            try await withTemporaryFolder { path in
                try await Fetching.run(settings, into: CacheFixture(path).staging) { downloads in
                    for _ in 0..<(isHTTP1Known ? 2 : 3) {
                        ends.append(try await Self.fetch(count, from: origin.baseURL, settings, over: downloads))
                    }
                }
            }
        }
        #expect(ends.first == Array(repeating: "connection-closed", count: count), "\(ends)")
        // The last ones may begin when the first one has failed.
        #expect(isHTTP1Known || ends[1].contains("tls"), "\(ends)")
        #expect(ends.last == Array(repeating: "image", count: count), "\(ends)")
    }

    @Test("a server that speaks HTTP/2 alone gets it again once it has refused HTTP/1")
    func fallForward() async throws {
        try await RawOrigin.runSecure { request in
            request.connection == 1 ? [.close] : Self.good(request)
        } _: { origin, trust in
            let urls = (1...3).map { "\(origin.baseURL)/\($0)" }
            let fetches = try await HostileFetch.run(urls, change: trust)
            #expect(fetches.map(\.code) == ["connection-closed", "tls", "image"], "\(fetches)")
        }
    }

    @Test(
        "the message about a certificate says what is wrong with it, and what to do",
        arguments: [
            (0, "is for another host: "), (1, "is for another host: "), (62, "is for another host: "),
            (9, "is not valid yet: correct the clock"), (10, "has expired: renew it"), (18, "is not trusted: "),
            (19, "is not trusted: "), (20, "is not trusted: "), (21, "is not trusted: "),
            (23, "is not accepted (X.509 error 23)"),
        ])
    func certificate(result: Int, text: String) {
        let failure = CurlFailure.untrusted(result)
        #expect(failure.code == .fetch(.tls) && failure.message.hasPrefix("the server's certificate \(text)"))
    }

    @Test("a certificate for another host is told from one of an unknown authority")
    func certificates() async throws {
        try await RawOrigin.runSecure(host: "127.0.0.2", Self.good) { origin, trust in
            for (isTrusted, text) in [(true, "is for another host"), (false, "is not trusted")] {
                let fetches = try await HostileFetch.run([origin.baseURL], allow: ["127.0.0.2"]) {
                    if isTrusted { trust(&$0) }
                }
                guard case .failed(let failure)? = fetches.first?.outcome else {
                    Issue.record("\(fetches)")
                    return
                }
                #expect(failure.message.hasPrefix("the server's certificate \(text)"), "\(failure)")
            }
        }
    }

    @Test("a server that wants HTTP/1 for a request gets it at once")
    func required() async throws {
        try await RawOrigin.runSecure(protocols: ["h2", "http/1.1"]) { request in
            switch (request.target, request.stream) {
            case ("*", _): [.send(Frame.settings())]
            case (_, 0): [.send(Array(Self.text.utf8) + Self.icon)]
            default: [.send(Frame.reset(request.stream, 13))]
            }
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL], change: trust)
            #expect(fetches.map(\.code) == ["image"] && fetches.first?.isMultiplexed == false)
        }
    }

    @Test("an untrusted server, or one at a refused address, gets no request over HTTP/2")
    func trust() async throws {
        try await RawOrigin.runSecure(Self.good) { origin, trust in
            #expect(try await HostileFetch.run([origin.baseURL]).first?.code == "tls")
            try await withTransport(trust, change: { $0.network.allow = [] }) { transport in
                let failure = await #expect(throws: FetchFailure.self) {
                    try await transport.answer(from: origin.baseURL)
                }
                #expect(failure?.code == .fetch(.addressRefused))
            }
            #expect(origin.connections.total == 1 && origin.requests.count(of: "/") == 0)
        }
    }

    // MARK: Streams and connections that come to nothing

    @Test("requests beyond the streams that a server allows wait for their turn")
    func fewStreams() async throws {
        let pause = Mutex(Duration.zero)
        try await RawOrigin.runSecure { request in
            guard request.target != "*" else { return [.send(Frame.settings([3: 1]))] }
            return [.sendSlowly(MisbehavingStream.head(request.stream), pause: pause.withLock(\.self))]
                + [.send(Frame.data(request.stream, Self.icon))]
        } _: { origin, trust in
            // A request that waits for nothing takes a tenth of the limit.
            let start = ContinuousClock.now
            try await withTransport(trust) { try await ask(origin, 1, over: $0) }
            let limit = max(.milliseconds(200), (ContinuousClock.now - start) * 10)
            let before = origin.connections.total
            // A head has ten bytes or more: a request that waits for one of the others waits longer than the limit.
            pause.withLock { $0 = limit / 10 }
            try await withTransport(trust, change: { $0.fetch.connectTimeout = limit }) { transport in
                try await ask(origin, 5, over: transport)
                // libcurl opens more connections for them, as many as a host may have.
                #expect(origin.connections.total - before <= 4)
            }
        }
    }

    @Test(
        "a server that takes no request at all ends with a timeout, or when it goes away",
        arguments: [([], "timeout"), ([.close], "connection-closed")] as [([RawOrigin.Step], String)])
    func noStreams(end: [RawOrigin.Step], code: String) async throws {
        try await RawOrigin.runSecure { _ in
            [.send(Frame.settings([3: 0]))] + end
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL]) {
                trust(&$0)
                guard code == "timeout" else { return }
                $0.fetch.connectTimeout = .milliseconds(300)
                $0.fetch.totalTimeout = .milliseconds(600)
            }
            #expect(fetches.first?.code == code)
        }
    }

    @Test(
        "an HTTP/2 request that the server did not process is sent again at once",
        arguments: [
            ("refused", 2), ("farewell", 2), ("farewell at once", 2), ("stale", 2), ("stale, and broken", 2),
        ])
    func unprocessed(how: String, connections: Int) async throws {
        try await RawOrigin.runSecure { request in
            switch (request.target, how) {
            case ("*", "farewell at once") where request.connection == 1:
                return [.send(Frame.settings() + Frame.goAway(last: 0))]
            case ("/2", _) where request.number > 1 || request.connection > 1: return Self.good(request)
            case ("/2", "refused"): return [.send(Frame.reset(request.stream, 7))]
            case ("/2", "farewell"): return [.send(Frame.goAway(last: request.stream - 2))]
            case ("/2", "stale"): return [.close]
            case ("/2", "stale, and broken"): return [.reset]
            default: return Self.good(request)
            }
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL + "/1", origin.baseURL + "/2"], change: trust)
            // libcurl does not tell a new connection that goes away at once from one that breaks.
            let first = how == "farewell at once" ? "connection-closed" : "image"
            #expect(fetches.map(\.code) == [first, "image"], "\(fetches)")
            #expect(origin.connections.total == connections)
        }
    }

    @Test("a connection that the server wants to end is ended, although it leaves that to the client")
    func farewell() async throws {
        try await RawOrigin.runSecure { request in
            Self.good(request) + (request.target == "*" ? [] : [.send(Frame.goAway(last: request.stream))])
        } _: { origin, trust in
            try await withTransport(trust) { transport in
                try await ask(origin, 1, over: transport)
                try await origin.closedConnections.reach(1)
            }
        }
    }

    @Test("a connection that has fallen silent is not used for the next request")
    func silence() async throws {
        try await RawOrigin.runSecure { request in
            request.target == "/silent" ? [] : Self.good(request)
        } _: { origin, trust in
            let urls = ["/1", "/silent", "/2"].map { origin.baseURL + $0 }
            let fetches = try await HostileFetch.run(urls, idleTimeouts: [1: .milliseconds(300)], change: trust)
            #expect(fetches.map(\.code) == ["image", "timeout", "image"])
            #expect(origin.connections.total == 2)
        }
    }
}
