// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
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

/// How long the agent takes to end, whatever it is doing.
@Suite("SIGTERM", .serialized)
struct StopTests {
    private static let limit: Duration = .seconds(isSanitized ? 20 : 2)

    /// Runs an agent, brings it into a state, ends it, and expects that it ends in time.
    ///
    /// - Parameters:
    ///   - state: What the state is called.
    ///   - world: The world of the agent.
    ///   - signals: What it gets, at once.
    ///   - body: Returns when the agent is in the state.
    /// - Throws: What the body throws.
    private func end(
        _ state: String, _ world: World, by signals: [Int32] = [SIGTERM],
        _ body: @escaping @Sendable (ProcessIdentifier) async throws -> Void
    ) async throws {
        let begun = Mutex(ContinuousClock.now)
        // The launcher expects that it ends with 0, and sends one signal itself.
        try await world.agent.whileRunning { agent in
            try await body(agent)
            begun.withLock { $0 = .now }
            for signal in signals.dropLast() { try #require(kill(agent.value, signal) == 0) }
        }
        let time = ContinuousClock.now - begun.withLock(\.self)
        print("SIGTERM while \(state): \(time / .milliseconds(1)) ms")
        #expect(time < Self.limit, "while \(state)")
    }

    @Test("ends an agent that has nothing to do at once")
    func idle() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await end("idle", world) { _ in try await world.published(["Mail"]) }
        }
    }

    @Test("ends one that downloads from servers that hang, and more signals make it no worse", arguments: [1, 3])
    func hangingServer(signals: Int) async throws {
        let never = Gate()
        try await RawOrigin.run { _ in
            [.wait(never)]
        } _: { origin in
            try await World.with { world in
                let urls = (0..<20).map { ("App \($0)", "\(origin.baseURL)/\($0).png") }
                try world.agent.drop(propertyList(urls), as: "apps.plist")
                try await end(
                    "downloads hang, \(signals) signals", world,
                    by: Array([SIGINT, SIGTERM, SIGTERM].suffix(signals))
                ) { _ in
                    try await world.agent.status { $0.downloads.active > 0 }
                }
            }
        }
    }

    @Test("ends one whose parser hangs")
    func slowParser() async throws {
        try await World.with { world in
            // The helpers are those beside the program.
            let programs = world.folder.appending("bin")
            try makeFolder(programs)
            for name in ["syncagent", "syncagent-watch"] {
                try await Tool.run("cp", BuiltProducts.path(name).string, programs.appending(name).string)
            }
            let script = try makeScript("exec sleep 60", in: programs)
            try script.move(to: programs.appending("syncagent-parse"))
            var slow = world
            slow.agent = AgentProcess(program: programs.appending("syncagent"), folder: world.folder)
            try world.drop(["Mail"])
            try await end("a list is parsed", slow) { agent in
                try await waitUntil { try ProcessTree.child(of: agent.value, named: "sleep") != nil }
            }
        }
    }

    @Test(
        "ends one that publishes on a disk that hangs",
        .enabled(if: Tool.areInstalled("strace"), "a disk that hangs takes strace"), arguments: [1, 2])
    func slowDisk(signals: Int) async throws {
        try await World.with { world in
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.inSync }
                let flushes = try await SlowFlushes(of: agent, by: .seconds(30), in: world.folder)
                defer { flushes.end() }
                try world.drop(["Mail"])
                try await flushes.waitForFirst()
                let start = ContinuousClock.now
                for _ in 0..<signals { try #require(kill(agent.value, SIGTERM) == 0) }
                // One of its threads stays in the call, as it would in a disk, until strace ends.
                try await waitUntil { try ProcessStatus(of: agent.value)["State"]?.hasPrefix("Z") ?? false }
                let time = ContinuousClock.now - start
                print("SIGTERM while a flush hangs, \(signals) signals: \(time / .milliseconds(1)) ms")
                #expect(time < Self.limit)
            }
        }
    }

    @Test("ends one with 64 clients that stream its status and read nothing")
    func clients() async throws {
        try await World.with { world in
            for number in 0..<50 { try world.drop(["icon-\(number)"], as: "\(number).plist") }
            let clients = Mutex<[FileDescriptor]>([])
            defer { for client in clients.withLock(\.self) { try? client.close() } }
            try await end("64 clients stream", world) { _ in
                try await world.agent.status { $0.inSync }
                for _ in 0..<64 {
                    let client = try Self.connect(to: world.folder.appending("control.sock"))
                    clients.withLock { $0.append(client) }
                    try client.writeAll("GET /v1/status/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                }
                // Each of them has the beginning of an answer.
                for client in clients.withLock(\.self) {
                    var buffer = [UInt8](repeating: 0, count: 16)
                    _ = try buffer.withUnsafeMutableBytes { try client.read(into: $0) }
                }
            }
        }
    }

    @Test("ends one that reads all its images again")
    func scrub() async throws {
        try await World.with { world in
            let names = (0..<2_000).map { "icon-\($0)" }
            try world.drop(names)
            try await end("images are read again", world) { _ in
                try await world.published(names)
                let images = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist")).apps
                    .compactMap { if case .ready(let image) = $0.state { image.sha256 } else { nil } }
                let body = "[" + Set(images).map { "\"\($0.hex)\"" }.joined(separator: ",") + "]"
                let client = try Self.connect(to: world.folder.appending("control.sock"))
                try client.closeAfter {
                    let head =
                        "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    _ = try client.writeAll((head + body).utf8)
                }
            }
        }
    }

    @Test("ends one that reads 20,000 new lists")
    func manyLists() async throws {
        try await World.with { world in
            for number in 0..<20_000 {
                try write(
                    propertyList([("App", world.origin.iconURL("icon-\(number % 20)"))]),
                    to: world.agent.lists.appending("\(number).plist"))
            }
            try await end("20,000 lists are read", world) { _ in
                try await world.agent.status { $0.lists.count > 10 }
            }
        }
    }

    @Test("ends one whose log nobody reads")
    func blockedLog() async throws {
        try await World.with { world in
            let pipe = world.folder.appending("pipe")
            try #require(mkfifo(pipe.string, 0o600) == 0)
            var world = try world.after("exec 2<>'\(pipe)'")
            world.agent.runOptions += ["--log-level", "trace"]
            let names = (0..<1_000).map { "icon-\($0)" }
            try world.drop(names)
            try await end("the log is blocked", world) { [world] _ in try await world.published(names) }
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
