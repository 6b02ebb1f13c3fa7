// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Dispatch
import Logging
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

/// An agent's parts with a service manager that listens, and without the network.
private struct ServiceWorld: Sendable {
    let loop: AgentLoop
    let lists: ListService
    let publisher: Publisher
    let agent: RunningAgent
    let listener: NotifyListener
    /// Closed, the look at the lists folder hangs with what it found.
    let gate: Gate
    let log: RecordedLog

    /// What lets pass whoever comes, unless it is closed.
    final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 1)

        func close() { semaphore.wait() }
        func open() { semaphore.signal() }
        func pass() {
            semaphore.wait()
            semaphore.signal()
        }
    }

    /// Runs the body with all of it at work.
    ///
    /// - Parameters:
    ///   - watchdog: After which silence the service manager would restart the agent; by default it never does.
    ///   - isClosed: Whether the gate is closed at the start.
    ///   - body: Gets the parts, and the listener.
    /// - Throws: What the body throws.
    static func with(
        watchdog: Duration? = nil, isClosed: Bool = false,
        _ body: @escaping @Sendable (ServiceWorld) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let open: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
            for name in ["cache", "lists.d"] { try AgentFolders.make(folder.appending(name), mode: open) }
            let clock = AgentClock()
            let cache = try CacheFolder(folder.appending("cache"))
            let log = RecordedLog()
            let listener = try NotifyListener(at: folder.appending("notify").string)
            // Neither helper is there: the folder is polled, and has no list to parse.
            let lists = ListService(
                folder: folder.appending("lists.d"), watchProgram: folder.appending("none"),
                parseProgram: folder.appending("none"), settings: Settings().lists, clock: clock, logger: .silent)
            let variables = [
                "NOTIFY_SOCKET": listener.name,
                "WATCHDOG_USEC": watchdog.map { String(Int($0 / .microseconds(1))) },
            ]
            guard let manager = ServiceManager(environment: { variables[$0] ?? nil }, logger: log.logger) else {
                preconditionFailure("there is a socket")
            }
            try await ScriptedLoop.with { scripted, _ in
                let loop = scripted.loop
                let scrubber = Scrubber(
                    cache, publisher: Publisher(cache, held: HeldImages(), thread: FileThread("none")), logger: .silent)
                let world = ServiceWorld(
                    loop: loop, lists: lists,
                    publisher: Publisher(cache, held: HeldImages(), thread: FileThread("tests")),
                    agent: RunningAgent(
                        loop: loop, lists: lists, scrubber: scrubber, settings: LatestSettings(.none)),
                    listener: listener, gate: Gate(),
                    log: log)
                if isClosed { world.gate.close() }
                let service = AgentService(
                    manager: manager, agent: world.agent,
                    probes: PartProbes(loop: loop, lists: lists, publisher: world.publisher), logger: log.logger)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try? await lists.run {
                            world.gate.pass()
                            loop.post(.scanned($0))
                        }
                    }
                    group.addTask { await service.run() }
                    defer {
                        group.cancelAll()
                        scripted.run.cancel()
                    }
                    try await body(world)
                }
            }
        }
    }

    /// Withholds the progress of a part for as long as the body runs.
    ///
    /// - Throws: What the body throws.
    func hold(_ part: String, _ body: () async throws -> Void) async throws {
        // Only one thread at a time hangs: there may be two.
        let held = part == "watcher" ? gate : Gate()
        held.close()
        defer { held.open() }
        switch part {
        case "loop": Task { [loop] in _ = await loop.ask { _ in held.pass() } }
        case "publisher": Task { [publisher] in await publisher.pass(held) }
        default: lists.lookAgain()
        }
        try await body()
    }
}

extension Publisher {
    /// Blocks the thread of the publisher until the gate is open.
    fileprivate func pass(_ gate: ServiceWorld.Gate) { gate.pass() }
}

@Suite("The service of an agent", .timeLimit(.minutes(1)))
struct AgentServiceTests {
    @Test(
        "it is ready when the first look has ended and clients can connect, in either order", arguments: [true, false])
    func ready(looksFirst: Bool) async throws {
        try await ServiceWorld.with(isClosed: true) { world in
            if looksFirst {
                world.gate.open()
                await world.lists.firstLook.wait()
            } else {
                world.agent.recordListening()
            }
            // Both have a say: one of them alone does not make it ready.
            #expect(world.listener.states == [])
            if looksFirst { world.agent.recordListening() } else { world.gate.open() }
            try await waitUntil { world.listener.states == ["READY"] }
        }
    }

    @Test("the watchdog is fed while nothing happens")
    func idle() async throws {
        try await ServiceWorld.with(watchdog: .milliseconds(60)) { world in
            try await waitUntil { world.listener.beats >= 10 }
            #expect(world.log.messages == [])
        }
    }

    @Test("without WATCHDOG_USEC nobody is asked")
    func noWatchdog() async throws {
        try await ServiceWorld.with { world in
            world.agent.recordListening()
            try await waitUntil { world.listener.states == ["READY"] }
            #expect(world.listener.beats == 0)
        }
    }

    @Test(
        "the watchdog is not fed while a part does not respond, and again once it does",
        arguments: ["loop", "publisher", "watcher"])
    func held(part: String) async throws {
        try await ServiceWorld.with(watchdog: .milliseconds(60)) { world in
            await world.lists.firstLook.wait()
            try await waitUntil { world.listener.beats >= 3 }
            try await world.hold(part) {
                let message = "parts of the agent do not respond: the watchdog is not fed"
                try await waitUntil { world.log.messages.contains(message) }
                try await waitUntil { world.listener.statuses.last == "not responding: \(part)" }
                let beats = world.listener.beats
                // That nothing happens for so long is what is measured: ten intervals.
                try await Task.sleep(for: .milliseconds(300))
                #expect(world.listener.beats == beats)
            }
            let beats = world.listener.beats
            try await waitUntil { world.listener.beats > beats + 3 }
            #expect(world.log.messages.last == "all parts of the agent respond again")
        }
    }
}

@Suite("The socket of a service manager")
struct NotifySocketTests {
    @Test("an absolute path and an abstract name are its names", arguments: ["/run/systemd/notify", "@/org/systemd"])
    func names(name: String) {
        #expect(NotifySocket(name) != nil)
    }

    @Test(
        "nothing else is",
        arguments: ["", "/", "@", "notify", "vsock:2:1234", "/" + String(repeating: "x", count: 200), "/a\0b"])
    func others(name: String) {
        #expect(NotifySocket(name) == nil)
    }

    @Test("what cannot be sent is an error")
    func noListener() throws {
        let socket = try #require(NotifySocket("/nonexistent/notify"))
        #expect(throws: Errno.noSuchFileOrDirectory) { try socket.send("READY=1") }
    }
}
