// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The end of the agent's loop", .timeLimit(.minutes(5)))
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

    @Test("work that the loop owns is cancelled at its end, and waited for")
    func work() async throws {
        let states = Mutex<[String]>([])
        try await ScriptedLoop.with { agent, _ in
            let hasBegun = Milestone()
            agent.loop.start {
                hasBegun.reach()
                await Milestone().wait()
                states.withLock { $0.append("cancelled: \(Task.isCancelled)") }
            }
            await hasBegun.wait()
            agent.run.cancel()
            _ = await agent.run.value
            states.withLock { $0.append("ended") }
        }
        #expect(states.withLock(\.self) == ["cancelled: true", "ended"])
    }

    @Test("changes that wait to be stored when the loop ends are stored first, one after the other")
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
            agent.loop.post(.pause(Pause()))
            _ = try await calls.nextStored { _ in true }
            agent.loop.post(.resume(nil))
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

extension ScriptedEffects {
    /// Everything that was stored, in order.
    fileprivate var stored: [MemoChanges] {
        allCalls.compactMap { if case .store(let changes) = $0 { changes } else { nil } }
    }
}
