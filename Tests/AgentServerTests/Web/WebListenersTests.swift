// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import FoundationEssentials
import HTTPRules
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
    private static func listeners(_ world: WebWorld, _ settings: Settings, cache: FilePath? = nil) -> WebListeners {
        WebListeners(
            settings: settings, cache: cache ?? world.cache, clients: 8, logger: .silent, agent: world.agent,
            anonymous: .read
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

    /// Tells the agent of a credential, whose icons may be in the cache.
    private static func configure(_ world: WebWorld, isPublic: Bool) {
        var settings = Settings()
        settings.cache.mode = .group
        settings.credentials = Credentials([
            Credential(host: "h.example", lists: ["a.plist"], isPublic: isPublic, proof: .bearer(Secret("t")))
        ])
        world.control.loop.post(.configured(settings, needRestart: []))
    }

    @Test("images are not served while the cache may have private ones, and the status says why, until it has none")
    func privacy() async throws {
        try await WebWorld.with { world in
            func error() async -> String? { await world.agent.status()?.listeners.first?.error }
            let tasks = Tasks()
            var settings = Settings()
            settings.serve.listen = .anyLoopbackPort
            Self.configure(world, isPublic: false)
            // The agent would put back what is missing in its own folder.
            let cache = world.control.folder.appending("other")
            try makeFolder(cache)
            let listeners = Self.listeners(world, settings, cache: cache)
            tasks.add(Task { await listeners.run() })
            try await waitUntil { await error()?.contains("purge the cache, or unset serve.listen") == true }
            Self.configure(world, isPublic: true)
            try await waitUntil {
                let listener = await world.agent.status()?.listeners.first
                return listener?.error == nil && listener?.address.hasSuffix(":0") == false
            }
            let address = try #require(await world.agent.status()?.listeners.first?.address)
            let port = try #require(ListenAddress(address)?.port)
            #expect(try await WebWorld.ask(port, "/icons?url=a").status == 404)
            Self.configure(world, isPublic: false)
            try await waitUntil { await error() != nil }
            #expect(try await WebWorld.ask(port, "/icons?url=a").status == 403)
            Self.configure(world, isPublic: true)
            try await waitUntil { await error() == nil }
            #expect(await world.agent.status()?.listeners.first?.address == address)

            // A cache that comes to the path is private from the first request on.
            let manifest = cache.appending("manifest.json")
            for (isPrivate, status) in [(true, 403), (false, 404), (true, 403)] as [(Bool, UInt)] {
                let list = Manifest.List(
                    sha256: .of("x"), apps: 0, ready: 0, pending: 0, failed: 0, isPrivate: isPrivate)
                var names: [ListName] = []
                let text = Manifest(generation: 9, published: Timestamp(sinceEpoch: .zero), lists: ["a.plist": list])
                    .text(inOrder: &names)
                try write(text, to: cache.appending("new"))
                try cache.appending("new").move(to: manifest)
                #expect(try await WebWorld.ask(port, "/icons?url=a").status == status)
            }
            // One that does not say it is not served either; one without generations has no icons.
            try write("{", to: manifest)
            #expect(try await WebWorld.ask(port, "/icons?url=a").status == 503)
            try FileManager.default.removeItem(atPath: manifest.string)
            try makeFolder(cache.appending(CacheLayout.generations))
            try write("{", to: cache.appending(CacheLayout.generation(1)))
            #expect(try await WebWorld.ask(port, "/icons?url=a").status == 503)
            try FileManager.default.removeItem(atPath: cache.appending(CacheLayout.generations).string)
            #expect(try await WebWorld.ask(port, "/icons?url=a").status == 404)
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
