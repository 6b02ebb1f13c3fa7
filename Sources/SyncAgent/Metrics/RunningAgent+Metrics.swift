// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import SyncPlan

extension RunningAgent {
    /// All metrics at the moment, sorted by name; `nil` if the agent is about to end.
    func metrics() async -> [MetricReading]? {
        guard let status = await status(), let stale = await staleTime(),
            let reserve = await loop.ask(\.spaceReserve)
        else { return nil }
        // The file system of the cache may keep its caller waiting.
        let outside = await onOwnThread("metrics") { [space] in space.readings(reserve: reserve) + ProcessUsage.read() }
        let now = AgentClock.wallTime
        let age = stale.map { max(0, ($0.now - $0.since) / .seconds(1)) } ?? 0
        let readings =
            counts.read() + status.metrics + outside
            + [MetricReading(.oldestStaleIcon, age), MetricReading(.collected, now)]
        return readings.sorted { $0.family.name < $1.family.name }
    }

    /// All metrics at the moment, as Prometheus reads them; `nil` if the agent is about to end.
    package func metricsText() async -> String? {
        await metrics().map { MetricsText.write($0) }
    }
}

/// What the file system of the cache has.
package struct SpaceMetrics: Sendable {
    private let folder: CacheFolder?

    /// - Parameter folder: The cache; `nil` if nothing is to be told.
    package init(of folder: CacheFolder? = nil) {
        self.folder = folder
    }

    /// What there is, where so much of the file system is left free.
    func readings(reserve: SpaceReserve) -> [MetricReading] {
        guard let space = folder?.space?.bytes else { return [] }
        return [
            MetricReading(.diskFree, Double(space.free)), MetricReading(.diskSize, Double(space.total)),
            MetricReading(.diskReserve, Double(reserve.bytes(of: space.total))),
        ]
    }
}
