// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
package import HTTPRules

extension IconSources {
    /// A status row per upstream, in the order of the settings.
    package func status(isPaused: Bool, at now: Timestamp) -> [UpstreamReport] {
        upstreams.map { upstream in
            var row = UpstreamReport(url: upstream.url.description, state: state(of: upstream, at: now))
            row.generation = upstream.accepted?.generation
            row.published = upstream.accepted?.published.description
            row.lastPoll = upstream.lastPoll.map { "\($0 + clockOffset)" }
            row.nextPoll = upstream.isPolling || isPaused ? nil : "\(upstream.nextPoll + clockOffset)"
            row.error = upstream.failure?.message
            row.code = upstream.failure?.code
            if upstream.failure == nil, let (images, failure) = upstream.undelivered {
                (row.error, row.code, row.undelivered) = (failure.message, failure.code.rawValue, images)
            }
            return row
        }
    }

    package func states(at now: Timestamp) -> [(url: UpstreamURL, state: UpstreamReport.State, reason: String)] {
        upstreams.map { upstream in
            let state = state(of: upstream, at: now)
            let isStale =
                state == .stale ? upstream.accepted.map { "its manifest was published at \($0.published)" } : nil
            return (upstream.url, state, isStale ?? upstream.failure?.message ?? "")
        }
    }

    private func state(of upstream: Upstream, at now: Timestamp) -> UpstreamReport.State {
        if upstream.failure?.isRefusal == true { return .refused }
        let hasFailed = upstream.index == nil || upstream.failedPolls >= settings.breakAfter
        if upstream.breaker.isOpen || upstream.failure != nil && hasFailed { return .broken }
        if upstream.index == nil { return .unknown }
        return upstream.isFresh(settings.maxAge, at: now) ? .fresh : .stale
    }

    package var isRead: Bool { upstreams.contains { $0.index != nil } }

    /// The reason why no upstream will soon have an icon, according to their lists.
    package func lack(of url: IconURL) -> SourceLack? {
        let entries = upstreams.compactMap { $0.index?[url] }
        if entries.isEmpty { return .unlisted }
        return entries.allSatisfy { if case .failed = $0 { true } else { false } } ? .failed : nil
    }

    package func opinions(on icon: SoughtIcon, at now: Timestamp) -> [UpstreamOpinion] {
        upstreams.map { upstream in
            // The failure explains why the upstream's manifest is old.
            let failure = upstream.failure.map { "\($0.message) [\($0.code)]" }
            var opinion = UpstreamOpinion(url: upstream.url.description, says: "unlisted", obstacle: failure)
            guard let index = upstream.index else {
                opinion.says = state(of: upstream, at: now).rawValue
                return opinion
            }
            switch index[icon.url] {
            case nil: break
            case .pending: opinion.says = "pending"
            case .failed(let code):
                opinion.says = "failed"
                opinion.obstacle = "\(code)"
            case .ready(let file):
                opinion.says = "ready"
                opinion.obstacle = obstacle(to: file, of: upstream, icon, at: now)
            }
            return opinion
        }
    }

    private func obstacle(
        to file: UpstreamFile, of upstream: Upstream, _ icon: SoughtIcon, at now: Timestamp
    ) -> String? {
        guard icon.accepts(file.sha256) else { return "its image does not have the digest that the list gives" }
        if let probe = upstream.breaker.probe {
            return "its circuit breaker is open; the next probe is at \(probe + clockOffset)"
        }
        if let failure = upstream.missFailure(of: file) {
            let end = upstream.missEnd(of: file, at: now).map { "; not asked until \($0 + clockOffset)" } ?? ""
            return "it did not deliver the image: \(failure.message) [\(failure.code)]" + end
        }
        guard icon.hasImage, !upstream.isFresh(settings.maxAge, at: now) else { return nil }
        return "its manifest is stale"
    }

    /// The next step for a waiting icon, as a clause; `nil` if it does not wait.
    package func next(for url: IconURL) -> String? {
        guard isWaiting(url) else { return nil }
        guard settings.fallback == .origin else {
            return "download when an upstream has it (upstream.fallback is never)"
        }
        return originTime(of: url).map { "download when an upstream has it, from its origin at \($0 + clockOffset)" }
    }

    func freshness(from upstream: Upstream, at now: Timestamp) -> String {
        let published = upstream.accepted.map { " (published at \($0.published))" } ?? ""
        let isOld = upstream.end(of: settings.maxAge).map { $0 <= now } ?? false
        return "the manifest of the upstream \(upstream.url)\(published) "
            + (isOld ? "is older than" : "is valid for") + " upstream.maxAge (\(DurationText.format(settings.maxAge)))"
    }
}

extension IconSources {
    /// The upstream of an image, and how long the image is fresh, as text; `nil` if its response is not an upstream's.
    package func provenance(
        of response: StoredResponse, path: String?, at now: Timestamp
    ) -> (url: String?, freshness: String)? {
        source(ofResponseFrom: response.url).map { (path.map($0.url.file)?.url, freshness(from: $0, at: now)) }
    }

    /// The reason why icons without an image wait, as a clause.
    package func reasonToWait(images: Int) -> String {
        let (image, server) = images == 1 ? ("its image", "its server is") : ("their images", "their servers are")
        let codes = Set(upstreams.compactMap { $0.undelivered?.failure.code.rawValue }).sorted()
        let lack =
            codes.isEmpty
            ? "no upstream has \(image)"
            : "no upstream delivered \(image) [\(codes.joined(separator: ", "))]"
        return lack + (waitsForGood ? ", and upstream.fallback is never" : "; \(server) asked later")
    }

    package static let untilAnotherState = ", or when an upstream reports another state"
    package static let failureRule =
        "the upstream's failure applies until it reports another state, or its manifest is stale"

    /// The states of the upstreams whose manifest was read, or could not be.
    package struct States: Equatable, Sendable {
        fileprivate var states: [UpstreamURL: UpstreamReport.State] = [:]
        /// The upstreams that did not deliver an image.
        fileprivate var undelivering: Set<UpstreamURL> = []

        package init() {}
    }

    package func knownStates(at now: Timestamp) -> States {
        var known = States()
        for (url, state, _) in states(at: now) where state != .unknown { known.states[url] = state }
        known.undelivering = Set(upstreams.lazy.filter(\.hasMisses).map(\.url))
        return known
    }

    /// The upstreams whose known state has changed, each with the reason.
    package func changes(
        since last: States, at now: Timestamp
    ) -> [(UpstreamURL, UpstreamReport.State, reason: String)] {
        states(at: now).filter { $0.state != .unknown && last.states[$0.url] != $0.state }
    }

    /// The upstreams that begin not to deliver images, each with the last failure.
    package func undelivered(since last: States) -> [(UpstreamURL, FetchFailure)] {
        upstreams.compactMap { upstream in
            guard upstream.hasMisses, !last.undelivering.contains(upstream.url) else { return nil }
            return upstream.undelivered.map { (upstream.url, $0.failure) }
        }
    }

    /// Whether icons that no upstream has are never requested from their origins.
    package var waitsForGood: Bool { settings.fallback == .never }
}

extension UpstreamFailure {
    /// Whether an administrator must act: a refusal, by either side, does not end by itself.
    package var isRefusal: Bool {
        switch cause {
        case .refusal: true
        case .request(let failure): UpstreamVerdict(failure) == .configuration
        case .agent: false
        }
    }
}
