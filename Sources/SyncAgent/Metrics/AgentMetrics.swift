// SPDX-License-Identifier: Apache-2.0
import AppLists
import CoreMetrics
import HTTPRules
import ImageChecks
import SyncPlan

/// What the agent counts where it happens.
///
/// What it knows anyway, such as the length of its queue, is read when somebody asks: see ``RunningAgent/metrics()``.
package final class AgentMetrics: Sendable {
    private let registry: MetricsRegistry

    /// By outcome.
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
    /// By method.
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

    /// The present values.
    func read() -> [MetricReading] { registry.read() }

    // MARK: Downloads

    /// Notes a download that ended.
    ///
    /// - Parameters:
    ///   - outcome: How it ended.
    ///   - request: What was asked for.
    ///   - trail: The way there, if it was not straight.
    ///   - isMultiplexed: Whether every answer came over HTTP/2; `nil` if there was none.
    ///   - bytes: How much of response bodies came.
    ///   - time: How long it took.
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

    /// Notes a request to an upstream that ended.
    ///
    /// - Parameters:
    ///   - place: The place of the upstream in `upstream.urls`, from 0; `nil` if it is there no more.
    ///   - file: What was requested.
    ///   - result: What came of it.
    ///   - bytes: How much of the body came.
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

    /// Notes a publication that ended, and how long it took.
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

    /// Notes a flush, and how long it took.
    func noteFlush(isWhole: Bool, in time: Duration) {
        flushDuration.record(time)
        if !isWhole { flushFailures.increment() }
    }

    /// Notes images that were removed, and files that could not be.
    func noteEviction(images: Int, areDamaged: Bool, failures: Int) {
        evictedImages.increment(areDamaged ? .damaged : .retired, by: images)
        if failures > 0 { evictionFailures.increment(by: failures) }
    }

    /// Notes that a superseded generation was removed.
    func noteRelease(ignoringLease: Bool) { evictedGenerations.increment(ignoringLease ? .leaseExpired : .expired) }

    // MARK: Lists

    /// Notes what came of parsing a list.
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

    /// Notes what the watcher says.
    func note(_ signal: WatchSignal) {
        if signal.isLast { watcherFailures.increment() }
    }

    // MARK: The control socket

    /// Notes a request on the control socket that was answered.
    ///
    /// - Parameters:
    ///   - method: The method of the request, in capitals.
    ///   - status: The status of the answer.
    package func noteControlRequest(method: String, status: Int) {
        let method: MetricLabel.Method = method == "GET" ? .get : method == "POST" ? .post : .other
        controlRequests[method]?.increment(MetricLabel.Status(status))
    }
}

/// A counter for each value of the last label of a metric.
private struct Counters<Key: Hashable & Sendable>: Sendable {
    private let counters: [Key: Counter]

    func increment(_ key: Key, by amount: Int = 1) { counters[key]?.increment(by: amount) }
}

extension Counters where Key: CaseIterable & RawRepresentable<String> {
    /// - Parameters:
    ///   - family: The metric.
    ///   - labels: The values of its other labels.
    ///   - registry: Where it is counted.
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
