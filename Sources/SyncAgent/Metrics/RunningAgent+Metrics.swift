// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import SyncPlan

extension RunningAgent {
    /// All current metrics, sorted by name; `nil` if the agent is about to end.
    func metrics() async -> [MetricReading]? {
        guard let status = await status() else { return nil }
        let now = now
        guard let failed = await ask({ $0.failedIcons(now: now) }), let reserve = await ask(\.spaceReserve),
            let isPublished = await ask(\.isPublished)
        else { return nil }
        // On a thread of its own, because the cache's file system may block.
        let outside = await onOwnThread("metrics") { [space] in
            MetricReading.space(space(), reserve: reserve) + ProcessUsage.read()
        }
        let icons = MetricReading.failedIcons(failed, now: now)
        let others: [MetricReading] = [.collected, .publicationPending(!isPublished)]
        let readings = counts.read() + status.metrics + outside + icons + others
        return readings.sorted { $0.family.name < $1.family.name }
    }

    /// All current metrics in the Prometheus text format; `nil` if the agent is about to end.
    package func metricsText() async -> String? {
        await metrics().map { MetricsText.write($0) }
    }
}

extension MetricReading {
    /// The space on the cache's file system, if it is known; `reserve` is what downloads must leave free.
    static func space(_ space: DiskSpace.Amount?, reserve: SpaceReserve) -> [MetricReading] {
        [
            .gauge(
                "syncagent_disk_free_bytes", "Free space on the file system of the cache.", space?.free,
                isVolatile: true),
            .gauge("syncagent_disk_size_bytes", "Size of the file system of the cache.", space?.total),
            .gauge(
                "syncagent_disk_reserve_bytes", "Free space that downloads leave (cache.minFree).",
                space.map { reserve.bytes(of: $0.total) }),
        ]
    }
}
