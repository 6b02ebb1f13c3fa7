// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import SyncPlan
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent

@Suite("How the loop ends", .timeLimit(.minutes(1)))
struct AgentLoopEndTests {
    private static let (a, b): (IconURL, IconURL) = ("https://a.example/1", "https://b.example/1")

    @Test("a loop that runs once ends by itself when all that can be done now is published")
    func once() async throws {
        var script = ScriptedEffects.Script()
        script.download = { $0.url == Self.a ? .image(of: $0.url) : .failed(.timeout("60 s")) }
        try await ScriptedLoop.with(script, once: true) { agent, calls in
            agent.drop(["a.plist": [Self.a, Self.b]])
            let report = await agent.run.value
            #expect(report.generation != nil && report.icons.ready == 1 && report.icons.failed == 1)
            #expect(agent.effects.allCalls.contains(.shutDownDownloads))
        }
    }

    @Test("a loop that is cancelled cancels its downloads, publishes what was downloaded, and ends")
    func cancellation() async throws {
        try await ScriptedLoop.with { agent, calls in
            agent.drop(["a.plist": [Self.a], "b.plist": [Self.b]])
            try await calls.next(where: \.isBegin)
            agent.effects.finish(Self.a)
            _ = try await agent.status { $0.downloads.active == 1 }
            agent.run.cancel()
            try await calls.next(.cancel(Self.b))
            let report = await agent.run.value
            #expect(report.generation != nil && report.icons.ready == 1 && report.icons.pending == 1)
            #expect(report.downloads.active == 0)
            let made = agent.effects.allCalls
            let published = made.lastIndex(where: \.isPublish)
            #expect(try #require(published) < #require(made.firstIndex(of: .shutDownDownloads)))
        }
    }

    @Test("what waits to be stored when the loop is to end is stored before it ends, one thing after the other")
    func background() async throws {
        let gate = Gate()
        let running = Mutex((now: 0, most: 0))
        var script = ScriptedEffects.Script()
        script.store = { _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            try? await gate.wait()
            running.withLock { $0.now -= 1 }
            return .stored
        }
        try await ScriptedLoop.with(script) { agent, calls in
            defer { gate.open() }
            agent.loop.post(.paused(true))
            _ = try await calls.nextStored { _ in true }
            agent.loop.post(.paused(false))
            agent.run.cancel()
            try await calls.next(.shutDownDownloads)
            #expect(agent.effects.stored.map(\.values?.isPaused) == [true])
            gate.open()
            _ = await agent.run.value
            #expect(agent.effects.stored.prefix(2).map(\.values?.isPaused) == [true, false])
            #expect(running.withLock(\.most) == 1)
        }
    }
}

@Suite("What the loop remembers", .timeLimit(.minutes(1)))
struct AgentLoopMemoryTests {
    private static let icon: IconURL = "https://a.example/1"

    /// A script in which the icon's download fails, which is to be remembered.
    private static func script(
        storing store: @escaping @Sendable (MemoChanges) async -> StoreResult
    ) -> ScriptedEffects.Script {
        var script = ScriptedEffects.Script()
        script.download = { _ in .failed(.timeout("60 s")) }
        script.store = store
        return script
    }

    /// Has changes stored at once, and returns them.
    private static func store(
        _ agent: ScriptedLoop, _ calls: inout AsyncStream<ScriptedEffects.Call>.Iterator, pausing isPaused: Bool
    ) async throws -> MemoChanges {
        agent.loop.post(.paused(isPaused))
        return try await calls.nextStored { $0.values?.isPaused == isPaused }
    }

    @Test("what cannot be stored is kept, and stored with what comes later; that is logged once")
    func fullDisk() async throws {
        let isFull = Atomic(true)
        let log = RecordedLog()
        let script = Self.script { _ in
            isFull.load(ordering: .relaxed) ? .failed(reason: "no space left on device") : .stored
        }
        try await ScriptedLoop.with(script, logger: log.logger) { agent, calls in
            agent.drop(["a.plist": [Self.icon]])
            _ = try await agent.status { $0.icons.failed == 1 }
            for isPaused in [true, false] {
                let changes = try await Self.store(agent, &calls, pausing: isPaused)
                #expect(changes.remembered.map(\.url) == [Self.icon])
            }
            isFull.store(false, ordering: .relaxed)
            let stored = try await Self.store(agent, &calls, pausing: true)
            #expect(stored.remembered.map(\.url) == [Self.icon])
            let later = try await Self.store(agent, &calls, pausing: false)
            #expect(later.remembered.isEmpty)
            let messages = log.messages.filter { $0.contains("state") }
            #expect(messages.count == 2, "\(messages)")
        }
    }

    @Test("when what was stored is lost, everything is stored again")
    func lostMemory() async throws {
        let isDamaged = Atomic(false)
        let script = Self.script { _ in
            isDamaged.exchange(false, ordering: .relaxed) ? .storedInNewDatabase : .stored
        }
        try await ScriptedLoop.with(script) { agent, calls in
            agent.drop(["a.plist": [Self.icon]])
            _ = try await calls.nextStored { $0.remembered.map(\.url) == [Self.icon] }
            isDamaged.store(true, ordering: .relaxed)
            #expect(try await Self.store(agent, &calls, pausing: true).remembered.isEmpty)
            #expect(try await calls.nextStored { _ in true }.remembered.map(\.url) == [Self.icon])
        }
    }
}

extension ScriptedEffects {
    /// Everything that was stored, in order.
    fileprivate var stored: [MemoChanges] {
        allCalls.compactMap { if case .store(let changes) = $0 { changes } else { nil } }
    }
}
