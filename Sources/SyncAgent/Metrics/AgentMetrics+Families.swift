// SPDX-License-Identifier: Apache-2.0
import HTTPRules

// The metrics that are counted as events happen.
extension MetricFamily {
    static let downloads = counter(
        "syncagent_downloads_total", "Downloads that ended, by outcome and by the rule that permits the address.",
        Label("outcome", MetricLabel.Outcome.self), Label("origin", MetricLabel.Origin.self))
    static let downloadFailures = counter(
        "syncagent_download_failures_total", "Failed downloads, by their code.",
        Label(name: "code", values: MetricLabel.failureCodes))
    static let downloadResponses = counter(
        "syncagent_download_responses_total", "Downloads that a server answered, by version of HTTP.",
        Label(name: "version", values: ["1.1", "2"]))
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
    static let renderedImages = counter(
        "syncagent_rendered_images_total", "Images that were given to syncagent-render, by result.",
        Label(name: "result", values: ["rendered", "failed"]))
    static let renderingDuration = histogram(
        "syncagent_rendering_duration_seconds", "Time that a process of syncagent-render took.",
        bounds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
    static let listReads = counter(
        "syncagent_list_reads_total", "Versions of lists that were parsed, by verdict.",
        Label(name: "verdict", values: ["accepted", "rejected"]))
    static let parserFailures = counter(
        "syncagent_parser_failures_total", "Parser processes that gave no verdict on a list, by reason.",
        Label(name: "reason", values: MetricLabel.parserFailures))
    static let watcherFailures = counter(
        "syncagent_watcher_failures_total", "Times that syncagent-watch ended, or lost the lists folder.")
    static let controlRequests = counter(
        "syncagent_control_requests_total", "Requests on the control socket, by method and class of status.",
        Label(name: "method", values: ["get", "post", "other"]),
        Label(name: "status", values: ["2xx", "3xx", "4xx", "5xx"]))

    private static let diskBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

    static let pushed = [
        downloads, downloadFailures, downloadResponses, receivedBytes, downloadDuration, originDownloads,
        upstreamRequests, upstreamBytes, publications, publicationDuration, flushDuration, flushFailures, evictedImages,
        evictedGenerations, evictionFailures, renderedImages, renderingDuration, listReads, parserFailures,
        watcherFailures, controlRequests,
    ]
}
