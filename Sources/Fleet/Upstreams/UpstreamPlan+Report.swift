// SPDX-License-Identifier: Apache-2.0
import CacheFormat

// What there is to tell of upstreams.
extension UpstreamPlan {
    /// A row for each upstream.
    ///
    /// - Parameters:
    ///   - isPaused: Whether none is looked at.
    ///   - now: The present time.
    /// - Returns: The rows, in the order of the settings.
    func status(isPaused: Bool, at now: Timestamp) -> [StatusReport.Upstream] {
        upstreams.map { upstream in
            var row = StatusReport.Upstream(url: upstream.url.description, state: state(of: upstream, at: now).rawValue)
            row.generation = upstream.accepted?.generation
            row.published = upstream.accepted?.published.description
            row.lastPoll = upstream.lastPoll?.description
            row.nextPoll = upstream.isPolling || isPaused ? nil : upstream.nextPoll.description
            row.error = upstream.failure?.message
            row.code = upstream.failure?.code
            return row
        }
    }

    /// The state of each upstream, with the reason if something is wrong.
    func states(at now: Timestamp) -> [(url: UpstreamURL, state: StatusReport.Upstream.State, reason: String)] {
        upstreams.map { upstream in
            let state = state(of: upstream, at: now)
            let isStale =
                state == .stale ? upstream.accepted.map { "its manifest was published at \($0.published)" } : nil
            return (upstream.url, state, isStale ?? upstream.failure?.message ?? "")
        }
    }

    private func state(of upstream: Upstream, at now: Timestamp) -> StatusReport.Upstream.State {
        if upstream.failure?.isRefusal == true { return .refused }
        let hasFailed = upstream.index == nil || upstream.failedPolls >= settings.breakAfter
        if upstream.breaker.isOpen || upstream.failure != nil && hasFailed { return .broken }
        if upstream.index == nil { return .unknown }
        return upstream.isFresh(settings.maxAge, at: now) ? .fresh : .stale
    }

    /// Whether the manifest of an upstream was accepted in this run.
    var isRead: Bool { upstreams.contains { $0.index != nil } }

    /// Why no upstream will have an icon soon, as far as their lists tell.
    func lack(of url: IconURL) -> UpstreamLack? {
        let entries = upstreams.compactMap { $0.index?[url] }
        if entries.isEmpty { return .unlisted }
        return entries.allSatisfy { if case .failed = $0 { true } else { false } } ? .failed : nil
    }

    /// What each upstream says of an icon.
    func opinions(on url: IconURL, _ icon: IconRecord, at now: Timestamp) -> [UpstreamOpinion] {
        upstreams.map { upstream in
            // What keeps it from saying something else.
            let failure = upstream.failure.map { "\($0.message) [\($0.code)]" }
            var opinion = UpstreamOpinion(url: upstream.url.description, says: "unlisted", obstacle: failure)
            guard let index = upstream.index else {
                opinion.says = state(of: upstream, at: now).rawValue
                return opinion
            }
            switch index[url] {
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
        to file: UpstreamFile, of upstream: Upstream, _ icon: IconRecord, at now: Timestamp
    ) -> String? {
        guard icon.accepts(file.sha256) else { return "its image does not have the digest that the list gives" }
        if let probe = upstream.breaker.probe { return "its circuit breaker is open; the next probe is at \(probe)" }
        if let end = upstream.missEnd(of: file, at: now) {
            return "it did not deliver the image; not asked until \(end)"
        }
        guard icon.hasImage, !upstream.isFresh(settings.maxAge, at: now) else { return nil }
        return "its manifest is stale"
    }

    /// What comes next for an icon that waits, as a clause; `nil` if it does not wait.
    func next(for url: IconURL) -> String? {
        guard isWaiting(url) else { return nil }
        guard settings.fallback == .origin else {
            return "download when an upstream has it (upstream.fallback is never)"
        }
        return originTime(of: url).map { "download when an upstream has it, from its origin at \($0)" }
    }

    /// How long the manifest of an upstream counts that an image came by.
    func freshness(from upstream: Upstream, at now: Timestamp) -> String {
        let published = upstream.accepted.map { " (published at \($0.published))" } ?? ""
        let isOld = upstream.end(of: settings.maxAge).map { $0 <= now } ?? false
        return "the manifest of the upstream \(upstream.url)\(published) "
            + (isOld ? "is older than" : "counts for") + " upstream.maxAge (\(DurationText.format(settings.maxAge)))"
    }
}

extension UpstreamFailure {
    /// Whether somebody has to act: what is refused stays so, and who is refused, too.
    var isRefusal: Bool {
        switch cause {
        case .refusal: true
        case .request(let failure): UpstreamVerdict(failure) == .configuration
        case .agent: false
        }
    }
}
