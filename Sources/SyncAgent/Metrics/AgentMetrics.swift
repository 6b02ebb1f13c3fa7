// SPDX-License-Identifier: Apache-2.0
import AppLists
import HTTPRules
import SyncPlan

/// Counters and histograms that the agent updates as events happen.
///
/// Values that the agent keeps for other reasons, such as the length of its queue, are read on request: see
/// ``RunningAgent/metrics()``.
package final class AgentMetrics: Sendable {
    private let registry = MetricsRegistry(MetricFamily.pushed)

    func read() -> [MetricReading] { registry.read() }

    // MARK: Downloads

    /// Counts a download that ended, with the bytes of all response bodies.
    func recordDownload(_ ended: EndedDownload, of request: FetchRequest, bytes: Int, in time: Duration) {
        let end: MetricLabel.Outcome
        switch ended.outcome {
        case .image: end = .downloaded
        case .notModified: end = .notModified
        case .noRoom: end = .noRoom
        case .cancelled: end = .cancelled
        case .failed(let failure):
            end = .failed
            registry.increment(.downloadFailures, MetricLabel.code(of: failure.code))
        }
        registry.increment(.downloads, end.rawValue, Self.origin(of: request, ended.trail).rawValue)
        if let isHTTP2 = ended.isMultiplexed { registry.increment(.downloadResponses, isHTTP2 ? "2" : "1.1") }
        registry.increment(.receivedBytes, by: bytes)
        registry.record(time, in: .downloadDuration, end.rawValue)
        if request.copy == nil, case .server = request.source {
            registry.increment(.originDownloads, request.reason.rawValue)
        }
    }

    /// Counts a request to an upstream that ended; `place` is its index in `upstream.urls`, `nil` if no longer there.
    func recordUpstream(
        _ place: Int?, _ file: MetricLabel.UpstreamFile, _ result: MetricLabel.UpstreamResult, bytes: Int
    ) {
        guard let place, MetricLabel.upstreams.indices.contains(place) else { return }
        registry.increment(.upstreamRequests, MetricLabel.upstreams[place], file.rawValue, result.rawValue)
        registry.increment(.upstreamBytes, MetricLabel.upstreams[place], by: bytes)
    }

    private static func origin(of request: FetchRequest, _ trail: FetchTrail?) -> MetricLabel.Origin {
        if case .inline = request.source { return .inline }
        if request.copy != nil { return .upstream }
        guard let trail else { return .public }
        if trail.hops.contains(where: { $0.proxy != nil }) { return .proxied }
        return trail.hops.contains { $0.allowedBy != nil } ? .allowed : .public
    }

    // MARK: The cache

    func recordPublication(_ result: PublicationResult, in time: Duration) {
        let outcome: MetricLabel.Publication =
            switch result {
            case .published(_, _, let doubt): doubt == nil ? .published : .undurable
            case .noRoom: .noRoom
            case .failed, .refused: .failed
            }
        registry.increment(.publications, outcome.rawValue)
        registry.record(time, in: .publicationDuration)
    }

    func recordFlush(isWhole: Bool, in time: Duration) {
        registry.record(time, in: .flushDuration)
        if !isWhole { registry.increment(.flushFailures) }
    }

    func recordEviction(images: Int, areDamaged: Bool, failures: Int) {
        let reason: MetricLabel.Eviction = areDamaged ? .damaged : .retired
        registry.increment(.evictedImages, reason.rawValue, by: images)
        registry.increment(.evictionFailures, by: failures)
    }

    func recordRelease(ignoringLease: Bool) {
        let reason: MetricLabel.Release = ignoringLease ? .leaseExpired : .expired
        registry.increment(.evictedGenerations, reason.rawValue)
    }

    func recordRendering(images: Int, failed: Int, in time: Duration) {
        guard images + failed > 0 else { return }
        registry.increment(.renderedImages, "rendered", by: images)
        registry.increment(.renderedImages, "failed", by: failed)
        registry.record(time, in: .renderingDuration)
    }

    // MARK: Lists

    func recordVerdict(_ verdict: ListVerdict) {
        switch verdict {
        case .success: registry.increment(.listReads, "accepted")
        case .failure(let rejection):
            if let failure = MetricLabel.parserFailure(rejection.code) {
                registry.increment(.parserFailures, failure)
            } else if rejection.isOfTheFile {
                registry.increment(.listReads, "rejected")
            }
        }
    }

    func recordWatcherFailure() { registry.increment(.watcherFailures) }

    // MARK: The control socket

    /// Counts a request on the control socket; the method must be in capitals.
    package func recordControlRequest(method: String, status: Int) {
        let label = method == "GET" ? "get" : method == "POST" ? "post" : "other"
        registry.increment(.controlRequests, label, "\(min(max(status / 100, 2), 5))xx")
    }
}
