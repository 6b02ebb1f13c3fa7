// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import Reports
import SyncPlan

extension StatusReport {
    var metrics: [MetricReading] {
        let states = Dictionary(grouping: lists, by: \.state.text).mapValues(\.count)
        var readings: [MetricReading] = [
            MetricReading(.up, 1),
            MetricReading(.buildInfo, [Version.current: 1]),
            MetricReading(.paused, state == .paused),
            MetricReading(.inSync, inSync),
            MetricReading(.configurationOK, configuration.error == nil),
            MetricReading(
                .lists, MetricFamily.lists.labels[0].values.map { ($0, Double(states[$0] ?? 0)) }),
            MetricReading(.icons, ["ready": icons.ready, "pending": icons.pending, "failed": icons.failed]),
            MetricReading(.staleIcons, Double(icons.stale)),
            MetricReading(.previousImages, Double(icons.previous ?? 0)),
            MetricReading(.retiredIcons, Double(icons.retired)),
            MetricReading(
                .queue,
                [
                    "active": downloads.active, "queued": downloads.queued, "waiting": downloads.waiting,
                    "blocked": downloads.blocked,
                ]),
            MetricReading(.shortage, downloads.reason != nil),
            MetricReading(.publicationFailing, publication.error != nil),
            MetricReading(.cacheBytes, Double(cache.bytes)),
            MetricReading(.cacheImages, Double(cache.images)),
            MetricReading(
                .eviction, MetricFamily.eviction.labels[0].values.map { ($0, $0 == eviction.state.text ? 1 : 0) }),
            MetricReading(.watchPolling, watch.mode == .polling),
            MetricReading(.watchOverflows, Double(watch.overflows)),
            MetricReading(.awaitingUpstream, Double(downloads.awaitingUpstream ?? 0)),
        ]
        readings += upstreamMetrics
        // No generation, no value: a time of 0 would look like a very old publication.
        if let generation { readings.append(MetricReading(.generation, Double(generation))) }
        if let time = published.flatMap({ Timestamp($0) }) { readings.append(MetricReading(.lastPublication, time)) }
        if let time = watch.lastScan.flatMap({ Timestamp($0) }) { readings.append(MetricReading(.lastScan, time)) }
        return readings
    }
}

extension StatusReport {
    private var upstreamMetrics: [MetricReading] {
        let upstreams = zip(MetricLabel.upstreams, upstreams ?? [])
        func reading(_ family: MetricFamily, _ value: (Upstream) -> Double?) -> MetricReading {
            MetricReading(family, upstreams.compactMap { place, upstream in value(upstream).map { (place, $0) } })
        }
        let states = upstreams.flatMap { place, upstream in
            Upstream.State.allCases.map { state in
                MetricReading.Series(
                    labels: [place, state.rawValue], value: .number(upstream.state == state ? 1 : 0))
            }
        }
        return [
            MetricReading(.upstreamState, states),
            reading(.upstreamGeneration) { $0.generation.map(Double.init) },
            reading(.upstreamPublished) { $0.published.flatMap { Timestamp($0) }.map { $0.sinceEpoch / .seconds(1) } },
        ]
    }
}

extension MetricReading {
    init(_ family: MetricFamily, _ isTrue: Bool) { self.init(family, isTrue ? 1 : 0) }

    init(_ family: MetricFamily, _ time: Timestamp) {
        // Dividing two durations is inexact: 1763692797.9999998.
        let (seconds, attoseconds) = time.sinceEpoch.components
        self.init(family, Double(seconds) + Double(attoseconds) / 1e18)
    }

    init(_ family: MetricFamily, _ values: KeyValuePairs<String, Int>) {
        self.init(family, values.map { ($0, Double($1)) })
    }

    init(_ family: MetricFamily, _ values: [(label: String, value: Double)]) {
        self.init(family, values.map { Series(labels: [$0.label], value: .number($0.value)) })
    }
}
