// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Logging
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

/// A loop that runs, with effects that a script says.
struct ScriptedLoop: Sendable {
    let loop: AgentLoop
    let effects: ScriptedEffects
    /// The run of the loop: cancelling it is what a signal does to an agent.
    let run: Task<StatusReport, Never>

    /// Runs the body with a loop, which is cancelled at the end and waited for.
    ///
    /// - Parameters:
    ///   - script: What comes of the effects.
    ///   - once: Whether the loop ends when nothing is left to do now.
    ///   - batch: How many images are written ahead at once.
    ///   - logger: Where the loop logs.
    ///   - change: Changes the settings of the plan.
    ///   - body: Gets the loop, and the calls of its effects.
    /// - Throws: What the body throws.
    static func with(
        _ script: ScriptedEffects.Script = .init(), once: Bool = false, batch: Int = 1, logger: Logger = .silent,
        settings change: (inout Settings) -> Void = { _ in },
        _ body: (ScriptedLoop, inout AsyncStream<ScriptedEffects.Call>.Iterator) async throws -> Void
    ) async throws {
        var settings = Settings()
        change(&settings)
        let clock = AgentClock()
        let loop = AgentLoop(clock: clock, logger: logger, batch: batch) { ScriptedEffects(script, post: $0) }
        let effects = try #require(loop.effects as? ScriptedEffects)
        let plan = Handover(Reconciler(settings: settings, seed: 1, triesOnce: once, now: clock.now))
        let run = Task { await loop.run(plan, untilSettled: once) }
        var calls = effects.calls.makeAsyncIterator()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(ScriptedLoop(loop: loop, effects: effects, run: run), &calls))
        } catch {
            result = .failure(error)
        }
        run.cancel()
        _ = await run.value
        try result.get()
    }

    /// Posts a scan of the lists folder that found these lists, each with these icons.
    func drop(_ lists: [ListName: [IconURL]]) {
        effects.post([.scanned(.of(lists))])
    }

    /// The first status that is as wanted.
    func status(where isWanted: @Sendable (StatusReport) -> Bool) async throws -> StatusReport {
        for await _ in loop.changes {
            guard let status = await loop.status() else { break }
            if isWanted(status) { return status }
        }
        throw CancellationError()
    }
}

extension ListScan {
    /// A scan that found these lists, all of them new, and nothing else; all images must have the digest, if there is
    /// one.
    static func of(_ lists: [ListName: [IconURL]], expecting digest: Digest? = nil) -> ListScan {
        let folder = ListedFolder(
            path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))
        let readings = lists.mapValues { urls in
            let text = urls.map(\.text).joined(separator: "\n")
            return ListReading(
                source: AppListDocument.Source(sha256: .of(text), bytes: text.utf8.count, modified: Sample.time),
                verdict: .success(AppList(entries: urls.map { AppEntry(icon: $0, expected: digest) })))
        }
        return .listed(folder, present: Set(lists.keys), changed: readings)
    }
}
