// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Stopping the agent", .serialized, .timeLimit(.minutes(20)))
struct StopTests {
    /// What the agent would wait for in these tests takes longer, or has no end.
    private static let limit: Duration = .seconds(60)

    /// Runs an agent, brings it into a state, ends it, and expects that it ends in time.
    ///
    /// - Parameters:
    ///   - state: What the state is called.
    ///   - world: The world of the agent.
    ///   - signals: What it gets, at once.
    ///   - body: Returns when the agent is in the state.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    @discardableResult
    private func end<R: Sendable>(
        _ state: String, _ world: World, by signals: [Int32] = [SIGTERM],
        _ body: @escaping @Sendable (ProcessIdentifier) async throws -> R
    ) async throws -> R {
        let begun = Mutex(ContinuousClock.now)
        // The launcher expects that it ends with 0, and sends one signal itself.
        let result = try await world.agent.whileRunning { agent in
            let result = try await body(agent)
            begun.withLock { $0 = .now }
            for signal in signals.dropLast() { try #require(kill(agent.value, signal) == 0) }
            return result
        }
        let time = ContinuousClock.now - begun.withLock(\.self)
        print("SIGTERM while \(state): \(time / .milliseconds(1)) ms")
        #expect(time < Self.limit, "while \(state)")
        return result
    }

    @Test("SIGTERM ends an idle agent, and status says until the end that it runs, and then that it does not")
    func idle() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            for _ in 0..<3 {
                let asking = try await end("idle", world) { _ in
                    try await world.published(["Mail"])
                    let isAsked = Gate()
                    let asking = Task {
                        var codes: [Int32] = []
                        while codes.last != 3 {
                            codes.append(try await world.agent.call("status").code)
                            isAsked.open()
                        }
                        return codes
                    }
                    try await isAsked.wait()
                    return asking
                }
                let codes = try await asking.value
                #expect(codes.dropLast().allSatisfy { $0 == 0 }, "\(codes)")
            }
        }
    }

    @Test("SIGTERM ends an agent whose servers hang and whose clients do not read; more signals change nothing")
    func hangingPeers() async throws {
        let never = Gate()
        try await RawOrigin.run { _ in
            [.wait(never)]
        } _: { origin in
            try await World.with { world in
                let world = world.setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "5m")
                    .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "5m")
                for number in 0..<50 {
                    let url = "\(origin.baseURL)/\(number).png"
                    try world.agent.drop(propertyList([("App \(number)", url)]), as: "\(number).plist")
                }
                let clients = Mutex<[FileDescriptor]>([])
                defer { for client in clients.withLock(\.self) { try? client.close() } }
                for signals in [[SIGTERM], [SIGINT, SIGTERM, SIGTERM]] {
                    try await end("downloads hang and 64 clients stream", world, by: signals) { _ in
                        try await world.agent.status { $0.lists.count == 50 && $0.downloads.active > 0 }
                        let streams = try (0..<64).map { _ in
                            let client = try Self.connect(to: world.folder.appending("control.sock"))
                            clients.withLock { $0.append(client) }
                            try client.writeAll("GET /v1/status/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                            return client
                        }
                        // Each of them has the beginning of an answer.
                        for client in streams {
                            var buffer = [UInt8](repeating: 0, count: 16)
                            _ = try buffer.withUnsafeMutableBytes { try client.read(into: $0) }
                        }
                    }
                }
            }
        }
    }

    @Test("SIGTERM ends an agent whose parser hangs")
    func slowParser() async throws {
        try await World.with { world in
            let slow = try await world.parsing(by: "exec sleep 600")
            try world.drop(["Mail"])
            try await end("a list is parsed", slow) { agent in
                try await waitUntil { try ProcessTree.child(of: agent.value, named: "sleep") != nil }
            }
        }
    }

    @Test(
        "SIGTERM ends an agent whose disk hangs, without the publication; more signals change nothing",
        .enabled(if: Tool.areInstalled("strace"), "a disk that hangs takes strace"))
    func slowDisk() async throws {
        try await World.with { world in
            let log = world.folder.appending("log")
            var logging = try world.after("exec 2>>'\(log)'")
            logging.agent.runOptions += ["--log-level", "warning"]
            for signals in 1...2 {
                try await logging.agent.whileRunning { [logging] agent in
                    try await logging.agent.status { $0.inSync }
                    let flushes = try await SlowFlushes(of: agent, by: .seconds(300), in: world.folder)
                    defer { flushes.end() }
                    try world.drop(["Icon \(signals)"])
                    try await flushes.waitForFirst()
                    for _ in 0..<signals { try #require(kill(agent.value, SIGTERM) == 0) }
                    // One of its threads stays in the call, as it would in a disk, until strace ends.
                    try await waitUntil { try ProcessStatus(of: agent.value)["State"]?.hasPrefix("Z") ?? false }
                }
                let lines = String(decoding: try FileBytes.read(log), as: UTF8.self).split(separator: "\n")
                #expect(lines.count { $0.contains("stopped without waiting for running work") } == signals)
            }
        }
    }

    @Test("SIGTERM ends an agent that reads all its images again, and whose log nobody reads")
    func blockedLog() async throws {
        try await World.with { world in
            let pipe = world.folder.appending("pipe")
            try #require(mkfifo(pipe.string, 0o600) == 0)
            var world = try world.after("exec 2<>'\(pipe)'")
            world.agent.runOptions += ["--log-level", "trace"]
            let names = (0..<1_000).map { "icon-\($0)" }
            try world.drop(names)
            let client = try await end("images are read again, and the log is blocked", world) { [world] _ in
                try await world.published(names)
                let images = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist")).apps
                    .compactMap { if case .ready(let image) = $0.state { image.sha256 } else { nil } }
                let digests = Set(images).map { "\"\($0.hex)\"" }.joined(separator: ",")
                let body = "{\"images\":[\(digests)]}"
                let head = "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                let client = try Self.connect(to: world.folder.appending("control.sock"))
                try client.writeAll((head + body).utf8)
                // Another client is answered: the request has been read.
                try await world.agent.status { _ in true }
                return client
            }
            try client.close()
        }
    }

    @Test("SIGTERM ends an agent that reads 4,000 new lists")
    func manyLists() async throws {
        try await World.with { world in
            for number in 0..<4_000 {
                try write(
                    propertyList([("App", world.origin.iconURL("icon-\(number % 20)"))]),
                    to: world.agent.lists.appending("\(number).plist"))
            }
            try await end("4,000 lists are read", world) { _ in
                try await world.agent.status { $0.lists.count > 10 }
            }
        }
    }

    /// Opens a connection to a Unix socket.
    private static func connect(to path: FilePath) throws -> FileDescriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.string.utf8)) }
        let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: raw)
    }
}
