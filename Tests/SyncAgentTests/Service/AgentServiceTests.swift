// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Dispatch
import Logging
import SyncPlan
import Synchronization
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
    /// Closed, the scan of the lists folder hangs with what it found.
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
                    cache, publisher: Publisher(cache, staged: StagedImages(), thread: FileThread("none")),
                    logger: .silent)
                let world = ServiceWorld(
                    loop: loop, lists: lists,
                    publisher: Publisher(cache, staged: StagedImages(), thread: FileThread("tests")),
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

    /// How many statuses reported that a part does not respond.
    func reports(of part: String) -> Int {
        listener.statuses.count { $0.hasPrefix("not responding: ") && $0.contains(part) }
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
        default: lists.requestScan(isThorough: true)
        }
        try await body()
    }
}

extension Publisher {
    /// Blocks the thread of the publisher until the gate is open.
    fileprivate func pass(_ gate: ServiceWorld.Gate) { gate.pass() }
}

@Suite("Notices of the agent to its service manager", .timeLimit(.minutes(5)))
struct AgentServiceTests {
    @Test(
        "the agent is ready when the first scan has ended and clients can connect, in either order",
        arguments: [true, false])
    func ready(scansFirst: Bool) async throws {
        try await ServiceWorld.with(isClosed: true) { world in
            if scansFirst {
                world.gate.open()
                await world.lists.firstScan.wait()
            } else {
                world.agent.recordListening()
            }
            // One of them alone does not make it ready. To become that takes a question to the loop, not a hundred.
            for _ in 0..<100 { _ = await world.loop.ask { _ in true } }
            #expect(world.listener.states == [])
            if scansFirst { world.agent.recordListening() } else { world.gate.open() }
            try await waitUntil { world.listener.states == ["READY"] }
        }
    }

    @Test("the watchdog is fed while nothing happens")
    func idle() async throws {
        // On a busy machine, an idle part may be late for a short interval.
        try await withGrowingTime(from: .milliseconds(60)) { watchdog in
            let messages = Mutex<[String]>([])
            try await ServiceWorld.with(watchdog: watchdog) { world in
                try await waitUntil { world.listener.beats >= 10 }
                messages.withLock { $0 = world.log.messages }
            }
            return messages.withLock(\.isEmpty)
        }
    }

    @Test("the watchdog is not fed without WATCHDOG_USEC")
    func noWatchdog() async throws {
        try await ServiceWorld.with { world in
            world.agent.recordListening()
            try await waitUntil { world.listener.states == ["READY"] }
            #expect(world.listener.beats == 0)
        }
    }

    @Test(
        "the watchdog is not fed while a part does not respond, and fed again once it does",
        arguments: ["loop", "publisher", "watcher"])
    func held(part: String) async throws {
        try await ServiceWorld.with(watchdog: .milliseconds(200)) { world in
            await world.lists.firstScan.wait()
            try await waitUntil { world.listener.beats >= 1 }
            // On a busy machine, parts may have been late before.
            let reports = world.reports(of: part)
            try await world.hold(part) {
                try await waitUntil { world.reports(of: part) > reports }
                #expect(world.log.messages.contains("parts of the agent do not respond: the watchdog is not fed"))
                let beats = world.listener.beats
                // Meanwhile an agent whose parts respond is fed.
                try await ServiceWorld.with(watchdog: .milliseconds(200)) { other in
                    try await waitUntil { other.listener.beats >= 5 }
                }
                #expect(world.listener.beats == beats)
            }
            let beats = world.listener.beats
            try await waitUntil { world.listener.beats > beats + 3 }
            try await waitUntil { world.log.messages.last == "all parts of the agent respond again" }
        }
    }
}

@Suite("The socket of a service manager")
struct NotifySocketTests {
    @Test(
        "NOTIFY_SOCKET may be an absolute path or an abstract name",
        arguments: ["/run/systemd/notify", "@/org/systemd"])
    func names(name: String) {
        #expect(NotifySocket(name) != nil)
    }

    @Test(
        "NOTIFY_SOCKET may be nothing else",
        arguments: ["", "/", "@", "notify", "vsock:2:1234", "/" + String(repeating: "x", count: 200), "/a\0b"])
    func others(name: String) {
        #expect(NotifySocket(name) == nil)
    }

    @Test("a message to a service manager that does not listen is an error")
    func noListener() throws {
        let socket = try #require(NotifySocket("/nonexistent/notify"))
        #expect(throws: Errno.noSuchFileOrDirectory) { try socket.send("READY=1") }
    }
}
