// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import Reports
import SyncPlan

extension MetricReading {
    static func up(_ isRunning: Bool) -> MetricReading {
        gauge("syncagent_up", "1 while the agent runs; 0 in the textfile of an agent that was stopped.", isRunning)
    }

    static var buildInfo: MetricReading {
        gauge(
            "syncagent_build_info", "Always 1; its label is the version of the agent.", by: "version",
            [Version.current: 1])
    }

    static var collected: MetricReading {
        gauge(
            "syncagent_collected_timestamp_seconds", "When these metrics were read, since 1970.", AgentClock.wallTime,
            isVolatile: true)
    }

    static func publicationPending(_ isPending: Bool) -> MetricReading {
        gauge(
            "syncagent_publication_pending",
            "1 while lists or images wait to be read or published; 0 while icons are only downloaded or confirmed.",
            isPending)
    }

    static func failedIcons(_ icons: [Outlook: FailedIcons], now: Timestamp) -> [MetricReading] {
        func reading(_ name: String, _ help: String, isVolatile: Bool, _ values: [Outlook: Double]) -> MetricReading {
            MetricReading(
                .gauge(name, help, .init("persistence", Outlook.self), isVolatile: isVolatile),
                Outlook.allCases.map { .init(labels: [$0.rawValue], value: .number(values[$0] ?? 0)) })
        }
        let ages = icons.compactMapValues { $0.staleSince.map { max(0, (now - $0) / .seconds(1)) } }
        return [
            reading(
                "syncagent_failed_icons", "Icons that failed, by how long that is likely to last, or muted.",
                isVolatile: false, icons.mapValues { Double($0.failed) }),
            reading(
                "syncagent_stale_icon_age_seconds",
                "As syncagent_oldest_stale_icon_age_seconds, by how long the failure is likely to last, or muted.",
                isVolatile: true, ages),
            gauge(
                "syncagent_oldest_stale_icon_age_seconds",
                "Seconds since the oldest stale icon was last fresh; 0 if no refresh fails.", ages.values.max() ?? 0,
                isVolatile: true),
        ]
    }
}

extension StatusReport {
    var metrics: [MetricReading] {
        func count(_ state: List.State) -> Int { lists.count { $0.state == state } }
        let renditions = renditions ?? Renditions()
        return upstreamMetrics + [
            .up(true), .buildInfo,
            .gauge("syncagent_paused", "1 while new downloads are paused.", state == .paused),
            .gauge("syncagent_in_sync", "1 if the newest generation is up to date, and no download is due.", inSync),
            .gauge(
                "syncagent_configuration_ok", "0 if the last reload rejected the configuration file.",
                configuration.error == nil),
            .gauge(
                "syncagent_lists", "App lists, by state.", by: "state",
                ["ok": count(.ok), "last-good": count(.lastGood), "rejected": count(.rejected)]),
            .gauge(
                "syncagent_problem_lists", "App lists that are not accepted, without muted ones.",
                lists.count(where: \.isProblem)),
            .gauge(
                "syncagent_icons", "Icons that app lists name, by state.", by: "state",
                ["ready": icons.ready, "pending": icons.pending, "failed": icons.failed]),
            .gauge("syncagent_stale_icons", "Ready icons whose last refresh failed.", icons.stale),
            .gauge(
                "syncagent_previous_images", "Icons without an image of their own whose apps show the previous one.",
                icons.previous),
            .gauge("syncagent_retired_icons", "Icons on disk that no app list names and no app shows.", icons.retired),
            .gauge(
                "syncagent_download_queue",
                "Icons that are being downloaded, queued, waiting for a retry or their origin, or blocked without an image.",
                by: "state",
                [
                    "active": downloads.active, "queued": downloads.queued, "waiting": downloads.waiting,
                    "blocked": downloads.blocked,
                ]),
            .gauge(
                "syncagent_shortage",
                "1 while disk space or another resource is short, so that icons or documents wait.",
                downloads.shortage != nil),
            // Without a generation there is no value: a time of 0 would look like a very old publication.
            .gauge("syncagent_generation", "The newest generation.", generation),
            .gauge(
                "syncagent_last_publication_timestamp_seconds", "When the newest generation was published, since 1970.",
                published.flatMap { Timestamp($0) }),
            .gauge(
                "syncagent_publication_failing", "1 if the last publication failed or may not be durable.",
                publication.error != nil),
            .gauge("syncagent_cache_bytes", "Size of the images in the cache.", cache.bytes),
            .gauge("syncagent_cache_images", "Images in the cache.", cache.images),
            .gauge(
                "syncagent_renditions", "Images by whether they are rendered in the sizes of render.sizes.",
                by: "state",
                ["ready": renditions.ready, "pending": renditions.pending, "failed": renditions.failed]),
            .gauge("syncagent_rendering_failing", "1 while no image can be rendered.", renditions.error != nil),
            .gauge(
                "syncagent_eviction_state", "1 for the present state of eviction, 0 for the others.", by: "state",
                [
                    "active": eviction.state == "active", "suspended": eviction.state == "suspended",
                    "held": eviction.state == "held",
                ]),
            .gauge(
                "syncagent_watch_polling",
                "1 while the lists folder is polled, because inotify does not report all changes.",
                watch.mode == "polling"),
            .counter(
                "syncagent_watch_overflows_total", "Overflows of the inotify queue of the lists folder.",
                watch.overflows),
            .gauge(
                "syncagent_last_scan_timestamp_seconds", "When the lists folder was listed last, since 1970.",
                watch.lastScan.flatMap { Timestamp($0) }, isVolatile: true),
            .gauge(
                "syncagent_awaiting_upstream",
                "Icons without an image that no upstream has, and whose origins are asked later or never.",
                downloads.awaitingUpstream),
        ]
    }

    private var upstreamMetrics: [MetricReading] {
        let upstreams = zip(MetricLabel.upstreams, upstreams)
        let place = MetricFamily.Label(name: "upstream", values: MetricLabel.upstreams)
        func reading(_ name: String, _ help: String, _ value: (Upstream) -> (some MetricValue)?) -> MetricReading {
            MetricReading(
                .gauge(name, help, place),
                upstreams.compactMap { place, upstream in
                    value(upstream).map { .init(labels: [place], value: .number($0.number)) }
                })
        }
        let states = upstreams.flatMap { place, upstream in
            Upstream.State.allCases.map { state in
                MetricReading.Series(labels: [place, state.rawValue], value: .number(upstream.state == state ? 1 : 0))
            }
        }
        return [
            MetricReading(
                .gauge(
                    "syncagent_upstream_state", "1 for the present state of each upstream, 0 for the others.", place,
                    .init("state", Upstream.State.self)),
                states),
            reading("syncagent_upstream_generation", "The newest generation of each upstream that was accepted.") {
                $0.generation
            },
            reading(
                "syncagent_upstream_published_timestamp_seconds",
                "When that generation was published, since 1970; time() minus this is the age of the manifest."
            ) { $0.published.flatMap { Timestamp($0) } },
        ]
    }
}
