// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Changes that the loop stores", .timeLimit(.minutes(5)))
struct AgentLoopMemoryTests {
    private static let icon: IconURL = "https://a.example/1"

    /// Runs the body with a loop in which the icon's download has failed, once, which is to be remembered.
    private static func with(
        _ log: RecordedLog = RecordedLog(), storing store: @escaping @Sendable (MemoChanges) async -> StoreResult,
        _ body: (ScriptedLoop, inout AsyncStream<ScriptedEffects.Call>.Iterator) async throws -> Void
    ) async throws {
        var script = ScriptedEffects.Script()
        script.download = { _ in .failed(.timeout("60 s")) }
        script.store = store
        try await ScriptedLoop.with(
            script, logger: log.logger,
            settings: { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(3600), .seconds(3600)) }
        ) { agent, calls in
            agent.drop(["a.plist": [icon]])
            _ = try await agent.status { $0.icons.failed == 1 }
            try await body(agent, &calls)
        }
    }

    /// Has changes stored at once, and returns them.
    private static func store(
        _ agent: ScriptedLoop, _ calls: inout AsyncStream<ScriptedEffects.Call>.Iterator, pausing isPaused: Bool
    ) async throws -> MemoChanges {
        agent.loop.post(isPaused ? .pause(Pause()) : .resume(nil))
        return try await calls.nextStored { $0.values?.isPaused == isPaused }
    }

    @Test("a caller that stores changes returns when they are stored, or cannot be", arguments: [true, false])
    func stored(hasRoom: Bool) async throws {
        let stored = Mutex(false)
        try await Self.with { changes in
            if changes.values?.isPaused == true { stored.withLock { $0 = true } }
            return hasRoom ? .stored : .failed(reason: "no space left on device")
        } _: { agent, _ in
            await agent.loop.hand(.pause(Pause()))
            await agent.loop.store()
            let hasTried = stored.withLock(\.self)
            #expect(hasTried)
            let trouble = agent.loop.storageTrouble.withLock(\.self)
            #expect(trouble == (hasRoom ? nil : "no space left on device"))
            agent.run.cancel()
            _ = await agent.run.value
            // There is nothing to wait for any more.
            await agent.loop.store()
        }
    }

    @Test("changes that cannot be stored are kept, stored with later ones, and logged once")
    func fullDisk() async throws {
        let log = RecordedLog()
        // There is room from the second pause on.
        let pauses = Mutex((number: 0, isLast: false))
        try await Self.with(log) { changes in
            let number = pauses.withLock { pauses in
                let isPaused = changes.values?.isPaused ?? pauses.isLast
                if isPaused, !pauses.isLast { pauses.number += 1 }
                pauses.isLast = isPaused
                return pauses.number
            }
            return number < 2 ? .failed(reason: "no space left on device") : .stored
        } _: { agent, calls in
            for isPaused in [true, false] {
                let changes = try await Self.store(agent, &calls, pausing: isPaused)
                #expect(changes.remembered.map(\.url) == [Self.icon])
            }
            try await waitUntil { agent.loop.storageTrouble.withLock { $0 == "no space left on device" } }
            let stored = try await Self.store(agent, &calls, pausing: true)
            #expect(stored.remembered.map(\.url) == [Self.icon])
            let later = try await Self.store(agent, &calls, pausing: false)
            #expect(later.remembered.isEmpty)
            let messages = log.messages.filter { $0.contains("state") }
            #expect(messages.count == 2, "\(messages)")
        }
    }

    @Test("everything is stored again when the state database is lost")
    func lostMemory() async throws {
        let isDamaged = Atomic(true)
        try await Self.with { changes in
            let isPause = changes.values?.isPaused == true
            return isPause && isDamaged.exchange(false, ordering: .relaxed) ? .storedInNewDatabase(.damaged) : .stored
        } _: { agent, calls in
            let isWhole = { (changes: MemoChanges) in changes.remembered.map(\.url) == [Self.icon] }
            _ = try await calls.nextStored(where: isWhole)
            #expect(try await Self.store(agent, &calls, pausing: true).remembered.isEmpty)
            _ = try await calls.nextStored(where: isWhole)
        }
    }
}
