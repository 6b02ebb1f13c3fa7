// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import SyncPlan

struct SystemEffects: AgentEffects {
    let downloads: Downloads
    let staging: Staging
    let publisher: Publisher
    let evictor: Evictor
    let inspector: CacheInspector
    let database: StateStore
    let scanLists: @Sendable () async -> Void
    var renderer: Renderer?
    var adopted: AdoptedLists?
    var metrics = AgentMetrics()

    func begin(_ requests: [FetchRequest]) { downloads.begin(requests) }
    func cancel(_ url: IconURL) { downloads.cancel(url) }
    func shutDownDownloads() async { await downloads.shutdown() }

    func configure(_ settings: Settings, _ proxies: ProxyPolicy) {
        downloads.configure(settings, proxies)
        staging.space.setReserve(settings.cache.minFree)
        adopted?.configure(settings)
    }

    func writeAhead(_ images: [ImageAhead]) async { await publisher.writeAhead(images) }
    func rescan() async { await scanLists() }

    func perform(_ job: Reconciler.Job) async -> Reconciler.Event {
        switch job {
        case .publish(let publication):
            let start = ContinuousClock.now
            let result = await publisher.publish(publication)
            metrics.recordPublication(result, in: .now - start)
            return .published(result)
        case .release(let generations): return .released(await evictor.release(generations))
        case .remove(let plan): return .removed(failed: await evictor.remove(plan))
        case .measureSpace(let trial): return .space(await staging.measure(trial: trial))
        case .inspect(let expected): return .inspected(await inspector.inspect(expected))
        case .render(let order): return .rendered(await renderer?.render(order) ?? RenderReport())
        case .nameRenditions(let naming): return .renditionsNamed(trouble: await publisher.setNames(naming))
        case .poll(let poll):
            let poller = UpstreamPoller(downloads: downloads, adopted: adopted, scanLists: scanLists)
            return .polled(await poller.poll(poll))
        }
    }

    func discard(_ names: [String]) async { await publisher.discard(names) }
    func discardPartials(of urls: Set<IconURL>) async { await staging.discardPartials(of: urls) }

    /// It must not throw: the caller would resume on the thread of the database (Swift 6.3, optimized).
    func store(_ changes: MemoChanges) async -> StoreResult {
        do {
            return try await database.apply(changes).map(StoreResult.storedInNewDatabase) ?? .stored
        } catch {
            return .failed(reason: "\(error)")
        }
    }

    func leases(on generations: [Int]) async -> [EvictionReport.Lease] { await evictor.leases(on: generations) }
}
