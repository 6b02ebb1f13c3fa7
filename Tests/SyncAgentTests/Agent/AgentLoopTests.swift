// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Dispatch
import HTTPRules
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The agent's loop", .timeLimit(.minutes(5)))
struct AgentLoopTests {
    private static let (a, b): (IconURL, IconURL) = ("https://a.example/1", "https://b.example/1")

    // MARK: Events

    @Test("events are taken in one after the other, in the order in which they were posted")
    func order() async throws {
        try await ScriptedLoop.with { agent, calls in
            for _ in 0..<50 {
                agent.loop.post(.pause(Pause()))
                agent.loop.post(.resume(nil))
            }
            agent.loop.post(.pause(Pause()))
            #expect(await agent.loop.ask(\.status)?.state == .paused)
            agent.drop(["a.plist": [Self.a]])
            agent.loop.post(.resume(nil))
            try await calls.next(.begin([Self.a]))
            #expect(await agent.loop.ask(\.status)?.state == .running)
        }
    }

    @Test("events that are posted at once are decided on at once: what the last one forbids is not begun")
    func batch() async throws {
        try await ScriptedLoop.with { agent, _ in
            agent.effects.post([.scanned(.of(["a.plist": [Self.a]])), .pause(Pause())])
            #expect(await agent.loop.ask(\.status)?.downloads.blocked == 1)
            let begins = agent.effects.allCalls.filter(\.isBegin)
            #expect(begins.isEmpty)
        }
    }

    @Test("downloads that begin together are one call, also those that follow others that ended together")
    func requests() async throws {
        let urls = (1...6).map { IconURL("https://a.example/\($0)") }
        try await ScriptedLoop.with(settings: { $0.fetch.perHost = 3 }) { agent, calls in
            agent.drop(["a.plist": urls])
            var begun: [[IconURL]] = []
            while begun.flatMap(\.self).count < urls.count {
                guard case .begin(let batch) = try await calls.next(where: \.isBegin) else { break }
                begun.append(batch)
                agent.effects.end(batch.map { ($0, .image(of: $0)) })
            }
            #expect(begun.map(\.count) == [3, 3], "\(begun)")
            #expect(Set(begun.flatMap(\.self)) == Set(urls))
        }
    }

    @Test("a download that no list names any more is cancelled, and its end counts as no failure")
    func cancelledDownload() async throws {
        try await ScriptedLoop.with { agent, calls in
            agent.drop(["a.plist": [Self.a]])
            try await calls.next(.begin([Self.a]))
            agent.drop(["a.plist": [Self.b]])
            try await calls.next(.cancel(Self.a))
            try await calls.next(.begin([Self.b]))
            agent.effects.finish(Self.b)
            let status = try await agent.status { $0.inSync && $0.icons.ready == 1 }
            #expect(status.icons.referenced == 1 && status.icons.failed == 0)
            let now = agent.loop.now
            #expect(await agent.loop.ask { $0.report(on: Self.a, now: now) } == .some(nil))
        }
    }

    // MARK: Jobs

    @Test("the event that a job ends with goes back to the plan, and until then no second job of its kind begins")
    func jobs() async throws {
        let gate = Gate()
        var script = ScriptedEffects.Script()
        script.download = { .image(of: $0.url) }
        script.whilePublishing = { if $0.generation == 1 { try? await gate.wait() } }
        try await ScriptedLoop.with(script) { agent, calls in
            agent.drop(["a.plist": [Self.a]])
            defer { gate.open() }
            try await calls.next(.publish(generation: 1, images: 1))
            agent.drop(["a.plist": [Self.a, Self.b]])
            try await calls.next(.begin([Self.b]))
            try await calls.next(.writeAhead([Self.b.text]))
            let status = try #require(await agent.loop.status())
            #expect(status.generation == nil && !status.inSync)
            let publications = agent.effects.allCalls.filter(\.isPublish)
            #expect(publications.count == 1)
            gate.open()
            try await calls.next(.publish(generation: 2, images: 1))
            #expect(try await agent.status { $0.inSync }.generation == 2)
        }
    }

    @Test("images are written ahead in batches, and the rest of one is left to its publication")
    func ahead() async throws {
        let urls = (1...5).map { IconURL("https://a.example/\($0)") }
        let gate = Gate()
        var script = ScriptedEffects.Script()
        script.whilePublishing = { _ in try? await gate.wait() }
        try await ScriptedLoop.with(script, batch: 2, settings: { $0.fetch.perHost = 5 }) { agent, calls in
            defer { gate.open() }
            agent.drop(["a.plist": urls])
            try await calls.next(where: \.isBegin)
            agent.effects.end(urls.map { ($0, .image(of: $0)) })
            gate.open()
            _ = try await agent.status { $0.inSync }
            let batches = agent.effects.allCalls.compactMap { call in
                if case .writeAhead(let names) = call { names } else { nil }
            }
            #expect(batches.map(\.count) == [2, 2] && Set(batches.joined()).isSubset(of: urls.map(\.text)))
        }
    }

    @Test("an eviction report has the leases of superseded generations")
    func leases() async throws {
        var script = ScriptedEffects.Script()
        script.download = { .image(of: $0.url) }
        script.leases = [.init(generation: 1, pids: [7]), .init(generation: 9, pids: [8])]
        try await ScriptedLoop.with(script) { agent, _ in
            agent.drop(["a.plist": [Self.a]])
            _ = try await agent.status { $0.generation == 1 }
            agent.drop(["a.plist": [Self.b]])
            _ = try await agent.status { $0.generation == 2 }
            let report = try #require(await agent.loop.evictionReport())
            #expect(report.leases == [.init(generation: 1, pids: [7])])
            #expect(report.icons.map(\.url) == [Self.a])
        }
    }

    @Test("a missing list makes the loop request one new listing of the folder")
    func alarm() async throws {
        try await ScriptedLoop.with { agent, calls in
            agent.drop(["a.plist": [], "b.plist": []])
            _ = try await agent.status { $0.lists.count == 2 }
            agent.drop(["b.plist": []])
            try await calls.next(.rescan)
            agent.drop(["b.plist": []])
            _ = try await agent.status { $0.lists.map(\.name) == ["b.plist"] }
            let scans = agent.effects.allCalls.filter { $0 == .rescan }
            #expect(scans.count == 1)
        }
    }

    // MARK: Questions

    @Test("a question is answered after all that was posted before it")
    func question() async throws {
        try await ScriptedLoop.with { agent, _ in
            for isPaused in [true, false, true] {
                agent.loop.post(isPaused ? .pause(Pause()) : .resume(nil))
                #expect(await agent.loop.ask { $0.status.state == .paused } == isPaused)
            }
        }
    }

    @Test("a caller that posts an event may wait for its effects, up to a limit")
    func waiting() async throws {
        try await ScriptedLoop.with { agent, calls in
            agent.drop([:])
            async let pinned: Void = agent.loop.post(
                .pin(url: Self.a, isPinned: true), andWaitUntil: { $0.status.icons.ready == 1 }, atMost: .seconds(3600))
            try await calls.next(.begin([Self.a]))
            agent.effects.finish(Self.a)
            await pinned
            #expect(await agent.loop.status()?.icons.ready == 1)
            await agent.loop.post(.tick, andWaitUntil: { _ in false }, atMost: .zero)
        }
    }

    @Test("a loop that has ended answers no question, keeps nobody waiting, and ignores events")
    func afterTheEnd() async throws {
        try await ScriptedLoop.with { agent, _ in
            agent.run.cancel()
            _ = await agent.run.value
            let calls = agent.effects.allCalls
            agent.drop(["a.plist": [Self.a]])
            await agent.loop.post(.tick, andWaitUntil: { _ in false }, atMost: .seconds(3600))
            #expect(await agent.loop.status() == nil)
            #expect(await agent.loop.evictionReport() == nil)
            #expect(await agent.loop.ask { _ in true } == nil)
            for await _ in agent.loop.changes { Issue.record("nothing changes any more") }
            #expect(agent.effects.allCalls == calls)
        }
    }

    @Test("a question while the loop ends is answered with nil")
    func questionWhileEnding() async throws {
        let (isEnding, hasAsked) = (Gate(), Gate())
        var script = ScriptedEffects.Script()
        script.whileShuttingDown = {
            isEnding.open()
            try? await hasAsked.wait()
        }
        try await ScriptedLoop.with(script) { agent, _ in
            agent.run.cancel()
            try await isEnding.wait()
            defer { hasAsked.open() }
            async let answer = agent.loop.ask { _ in true }
            hasAsked.open()
            #expect(await answer == nil)
        }
    }

    @Test("the status is built once after a change, if somebody asks; else not before it is asked for")
    func status() async throws {
        try await ScriptedLoop.with { agent, _ in
            let status = try #require(await agent.loop.status())
            let latest = LatestStatus()
            var built = 0
            func build() -> StatusReport {
                built += 1
                return status
            }
            latest.recordChange(build: build)
            #expect(built == 0 && latest.current == nil)
            for _ in 1...3 { #expect(latest.get(build: build) == status) }
            #expect(built == 1 && latest.current == status)
            latest.recordChange(build: build)
            #expect(built == 2 && latest.current == status)
            latest.recordChange(build: build)
            latest.recordChange(build: build)
            #expect(built == 3 && latest.current == nil)
        }
    }

    @Test("a busy loop gives its last status; a caller that handed an event in sees its effect")
    func statusMeanwhile() async throws {
        let (isBusy, hasAsked) = (Gate(), DispatchSemaphore(value: 0))
        try await ScriptedLoop.with { agent, _ in
            #expect(await agent.loop.status()?.state == .running)
            await agent.loop.hand(.pause(Pause()))
            #expect(await agent.loop.status()?.state == .paused)
            async let answer = agent.loop.ask { _ in
                isBusy.open()
                hasAsked.wait()
            }
            try await isBusy.wait()
            async let change: Void = agent.loop.hand(.resume(nil))
            #expect(await agent.loop.status()?.state == .paused)
            hasAsked.signal()
            _ = await (answer, change)
            #expect(await agent.loop.status()?.state == .running)
        }
    }
}

extension ScriptedEffects.Call {
    var isBegin: Bool { if case .begin = self { true } else { false } }
    var isPublish: Bool { if case .publish = self { true } else { false } }
}
