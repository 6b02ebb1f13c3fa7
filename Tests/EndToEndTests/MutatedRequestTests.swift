// SPDX-License-Identifier: Apache-2.0
import FuzzTargets
import Glibc
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Mutated control requests", .timeLimit(.minutes(15)))
struct MutatedRequestTests {
    @Test("a mutated request never ends the agent, silences it or takes an icon away", .timeLimit(.minutes(10)))
    func requests() async throws {
        let rounds = getenv("FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 300
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                var mutation = Mutation(of: Self.seeds, isText: true, seed: 2026)
                for round in 0..<rounds {
                    Self.send(mutation.next(), to: world.agent.folder.appending("control.sock"))
                    guard round.isMultiple(of: 50) else { continue }
                    try await world.agent.status { $0.pid != nil }
                }
                #expect(try await world.agent.call("resume").code == 0)
                try await world.published(["Mail", "Maps"])
            }
            try world.expectWholeCache()
        }
    }

    /// What is changed: all requests that there are.
    private static let seeds: [[UInt8]] = [
        request("GET", "status"), request("GET", "status/stream"), request("GET", "health"), request("GET", "lists"),
        request("GET", "lists/apps.plist"), request("GET", "pins"), request("GET", "settings"), request("POST", "sync"),
        request("POST", "sync/stream", "{\"lists\":[\"apps.plist\",\"other.plist\"]}"),
        request("GET", "why?url=http%3A%2F%2F127.0.0.1%3A1%2Fa.png"), request("POST", "why", url),
        request("POST", "pause"), request("POST", "resume"), request("POST", "eviction", url),
        request("GET", "eviction"), request("POST", "evict", "{\"confirm\":true}"),
        request("POST", "repair", "{\"images\":[\"\(String(repeating: "0a", count: 32))\"]}"),
        request("POST", "pin", url), request("POST", "unpin", url),
        request("POST", "pin", "{\"url\":\"data:image/gif;base64,AAAA\"}"),
        Array(
            """
            POST /v1/why HTTP/1.1\r\nHost: agent\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"url":\r\nb\r\n"//127.0.0"\r\n1\r\n}\r\n0\r\n\r\n
            """.utf8),
    ]

    private static let url = "{\"url\":\"http://127.0.0.1:1/a.png\"}"

    private static func request(_ method: String, _ path: String, _ body: String = "") -> [UInt8] {
        Array(
            "\(method) /v1/\(path) HTTP/1.1\r\nHost: agent\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    /// Writes a request, waits for the beginning of an answer for a moment, and is gone.
    private static func send(_ bytes: [UInt8], to socket: FilePath) {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.string.utf8) }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else { return }
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&answer, 1, 20)
    }
}
