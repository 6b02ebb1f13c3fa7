// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Hummingbird
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The agent's listeners", .timeLimit(.minutes(5)))
struct WebListenersTests {
    private static func listeners(_ world: WebWorld, _ settings: Settings) -> WebListeners {
        WebListeners(
            settings: settings, cache: world.cache, clients: 8, logger: .silent, agent: world.agent, anonymous: .read
        ) {
            _, _, _ in
            Response(status: .ok)
        }
    }

    @Test("listeners listen at the addresses of the settings, and the status has the actual ones")
    func addresses() async throws {
        try await WebWorld.with { world in
            var settings = Settings()
            settings.dashboard.listen = .anyLoopbackPort
            settings.serve.listen = ListenAddress("[::1]:0")
            settings.metrics.listen = .anyLoopbackPort
            let serving = Task { await Self.listeners(world, settings).run() }
            try await waitUntil { await world.agent.status()?.listeners.count == 3 }
            let listeners = try #require(await world.agent.status()?.listeners)
            #expect(
                listeners.map(\.name) == ["dashboard", "images", "metrics"] && listeners.allSatisfy { $0.error == nil })
            let port = try #require(listeners.first.flatMap { ListenAddress($0.address)?.port })
            #expect(try await WebWorld.ask(port, "/").status == 200)
            #expect(listeners[1].address.hasPrefix("[::1]:") && !listeners[1].address.hasSuffix(":0"))
            serving.cancel()
            await serving.value
        }
    }

    @Test(
        "images at a loopback address are for names of this machine only: a page may have its own name stand for it",
        arguments: [("127.0.0.1:0", "421"), ("0.0.0.0:0", "404")])
    func rebound(address: String, status: String) async throws {
        try await WebWorld.with { world in
            let tasks = Tasks()
            var settings = Settings()
            settings.serve.listen = ListenAddress(address)
            let listeners = Self.listeners(world, settings)
            tasks.add(Task { await listeners.run() })
            try await waitUntil { await world.agent.status()?.listeners.first != nil }
            let shown = try #require(await world.agent.status()?.listeners.first?.address)
            let port = try #require(ListenAddress(shown)?.port)
            for (host, expected) in [("evil.example:\(port)", status), ("localhost:\(port)", "404")] {
                let request = " /icons?url=a HTTP/1.1\r\nhost: \(host)\r\nconnection: close\r\n\r\n"
                let answer = try await RawClient("GET" + request, to: port).answer()
                #expect(answer.hasPrefix("HTTP/1.1 \(expected) "), "\(host): \(answer)")
                #expect(answer.contains("wrong-host") == (expected == "421"))
                let head = try await RawClient("HEAD" + request, to: port).answer()
                #expect(head.hasPrefix("HTTP/1.1 \(expected) ") && head.hasSuffix("\r\n\r\n"), "\(host): \(head)")
            }
            await tasks.end()
        }
    }

    @Test("an address in use is a problem in the status, and is used once it is free")
    func taken() async throws {
        try await WebWorld.with { world in
            let tasks = Tasks()
            try await world.servingImages { port in
                var settings = Settings()
                settings.serve.listen = ListenAddress.anyLoopbackPort.with(port: port)
                let listeners = Self.listeners(world, settings)
                tasks.add(Task { await listeners.run() })
                try await waitUntil { await world.agent.status()?.listeners.first?.error != nil }
                let status = try #require(await world.agent.status())
                let error = try #require(status.listeners.first?.error)
                #expect(error.hasPrefix("Cannot listen at 127.0.0.1:\(port): Address already in use."))
                #expect(status.needsAttention)
            }
            try await waitUntil { await world.agent.status()?.listeners.first?.error == nil }
            await tasks.end()
        }
    }

    @Test(
        "an address that cannot be listened at is an error that says what to do",
        arguments: [
            (Errno.addressInUse, "choose another port"), (.permissionDenied, "Choose a higher port"),
            (.addressNotAvailable, "Choose one of its own addresses"), (.ioError, "Choose another address"),
        ])
    func messages(errno: Errno, remedy: String) {
        let error = HTTPServer.Unavailable(address: .tcp(.anyLoopbackPort), errno: errno)
        #expect("\(error)".hasPrefix("Cannot listen at 127.0.0.1:0: ") && "\(error)".contains(remedy))
    }
}
