// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import HTTPRules
import Reports
import SyncPlan

// Counted where it happens.
extension MetricFamily {
    static let downloads = counter(
        "syncagent_downloads_total", "Downloads that ended, by outcome and by the rule that permits the address.",
        Label("outcome", MetricLabel.Outcome.self), Label("origin", MetricLabel.Origin.self))
    static let downloadFailures = counter(
        "syncagent_download_failures_total", "Failed downloads, by their code.",
        Label(name: "code", values: MetricLabel.failureCodes))
    static let downloadResponses = counter(
        "syncagent_download_responses_total", "Downloads that a server answered, by version of HTTP.",
        Label("version", MetricLabel.HTTPVersion.self))
    static let receivedBytes = counter(
        "syncagent_received_bytes_total", "Bytes of response bodies that downloads received.")
    static let downloadDuration = histogram(
        "syncagent_download_duration_seconds", "Time from the start of a download to its end, redirects included.",
        bounds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
        Label(
            name: "outcome",
            values: [MetricLabel.Outcome.downloaded, .notModified, .failed].map(\.rawValue)))
    static let originDownloads = counter(
        "syncagent_origin_downloads_total", "Downloads from origins that ended, by the reason for which they began.",
        Label("reason", FetchReason.self))
    static let upstreamRequests = counter(
        "syncagent_upstream_requests_total",
        "Requests to upstreams that ended, by place in upstream.urls, kind of file and result.",
        Label(name: "upstream", values: MetricLabel.upstreams), Label("file", MetricLabel.UpstreamFile.self),
        Label("result", MetricLabel.UpstreamResult.self))
    static let upstreamBytes = counter(
        "syncagent_upstream_received_bytes_total", "Bytes of response bodies that upstreams sent.",
        Label(name: "upstream", values: MetricLabel.upstreams))
    static let publications = counter(
        "syncagent_publications_total", "Publications, by outcome.",
        Label("outcome", MetricLabel.Publication.self))
    static let publicationDuration = histogram(
        "syncagent_publication_duration_seconds", "Time that a publication took, flushes included.",
        bounds: diskBounds)
    static let flushDuration = histogram(
        "syncagent_flush_duration_seconds", "Time that a flush of a publication to disk took.", bounds: diskBounds)
    static let flushFailures = counter("syncagent_flush_failures_total", "Flushes of publications that failed.")
    static let evictedImages = counter(
        "syncagent_evicted_images_total", "Images removed from disk, by reason.",
        Label("reason", MetricLabel.Eviction.self))
    static let evictedGenerations = counter(
        "syncagent_evicted_generations_total", "Superseded generations removed from disk, by reason.",
        Label("reason", MetricLabel.Release.self))
    static let evictionFailures = counter(
        "syncagent_eviction_failures_total", "Files that could not be removed from the cache.")
    static let listReads = counter(
        "syncagent_list_reads_total", "Versions of lists that were parsed, by verdict.",
        Label("verdict", MetricLabel.Verdict.self))
    static let parserFailures = counter(
        "syncagent_parser_failures_total", "Parser processes that gave no verdict on a list, by reason.",
        Label("reason", MetricLabel.ParserFailure.self))
    static let watcherFailures = counter(
        "syncagent_watcher_failures_total", "Times that syncagent-watch ended, or lost the lists folder.")
    static let controlRequests = counter(
        "syncagent_control_requests_total", "Requests on the control socket, by method and class of status.",
        Label("method", MetricLabel.Method.self), Label("status", MetricLabel.Status.self))

    private static let diskBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

    static let pushed = [
        downloads, downloadFailures, downloadResponses, receivedBytes, downloadDuration, originDownloads,
        upstreamRequests, upstreamBytes, publications, publicationDuration, flushDuration, flushFailures, evictedImages,
        evictedGenerations, evictionFailures,
        listReads, parserFailures, watcherFailures, controlRequests,
    ]
}

// Read on request.
extension MetricFamily {
    static let up = gauge("syncagent_up", "1 while the agent runs; 0 in the textfile of an agent that was stopped.")
    static let buildInfo = gauge(
        "syncagent_build_info", "Always 1; its label is the version of the agent.",
        Label(name: "version", values: [Version.current]))
    static let collected = gauge(
        "syncagent_collected_timestamp_seconds", "When these metrics were read, since 1970.", isVolatile: true)
    static let paused = gauge("syncagent_paused", "1 while new downloads are paused.")
    static let inSync = gauge(
        "syncagent_in_sync", "1 if the newest generation has all that is known, and no download is due.")
    static let configurationOK = gauge(
        "syncagent_configuration_ok", "0 if the configuration file was refused at the last reload.")
    static let lists = gauge(
        "syncagent_lists", "App lists, by state.", Label(name: "state", values: ["ok", "last-good", "rejected"]))
    static let icons = gauge(
        "syncagent_icons", "Icons that app lists name, by state.",
        Label(name: "state", values: ["ready", "pending", "failed"]))
    static let staleIcons = gauge(
        "syncagent_stale_icons", "Ready icons whose last refresh failed.")
    static let oldestStaleIcon = gauge(
        "syncagent_oldest_stale_icon_age_seconds",
        "Time since the freshness of the icon ended whose refresh fails for longest; 0 if there is none.",
        isVolatile: true)
    static let previousImages = gauge(
        "syncagent_previous_images",
        "Icons without an image of their own whose apps show the previous one.")
    static let retiredIcons = gauge("syncagent_retired_icons", "Icons on disk that no app list names and no app shows.")
    static let queue = gauge(
        "syncagent_download_queue",
        "Icons that are being downloaded, queued, waiting for a retry or their origin, or blocked without an image.",
        Label(name: "state", values: ["active", "queued", "waiting", "blocked"]))
    static let shortage = gauge(
        "syncagent_shortage", "1 while disk space or another resource is short, so that icons or documents wait.")
    static let generation = gauge("syncagent_generation", "The newest generation.")
    static let lastPublication = gauge(
        "syncagent_last_publication_timestamp_seconds", "When the newest generation was published, since 1970.")
    static let publicationFailing = gauge(
        "syncagent_publication_failing", "1 if the last publication failed or may not be durable.")
    static let cacheBytes = gauge("syncagent_cache_bytes", "Size of the images in the cache.")
    static let cacheImages = gauge("syncagent_cache_images", "Images in the cache.")
    static let diskFree = gauge(
        "syncagent_disk_free_bytes", "Free space on the file system of the cache.", isVolatile: true)
    static let diskSize = gauge("syncagent_disk_size_bytes", "Size of the file system of the cache.")
    static let diskReserve = gauge(
        "syncagent_disk_reserve_bytes", "Free space that downloads leave (cache.minFree).")
    static let eviction = gauge(
        "syncagent_eviction_state", "1 for the present state of eviction, 0 for the others.",
        Label(name: "state", values: ["active", "suspended", "held"]))
    static let watchPolling = gauge(
        "syncagent_watch_polling", "1 while the lists folder is polled, because inotify does not report all changes.")
    static let watchOverflows = counter(
        "syncagent_watch_overflows_total", "Overflows of the inotify queue of the lists folder.")
    static let upstreamState = gauge(
        "syncagent_upstream_state", "1 for the present state of each upstream, 0 for the others.",
        Label(name: "upstream", values: MetricLabel.upstreams),
        Label("state", StatusReport.Upstream.State.self))
    static let upstreamGeneration = gauge(
        "syncagent_upstream_generation", "The newest generation of each upstream that was accepted.",
        Label(name: "upstream", values: MetricLabel.upstreams))
    static let upstreamPublished = gauge(
        "syncagent_upstream_published_timestamp_seconds",
        "When that generation was published, since 1970; time() minus this is the age of the manifest.",
        Label(name: "upstream", values: MetricLabel.upstreams))
    static let awaitingUpstream = gauge(
        "syncagent_awaiting_upstream", "Icons that no upstream has, and whose origins are asked later or never.")
    static let lastScan = gauge(
        "syncagent_last_scan_timestamp_seconds", "When the lists folder was listed last, since 1970.", isVolatile: true)

    static let pulled = [
        up, buildInfo, collected, paused, inSync, configurationOK, lists, icons, staleIcons, oldestStaleIcon,
        previousImages, retiredIcons, queue, shortage, generation, lastPublication, publicationFailing, cacheBytes,
        cacheImages,
        diskFree, diskSize, diskReserve, eviction, watchPolling, watchOverflows, lastScan, upstreamState,
        upstreamGeneration, upstreamPublished, awaitingUpstream,
    ]
}

// Of the process, under Prometheus' standard names.
extension MetricFamily {
    static let processCPU = counter(
        "process_cpu_seconds_total", "CPU time of the agent, user and system.", isVolatile: true)
    static let processStart = gauge("process_start_time_seconds", "When the agent started, since 1970.")
    static let processResident = gauge(
        "process_resident_memory_bytes", "Resident memory of the agent.", isVolatile: true)
    static let processVirtual = gauge(
        "process_virtual_memory_bytes", "Virtual memory of the agent.", isVolatile: true)
    static let processOpenFiles = gauge("process_open_fds", "Open file descriptors of the agent.", isVolatile: true)
    static let processMaxFiles = gauge("process_max_fds", "The agent's limit on open file descriptors.")

    static let ofProcess = [
        processCPU, processStart, processResident, processVirtual, processOpenFiles, processMaxFiles,
    ]

    static var all: [MetricFamily] { pushed + pulled + ofProcess }
}
