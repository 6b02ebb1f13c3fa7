// SPDX-License-Identifier: Apache-2.0
import AppLists
import CoreMetrics
import HTTPRules
import ImageChecks
import SyncPlan

/// Counters and histograms that the agent updates where things happen.
///
/// Values that the agent keeps anyway, such as the length of its queue, are read on request: see
/// ``RunningAgent/metrics()``.
package final class AgentMetrics: Sendable {
    private let registry: MetricsRegistry

    private let downloads: [MetricLabel.Outcome: Counters<MetricLabel.Origin>]
    private let downloadFailures: Counters<String>
    private let downloadResponses: Counters<MetricLabel.HTTPVersion>
    private let receivedBytes: Counter
    private let downloadDurations: [MetricLabel.Outcome: Timer]
    private let originDownloads: Counters<FetchReason>
    /// By place of the upstream, then by kind of file.
    private let upstreamRequests: [[MetricLabel.UpstreamFile: Counters<MetricLabel.UpstreamResult>]]
    private let upstreamBytes: Counters<String>
    private let publications: Counters<MetricLabel.Publication>
    private let publicationDuration: Timer
    private let flushDuration: Timer
    private let flushFailures: Counter
    private let evictedImages: Counters<MetricLabel.Eviction>
    private let evictedGenerations: Counters<MetricLabel.Release>
    private let evictionFailures: Counter
    private let listReads: Counters<MetricLabel.Verdict>
    private let parserFailures: Counters<MetricLabel.ParserFailure>
    private let watcherFailures: Counter
    private let controlRequests: [MetricLabel.Method: Counters<MetricLabel.Status>]

    package init() {
        let registry = MetricsRegistry(MetricFamily.pushed)
        self.registry = registry
        downloads = Dictionary(
            uniqueKeysWithValues: MetricLabel.Outcome.allCases.map {
                ($0, Counters(.downloads, after: [$0.rawValue], registry))
            })
        downloadFailures = Counters(.downloadFailures, MetricLabel.failureCodes, registry)
        downloadResponses = Counters(.downloadResponses, registry)
        receivedBytes = Counter(.receivedBytes, [], registry)
        downloadDurations = Dictionary(
            uniqueKeysWithValues: [MetricLabel.Outcome.downloaded, .notModified, .failed].map {
                ($0, Timer(.downloadDuration, [$0.rawValue], registry))
            })
        originDownloads = Counters(.originDownloads, registry)
        upstreamRequests = MetricLabel.upstreams.map { place in
            Dictionary(
                uniqueKeysWithValues: MetricLabel.UpstreamFile.allCases.map {
                    ($0, Counters(.upstreamRequests, after: [place, $0.rawValue], registry))
                })
        }
        upstreamBytes = Counters(.upstreamBytes, MetricLabel.upstreams, registry)
        publications = Counters(.publications, registry)
        publicationDuration = Timer(.publicationDuration, [], registry)
        flushDuration = Timer(.flushDuration, [], registry)
        flushFailures = Counter(.flushFailures, [], registry)
        evictedImages = Counters(.evictedImages, registry)
        evictedGenerations = Counters(.evictedGenerations, registry)
        evictionFailures = Counter(.evictionFailures, [], registry)
        listReads = Counters(.listReads, registry)
        parserFailures = Counters(.parserFailures, registry)
        watcherFailures = Counter(.watcherFailures, [], registry)
        controlRequests = Dictionary(
            uniqueKeysWithValues: MetricLabel.Method.allCases.map {
                ($0, Counters(.controlRequests, after: [$0.rawValue], registry))
            })
    }

    func read() -> [MetricReading] { registry.read() }

    // MARK: Downloads

    /// Counts a download that ended, with the bytes of all response bodies.
    ///
    /// `trail` is `nil` if it went straight to a public address; `isMultiplexed` is `nil` if there was no response.
    func noteDownload(
        _ outcome: FetchOutcome, of request: FetchRequest, by trail: FetchTrail?, isMultiplexed: Bool?, bytes: Int,
        in time: Duration
    ) {
        let end: MetricLabel.Outcome
        switch outcome {
        case .image: end = .downloaded
        case .notModified: end = .notModified
        case .noRoom: end = .noRoom
        case .cancelled: end = .cancelled
        case .failed(let failure):
            end = .failed
            downloadFailures.increment(MetricLabel.code(of: failure.code))
        }
        downloads[end]?.increment(Self.origin(of: request, trail))
        if let isMultiplexed { downloadResponses.increment(isMultiplexed ? .http2 : .http1) }
        if bytes > 0 { receivedBytes.increment(by: bytes) }
        downloadDurations[end]?.record(time)
        if request.copy == nil, case .server = request.source { originDownloads.increment(request.reason) }
    }

    /// Counts a request to an upstream that ended; `place` is its index in `upstream.urls`, `nil` if no longer there.
    func noteUpstream(_ place: Int?, _ file: MetricLabel.UpstreamFile, _ result: MetricLabel.UpstreamResult, bytes: Int)
    {
        guard let place, upstreamRequests.indices.contains(place) else { return }
        upstreamRequests[place][file]?.increment(result)
        if bytes > 0 { upstreamBytes.increment(MetricLabel.upstreams[place], by: bytes) }
    }

    private static func origin(of request: FetchRequest, _ trail: FetchTrail?) -> MetricLabel.Origin {
        if case .inline = request.source { return .inline }
        if request.copy != nil { return .upstream }
        guard let trail else { return .public }
        if trail.hops.contains(where: { $0.proxy != nil }) { return .proxied }
        return trail.hops.contains { $0.allowedBy != nil } ? .allowed : .public
    }

    // MARK: The cache

    func notePublication(_ result: PublicationResult, in time: Duration) {
        let outcome: MetricLabel.Publication =
            switch result {
            case .published(_, _, let doubt): doubt == nil ? .published : .undurable
            case .noRoom: .noRoom
            case .failed: .failed
            }
        publications.increment(outcome)
        publicationDuration.record(time)
    }

    func noteFlush(isWhole: Bool, in time: Duration) {
        flushDuration.record(time)
        if !isWhole { flushFailures.increment() }
    }

    func noteEviction(images: Int, areDamaged: Bool, failures: Int) {
        evictedImages.increment(areDamaged ? .damaged : .retired, by: images)
        if failures > 0 { evictionFailures.increment(by: failures) }
    }

    func noteRelease(ignoringLease: Bool) { evictedGenerations.increment(ignoringLease ? .leaseExpired : .expired) }

    // MARK: Lists

    func noteVerdict(_ verdict: ListVerdict) {
        switch verdict {
        case .success: listReads.increment(.accepted)
        case .failure(let rejection):
            if let failure = MetricLabel.ParserFailure(rejection.code) {
                parserFailures.increment(failure)
            } else if rejection.isOfTheFile {
                listReads.increment(.rejected)
            }
        }
    }

    func note(_ signal: WatchSignal) {
        if signal.isLast { watcherFailures.increment() }
    }

    // MARK: The control socket

    /// Counts a request on the control socket; the method must be in capitals.
    package func noteControlRequest(method: String, status: Int) {
        let method: MetricLabel.Method = method == "GET" ? .get : method == "POST" ? .post : .other
        controlRequests[method]?.increment(MetricLabel.Status(status))
    }
}

/// One counter for each value of the last label of a metric.
private struct Counters<Key: Hashable & Sendable>: Sendable {
    private let counters: [Key: Counter]

    func increment(_ key: Key, by amount: Int = 1) { counters[key]?.increment(by: amount) }
}

extension Counters where Key: CaseIterable & RawRepresentable<String> {
    init(_ family: MetricFamily, after labels: [String] = [], _ registry: MetricsRegistry) {
        counters = Dictionary(
            uniqueKeysWithValues: Key.allCases.map { ($0, Counter(family, labels + [$0.rawValue], registry)) })
    }
}

extension Counters<String> {
    init(_ family: MetricFamily, _ values: [String], _ registry: MetricsRegistry) {
        counters = Dictionary(uniqueKeysWithValues: values.map { ($0, Counter(family, [$0], registry)) })
    }
}

extension MetricFamily {
    fileprivate func dimensions(_ values: [String]) -> [(String, String)] { zip(labels.map(\.name), values).map { $0 } }
}

extension Counter {
    fileprivate convenience init(_ family: MetricFamily, _ labels: [String], _ registry: MetricsRegistry) {
        self.init(label: family.name, dimensions: family.dimensions(labels), factory: registry)
    }
}

extension Timer {
    fileprivate convenience init(_ family: MetricFamily, _ labels: [String], _ registry: MetricsRegistry) {
        self.init(label: family.name, dimensions: family.dimensions(labels), factory: registry)
    }

    fileprivate func record(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
