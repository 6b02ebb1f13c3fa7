// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Dispatch
import Glibc
import LocalHTTP
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The control server", .timeLimit(.minutes(5)))
struct ControlServerTests {
    /// Sends a request that the client would not.
    private static func ask(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8]? = nil, at socket: FilePath
    ) async throws -> (status: UInt, type: String?, text: String) {
        try await LocalConnection.open(to: .socket(socket.string)) { connection in
            let head = try await connection.ask(method, path, body: body)
            let bytes = try await connection.rest(upTo: 1 << 20)
            return (
                head.status.code, head.headers.first(name: "content-type"), String(decoding: bytes, as: UTF8.self)
            )
        }
    }

    @Test("status is a JSON document of this process")
    func status() async throws {
        try await ControlWorld.with { world in
            let report = try #require(try await world.client.status())
            #expect(report.pid == Int(getpid()) && report.state == .running && report.reachable)
            let answer = try await Self.ask(.GET, "/v1/status", at: world.socket)
            #expect(answer.status == 200 && answer.type == "application/json")
            #expect(answer.text.hasPrefix("{ \"format\": 1, \"state\": \"running\"") || answer.text.hasPrefix("{\n"))
            #expect(answer.text.hasSuffix("\n"))
        }
    }

    @Test("pause and resume show in the status that they return")
    func pause() async throws {
        try await ControlWorld.with { world in
            let paused = try await world.client.pause()
            #expect(paused?.state == .paused)
            #expect(try await world.client.status()?.state == .paused)
            #expect(try await world.client.resume()?.state == .running)
        }
    }

    @Test("sync returns the status; waiting for a list that is not there ends, and names it")
    func sync() async throws {
        try await ControlWorld.with { world in
            #expect(try await world.client.sync() != nil)
            let all = try #require(try await world.client.sync(waitingFor: []) { _ in })
            #expect(all.isDone && all.missing.isEmpty)
            let one = try #require(try await world.client.sync(waitingFor: ["none.plist"]) { _ in })
            #expect(one.isDone && one.missing == ["none.plist"] && !one.isWhole)
        }
    }

    @Test("an unknown URL has no report, and an eviction of nothing is settled")
    func questions() async throws {
        try await ControlWorld.with { world in
            let report = try await world.client.report(on: "https://h.example/a.png")
            #expect(report == .some(nil))
            let eviction = try #require(try await world.client.evictionReport())
            #expect(eviction.icons.isEmpty && eviction.leases.isEmpty)
            let one = try #require(try await world.client.evictionReport(on: "https://h.example/a.png"))
            #expect(one.icons.isEmpty)
            let evicted = try #require(try await world.client.evict(isConfirmed: true))
            #expect(evicted.icons.isEmpty && evicted.isSettled)
            #expect(try await world.client.repair([.of("x")]) != nil)
        }
    }

    @Test("a pin is published, and unpinning takes it back")
    func pins() async throws {
        try await ControlWorld.with { world in
            // A download that is paused is not waited for.
            _ = try await world.client.pause()
            let url: IconURL = "https://h.example/a.png"
            let pinned = try #require(try await world.client.pin(url, true))
            #expect(pinned.pins == [url] && pinned.isPublished)
            #expect(try await world.client.report(on: url)??.lists == ["pins"])
            #expect(try await world.client.pin(url, false)?.pins == [])
        }
    }

    @Test("a mute shows in the status and in all that is muted, and unmuting takes it back")
    func mutes() async throws {
        try await ControlWorld.with { world in
            let url: IconURL = "https://h.example/a.png"
            let muted = try #require(try await world.client.mute(.icon(url), true, for: "30d"))
            #expect(muted.mutes.map(\.url) == [url] && muted.mutes[0].until != nil && muted.error == nil)
            let both = try #require(try await world.client.mute(.list("a.plist"), true))
            #expect(both.mutes == [MuteReport.Mute(.list("a.plist"), until: nil)] + muted.mutes)
            #expect(try await world.client.mutes() == both)
            #expect(try await world.client.status()?.muted == 2)
            #expect(try await world.client.mute(.icon(url), false)?.mutes.map(\.list) == ["a.plist"])
        }
    }

    @Test("each malformed request is refused with its status and a reason, and the next one is answered")
    func refusals() async throws {
        let rows: [(method: HTTPMethod, route: String, body: String?, status: UInt, reason: String)] = [
            (.POST, "repair", "", 400, "names no images"), (.POST, "repair", "{}", 400, "names no images"),
            (.POST, "repair", "[1]", 400, "not a JSON object"),
            (.POST, "repair", "{\"images\":[1]}", 400, "not a JSON object"),
            (.POST, "repair", "{\"images\":[\"0\"]}", 400, "not a SHA-256 digest"),
            (.POST, "sync/stream", "apps.plist", 400, "not a JSON object"),
            (.POST, "sync", "{\"list\":[\"apps.plist\"]}", 400, "unknown member “list”"),
            (.POST, "pause", "{\"x\":1}", 400, "unknown member “x”: use “for”, “reason”."),
            (.POST, "pause", "[]", 400, "not a JSON object with the members “for”, “reason” in their types."),
            (.POST, "pin", "", 400, "names no URL"), (.POST, "pin", "{\"url\":\"\"}", 400, "cannot be pinned"),
            (.POST, "pin", "{\"url\":\"ftp://h.example/\"}", 400, "cannot be pinned"),
            (.POST, "mute", "", 400, "either a URL or a list"),
            (.POST, "mute", "{\"url\":\"a\",\"list\":\"a.plist\"}", 400, "either a URL or a list"),
            (.POST, "mute", "{\"url\":\"a\",\"for\":\"soon\"}", 400, "is not a time"),
            (.POST, "unmute", "{\"url\":\"a\",\"for\":\"1h\"}", 400, "unknown member “for”"),
            (.POST, "why", "{\"url\":\"https://h.example/a.png\"}", 404, "\"code\": \"no-such-icon\""),
            (.GET, "why?url=https%3A%2F%2Fh.example%2Fa.png", nil, 404, "\"code\": \"no-such-icon\""),
            (.GET, "why", nil, 400, "names no URL"), (.GET, "why?url=%zz", nil, 400, "not percent-encoded"),
            (.GET, "why?url=%FF", nil, 400, "not percent-encoded UTF-8"),
            (.GET, "why?url=a&url=b", nil, 400, "twice"), (.GET, "status?a", nil, 400, "unknown parameter “a”"),
            (.POST, "purge?dryRun=true", "", 400, "unknown parameter “dryRun”"),
            (.POST, "pause?a=b", nil, 400, "unknown parameter “a”"),
            (.POST, "why?url=a", "{\"url\":\"https://h.example/a.png\"}", 400, "unknown parameter “url”"),
            (.POST, "status", "", 405, "use GET, HEAD"), (.GET, "pause", nil, 405, "use POST"),
            (.DELETE, "lists/a.plist", nil, 405, "use GET, HEAD"),
            (.GET, "none", nil, 404, "\"code\": \"no-such-path\""),
            (.GET, "lists/none.plist", nil, 404, "\"code\": \"no-such-list\""),
        ]
        try await ControlWorld.with { world in
            for row in rows {
                let body = row.body.map { Array($0.utf8) }
                let answer = try await Self.ask(row.method, "/v1/\(row.route)", body, at: world.socket)
                #expect(answer.status == row.status, "\(row)")
                expectContains(answer.text, row.reason)
                #expect(try await world.client.status() != nil, "\(row)")
            }
        }
    }

    @Test("a body that is too long is refused, and the next request is answered")
    func longBodies() async throws {
        let rows = [
            ("pin", 100_000, "longer than 65536 bytes"), ("why", 1_000_000, "\"code\": \"too-large\""),
            ("repair", 17 << 20, "longer than"),
        ]
        try await ControlWorld.with { world in
            for (route, length, reason) in rows {
                let body = Array("{\"url\":\"\(String(repeating: "a", count: length))\"}".utf8)
                let answer = try await Self.ask(.POST, "/v1/\(route)", body, at: world.socket)
                #expect(answer.status == 413, "\(route)")
                expectContains(answer.text, reason)
                #expect(try await world.client.status() != nil, "\(route)")
            }
        }
    }

    @Test(
        "a body that is declared too long is refused before it comes",
        .enabled(if: Tool.areInstalled("curl"), "takes curl"))
    func declaredBodies() async throws {
        try await ControlWorld.with { world in
            let answer = try await Program.run([
                "curl", "--silent", "--max-time", "120", "--unix-socket", "\(world.socket)", "--write-out",
                "%{http_code}",
                "--output", "/dev/null", "--header", "Content-Length: 17825792", "--data-binary", "x",
                "http://localhost/v1/repair",
            ])
            #expect(answer.output == "413", "\(answer)")
            #expect(try await world.client.status() != nil)
        }
    }

    @Test("a URL that is not UTF-8 is refused by each route")
    func encoding() async throws {
        try await ControlWorld.with { world in
            for route in ["pin", "why", "eviction"] {
                let body = Array("{\"url\":\"h".utf8) + [0xFF] + Array("\"}".utf8)
                let answer = try await Self.ask(.POST, "/v1/\(route)", body, at: world.socket)
                #expect(answer.status == 400 && answer.type == "application/json", "\(route): \(answer)")
            }
        }
    }

    @Test("HEAD gives the status of GET, without the body")
    func head() async throws {
        try await ControlWorld.with { world in
            for (path, status) in [("status", 200), ("status/stream", 200), ("none", 404), ("pause", 405)]
                as [(String, UInt)]
            {
                let answer = try await Self.ask(.HEAD, "/v1/\(path)", at: world.socket)
                #expect(answer.status == status && answer.text.isEmpty, "\(path): \(answer)")
            }
        }
    }

    @Test("health, lists, pins and settings are JSON documents")
    func documents() async throws {
        try await ControlWorld.with { world in
            for route in ["health", "lists", "pins", "settings"] {
                let answer = try await Self.ask(.GET, "/v1/\(route)", at: world.socket)
                #expect(answer.status == 200 && answer.type == "application/json", "\(route)")
                #expect(answer.text.hasPrefix("{ \"format\": 1, "), "\(route): \(answer)")
            }
        }
    }

    /// Runs the body with the socket of a server whose loop may take so long to answer a request for its health.
    private static func withHealth(
        within limit: Duration, _ body: @escaping @Sendable (ControlWorld, FilePath) async throws -> Void
    ) async throws {
        try await ControlWorld.with { world in
            var api = world.api
            api.healthLimit = limit
            let server = try ControlServer(
                at: world.folder.appending("other.sock"), clients: 8, logger: .silent, api: api,
                access: SocketAccess(owner: geteuid(), isOpenToAll: true))
            try await world.whileServing(server) { try await body(world, server.path) }
        }
    }

    @Test("a control socket that is removed is bound again, with its folder")
    func removed() async throws {
        try await ControlWorld.with { world in
            let path = world.folder.appending("run").appending("control.sock")
            var server = try world.server(at: path)
            server.lookInterval = .zero
            try await world.whileServing(server) {
                for script in ["rm '\(path)'", "rm -r '\(path.removingLastComponent())'"] {
                    #expect(try await Program.run("sh", "-c", script).code == 0)
                    #expect(ControlClient(socket: path).obstacle != nil)
                    world.loop.post(.tick)
                    try await waitUntil { ControlClient(socket: path).isAnswered }
                }
            }
        }
    }

    @Test("many clients get the health at once")
    func manyAskForHealth() async throws {
        try await Self.withHealth(within: .seconds(240)) { _, socket in
            let unhealthy = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var count = 0
                        for _ in 0..<10 where try await Self.ask(.GET, "/v1/health", at: socket).status != 200 {
                            count += 1
                        }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(unhealthy == 0)
        }
    }

    @Test("health answers 503 while the loop hangs, and 200 before and after")
    func hanging() async throws {
        try await Self.withHealth(within: .milliseconds(200)) { world, socket in
            @Sendable func health() async throws -> (status: UInt, type: String?, text: String) {
                try await Self.ask(.GET, "/v1/health", at: socket)
            }
            // A busy machine may be late at first.
            try await waitUntil { try await health().status == 200 }
            let gate = DispatchSemaphore(value: 0)
            defer { gate.signal() }
            let hold = Task { await world.loop.ask { _ in gate.wait() } }
            try await waitUntil { try await health().status == 503 }
            expectContains(try await health().text, "\"code\": \"not-responding\"")
            gate.signal()
            _ = await hold.value
            try await waitUntil { try await health().status == 200 }
        }
    }

    @Test("a status stream has the status at once, and again when it has changed")
    func stream() async throws {
        try await ControlWorld.with { world in
            var states: [StatusReport.State] = []
            let last = try await world.client.status { report in
                states.append(report.state)
                if report.state == .paused { return true }
                _ = try await world.client.pause()
                return false
            }
            #expect(last?.state == .paused && states.first == .running)
        }
    }

    @Test("clients that go away in the middle of a stream leave their seats to others")
    func goneClient() async throws {
        try await ControlWorld.with { world in
            for _ in 0..<20 { _ = try await world.client.status { _ in true } }
            #expect(try await world.client.status() != nil)
        }
    }

    @Test(
        "the control socket has the mode of its access, and is removed when the server ends",
        arguments: [(true, 0o666), (false, 0o600)] as [(Bool, mode_t)])
    func file(isOpenToAll: Bool, mode: mode_t) async throws {
        try await withTemporaryFolder { folder in
            let world = try ControlWorld(in: folder)
            try await world.whileLooping {
                try await world.whileServing(try world.server(isOpenToAll: isOpenToAll)) {
                    var entry = stat()
                    // The mode is set right after the socket answers.
                    repeat { try #require(lstat(world.socket.string, &entry) == 0) } while entry.st_mode & 0o777 != mode
                    #expect(entry.st_mode & 0o777 == mode)
                }
                #expect(access(world.socket.string, F_OK) != 0)
                #expect(try await world.client.status() == nil)
            }
        }
    }

    @Test("a server whose loop has ended answers 503, and clients take the agent for gone")
    func endedLoop() async throws {
        try await withTemporaryFolder { folder in
            let world = try ControlWorld(in: folder)
            try await world.whileLooping {}
            try await world.whileServing(try world.server()) {
                let answer = try await Self.ask(.GET, "/v1/status", at: world.socket)
                #expect(answer.status == 503)
                #expect(try await world.client.status() == nil)
                #expect(try await world.client.status { _ in false } == nil)
            }
        }
    }

    @Test("a socket with a server is left alone, a dead one is replaced")
    func sharedPath() async throws {
        try await ControlWorld.with { world in
            #expect(throws: ControlServer.InUse.self) { try world.server() }
            let dead = world.folder.appending("dead.sock")
            try #require(mknod(dead.string, S_IFSOCK | 0o600, 0) == 0)
            try await world.whileServing(try world.server(at: dead)) {
                let report = try await ControlClient(socket: dead).status()
                #expect(report != nil)
            }
        }
    }

    @Test("a socket path that is another file, or too long, is refused")
    func path() async throws {
        try await withTemporaryFolder { folder in
            let world = try ControlWorld(in: folder)
            #expect(throws: FileError("listen on", folder.appending("cache").string, .fileExists)) {
                try world.server(at: folder.appending("cache"))
            }
            let long = folder.appending(String(repeating: "a", count: 108))
            #expect(throws: FileError("listen on", long.string, .fileNameTooLong)) { try world.server(at: long) }
        }
    }
}
