// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import Reports
import SyncPlan
import Synchronization
import TestSupport

@testable import SyncAgent

/// Effects that touch nothing: each call is recorded, and ends as a script says.
final class ScriptedEffects: AgentEffects {
    enum Call: Equatable, Sendable {
        case begin([IconURL])
        case cancel(IconURL)
        case configure
        case shutDownDownloads
        case writeAhead([String])
        case rescan
        case publish(generation: Int, images: Int)
        case release, remove, measureSpace, inspect
        case discard([String])
        case discardPartials
        case store(MemoChanges)
    }

    /// What comes of calls; by default nothing fails, and a download goes on until it is cancelled.
    struct Script: Sendable {
        /// How a download ends as soon as it is begun; `nil` if it goes on.
        var download: @Sendable (FetchRequest) -> FetchOutcome? = { _ in nil }
        /// Runs before a publication ends.
        var whilePublishing: @Sendable (Publication) async -> Void = { _ in }
        /// Runs before the downloads have ended.
        var whileShuttingDown: @Sendable () async -> Void = {}
        var store: @Sendable (MemoChanges) async -> StoreResult = { _ in .stored }
        var leases: [EvictionReport.Lease] = []
    }

    /// The calls as they are made, for one test to wait for.
    let calls: AsyncStream<Call>
    private let continuation: AsyncStream<Call>.Continuation
    private let recorded = Mutex<[Call]>([])
    private let active = Mutex<Set<IconURL>>([])
    private let script: Script
    /// Posts events to the loop, all at once.
    let post: @Sendable ([Reconciler.Event]) -> Void

    init(_ script: Script, post: @escaping @Sendable ([Reconciler.Event]) -> Void) {
        self.script = script
        self.post = post
        (calls, continuation) = AsyncStream.makeStream()
    }

    /// All calls so far.
    var allCalls: [Call] { recorded.withLock(\.self) }

    private func record(_ call: Call) {
        recorded.withLock { $0.append(call) }
        continuation.yield(call)
    }

    func configure(_ settings: Settings, _ proxies: ProxyPolicy) { record(.configure) }

    // MARK: Downloads

    func begin(_ requests: [FetchRequest]) {
        active.withLock { $0.formUnion(requests.map(\.url)) }
        record(.begin(requests.map(\.url)))
        let ends = requests.compactMap { request in script.download(request).map { (request.url, $0) } }
        if !ends.isEmpty { end(ends) }
    }

    func cancel(_ url: IconURL) {
        record(.cancel(url))
        end([(url, .cancelled)])
    }

    func shutDownDownloads() async {
        record(.shutDownDownloads)
        await script.whileShuttingDown()
        end(active.withLock(\.self).map { ($0, .cancelled) })
    }

    /// Ends downloads that are under way, all at once.
    func end(_ ends: [(url: IconURL, outcome: FetchOutcome)]) {
        let ended = active.withLock { active in ends.filter { active.remove($0.url) != nil } }
        post(ended.map { .fetched(EndedDownload(url: $0.url, $0.outcome)) })
    }

    /// Ends downloads with an image each, all at once.
    func finish(_ urls: IconURL...) {
        end(urls.map { ($0, .image(of: $0)) })
    }

    // MARK: Files

    func writeAhead(_ images: [ImageAhead]) async { record(.writeAhead(images.map(\.staged.name))) }

    func rescan() async { record(.rescan) }

    func perform(_ job: Reconciler.Job) async -> Reconciler.Event {
        switch job {
        case .publish(let publication):
            record(.publish(generation: publication.generation, images: publication.moves.count))
            await script.whilePublishing(publication)
            var manifest = Sample.manifest(publication.generation, publication.documents)
            manifest.lists.merge(publication.kept) { new, _ in new }
            return .published(.published(manifest, written: WrittenBytes()))
        case .release(let releases):
            record(.release)
            return .released(ReleaseResult(kept: releases.map(\.generation)))
        case .remove:
            record(.remove)
            return .removed()
        case .measureSpace:
            record(.measureSpace)
            return .space(.success(DiskSpace(folder: "/cache", bytes: .init(free: .max, total: .max))))
        case .render: return .rendered(RenderReport())
        case .nameRenditions: return .renditionsNamed(trouble: nil)
        case .inspect:
            record(.inspect)
            return .inspected(CacheInspection())
        case .poll(let poll):
            return .polled(UpstreamAnswer(url: poll.url, .unchanged()))
        }
    }

    func discard(_ names: [String]) async { record(.discard(names)) }

    func discardPartials(of urls: Set<IconURL>) async { record(.discardPartials) }

    func store(_ changes: MemoChanges) async -> StoreResult {
        record(.store(changes))
        return await script.store(changes)
    }

    func leases(on generations: [Int]) async -> [EvictionReport.Lease] {
        script.leases.filter { generations.contains($0.generation) }
    }
}

extension FetchOutcome {
    /// An image that no other URL has.
    static func image(of url: IconURL) -> FetchOutcome {
        let now = AgentClock.wallTime
        let response = StoredResponse(
            fields: HTTPFields([("Cache-Control", "max-age=86400")]), requestTime: now, responseTime: now)
        return .image(StagedImage(name: url.text, image: Sample.image(url.text)), response)
    }
}

extension AsyncStream<ScriptedEffects.Call>.Iterator {
    /// Waits for a call, and passes over those before it.
    @discardableResult
    mutating func next(where isWanted: (ScriptedEffects.Call) -> Bool) async throws -> ScriptedEffects.Call {
        while let call = await next() {
            if isWanted(call) { return call }
        }
        throw CancellationError()
    }

    mutating func next(_ wanted: ScriptedEffects.Call) async throws {
        try await next { $0 == wanted }
    }

    /// Waits for changes to be stored, and passes over all calls before.
    mutating func nextStored(where isWanted: (MemoChanges) -> Bool) async throws -> MemoChanges {
        while let call = await next() {
            if case .store(let changes) = call, isWanted(changes) { return changes }
        }
        throw CancellationError()
    }
}
