// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import HTTPRules

/// Decides whether an icon comes from an upstream or its origin, and when to poll each upstream.
package struct IconSources: Sendable {
    private struct Wait: Sendable {
        /// When to request the icon from its origin, if no upstream has it by then.
        var end: Timestamp
        /// Whether the last polls before ``end`` have been requested.
        var isLast = false
        /// Whether the wait is over and the origin is used.
        var isOver = false
        /// Whether an upstream has the icon, but its circuit breaker is open.
        var isBlocked = false
        /// Whether the icon has an image that its lists accept.
        var isRefresh = false
    }

    /// The age up to which a poll counts as recent: HTTP caches on the way keep a manifest for that long.
    private static let recently: Duration = .seconds(60)

    package private(set) var settings: UpstreamSettings
    /// Whether the run ends when all work is done, so that no icon waits for an upstream.
    private let triesOnce: Bool
    private(set) var upstreams: [Upstream] = []
    private(set) var clockOffset: Duration = .zero
    /// A number that changes with the set of upstreams, so that answers to earlier polls are ignored.
    private var epoch = 0
    private var waits: [IconURL: Wait] = [:]
    private var failed: Set<IconURL> = []
    private var requests: [IconURL: UpstreamRequest] = [:]
    /// Upstreams whose circuit breaker opened; their queued icons must be decided again.
    private var opened: Set<UpstreamURL> = []
    /// The last accepted manifests, also of upstreams that may be configured again.
    private var memos: [String: UpstreamMemo] = [:]

    package init(
        _ settings: UpstreamSettings, memos: [UpstreamMemo], triesOnce: Bool, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        self.settings = settings
        self.triesOnce = triesOnce
        self.memos = Dictionary(memos.map { ($0.url, $0) }) { a, _ in a }
        setUpstreams(within: self.settings.poll, at: now, using: &generator)
    }

    package mutating func configure(
        _ new: UpstreamSettings, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard new != settings else { return }
        let isKept =
            new.urls == settings.urls && new.publicKeys == settings.publicKeys
            && new.lists == settings.lists
        settings = new
        waits = [:]
        failed = []
        guard !isKept else { return }
        epoch += 1
        // A user who changed the settings waits to see whether the new upstreams work.
        setUpstreams(within: settings.poll / Upstream.haste, at: now, using: &generator)
    }

    /// Reads all documents again, soon, because more of their contents is now needed.
    package mutating func readAgain(at now: Timestamp, using generator: inout some RandomNumberGenerator) {
        guard !isEmpty else { return }
        epoch += 1
        setUpstreams(within: settings.poll / Upstream.haste, at: now, using: &generator)
    }

    private mutating func setUpstreams(
        within time: Duration, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        // Random delay: machines of a fleet that start together must not poll together.
        let delay = triesOnce ? .zero : time * Double.random(in: 0...1, using: &generator)
        var seen: Set<UpstreamURL> = []
        upstreams = settings.urls.filter { seen.insert($0).inserted }.map {
            Upstream($0, accepted: memos[$0.description], clockOffset: clockOffset, firstPoll: now + delay)
        }
    }

    package var isEmpty: Bool { upstreams.isEmpty }

    // MARK: Polls

    package var nextWake: Timestamp? { upstreams.lazy.filter { !$0.isPolling }.map(\.nextPoll).min() }

    package var isPolling: Bool { upstreams.contains(where: \.isPolling) }

    /// Whether the first poll of an upstream has not ended yet.
    package var isBeginning: Bool { upstreams.contains { $0.isPolling || $0.lastPoll == nil } }

    package mutating func beginPolls(at now: Timestamp) -> [UpstreamPoll] {
        upstreams.indices.compactMap { upstreams[$0].beginPoll(settings, epoch: epoch, at: now) }
    }

    package mutating func pollNow(at now: Timestamp) {
        for index in upstreams.indices { upstreams[index].pollOnDemand(at: now) }
    }

    /// Ends a poll, and returns the icons to decide again, because their state at upstreams changed.
    package mutating func end(
        _ answer: UpstreamAnswer, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [IconURL] {
        // The upstream may have been removed from the settings during the poll.
        guard answer.epoch == epoch, let place = upstreams.firstIndex(where: { $0.url == answer.url }) else {
            return []
        }
        let wasFresh = upstreams[place].isFresh(settings.maxAge, at: now)
        upstreams[place].end(
            answer.outcome, settings, isHurried: hasWaiting, at: now, using: &generator)
        updateBreaker(ofUpstreamAt: place)
        var changes: [IconURL] = []
        if case .accepted(let contents) = answer.outcome {
            memos[contents.memo.url] = contents.memo
            // The upstream's manifest may no longer name the icons whose files it did not deliver.
            changes = contents.changes + failed
            failed = []
            // While the manifest was stale, its entries did not count for freshness.
            if !wasFresh { return changes + waits.keys }
        }
        return changes + waits.filter { $0.value.isLast || $0.value.isBlocked || triesOnce }.map(\.key)
    }

    /// Handles a change of the wall clock, which is `offset` ahead of the agent's clock; returns the upstreams that
    /// became stale and, if there are any or others became fresh, the icons to decide again.
    ///
    /// Manifests have wall clock times; the clock may be wrong when the agent starts, and be set later.
    package mutating func setClock(_ offset: Duration, at now: Timestamp) -> (stale: [String], icons: [IconURL]) {
        let before = upstreams.map { $0.isFresh(settings.maxAge, at: now) }
        clockOffset = offset
        for place in upstreams.indices {
            upstreams[place].setClock(offset, at: now)
            memos[upstreams[place].url.description] = upstreams[place].accepted
        }
        let changes = zip(upstreams, before).filter { $0.isFresh(settings.maxAge, at: now) != $1 }
        guard !changes.isEmpty else { return ([], []) }
        // Another upstream may have the images of icons that failed according to one.
        defer { failed = [] }
        return (changes.filter(\.1).map(\.0.url.folder.url), Array(failed.union(waits.keys)))
    }

    /// Returns the icons to decide again after a time without polls, because their last poll was missed.
    package mutating func resume(at now: Timestamp, using generator: inout some RandomNumberGenerator) -> [IconURL] {
        let overdue = waits.filter { _, wait in
            !wait.isOver && (wait.end <= now || wait.isLast && !isPolling)
        }.keys.sorted()
        for url in overdue {
            // Random delay: the machines of a fleet resume and purge together.
            let delay = settings.spread * Double.random(in: 0...1, using: &generator)
            waits[url]?.end = now + delay
            waits[url]?.isLast = false
        }
        return overdue
    }

    // MARK: Icons

    /// Decides whether an icon that is due comes from an upstream or its origin.
    ///
    /// `refreshSpread` is the longest random delay before an image that an upstream gave is requested from its origin;
    /// `nil` if the image came from there. `mayPoll` says whether upstreams can be polled now.
    package mutating func decide(
        for icon: SoughtIcon, refreshSpread: Duration?, mayPoll: Bool, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> SourceDecision {
        // The icon is queued or in flight already: the same request is returned.
        let url = icon.url
        if let request = requests[url] { return .take(queue: request.url.description) }
        var failure: SourceDecision?
        var missEnd: Timestamp?
        var isBlocked = false
        for upstream in upstreams {
            guard let entry = upstream.index?[url] else { continue }
            let freshUntil = upstream.freshUntil(settings.maxAge) ?? now
            switch entry {
            case .pending: continue
            case .failed(let code):
                guard code.isSharedByMachines, freshUntil > now, failure == nil else { continue }
                failure = .failed(FetchFailure(code, upstream.report(of: code)), until: freshUntil)
            case .ready(let file):
                guard icon.accepts(file.sha256) else { continue }
                if let image = icon.image {
                    // A stale manifest neither confirms nor replaces an image.
                    guard freshUntil > now else { continue }
                    if image == file.sha256 {
                        waits[url] = nil
                        return .confirmed(SourceAnswer(upstream.url, freshUntil: freshUntil, at: now))
                    }
                }
                if upstream.breaker.isOpen {
                    isBlocked = true
                } else if let end = upstream.missEnd(of: file, at: now) {
                    missEnd = min(missEnd ?? end, end)
                } else {
                    let request = UpstreamRequest(url: upstream.url, file: file)
                    requests[url] = request
                    return .take(queue: request.url.description)
                }
            }
        }
        if let failure, missEnd == nil, !isBlocked {
            waits[url] = nil
            failed.insert(url)
            return failure
        }
        // An image that was lost, or that a list asks for since, does not wait for as long as a refresh.
        if let wait = waits[url], !wait.isLast {
            let isTooLong = refreshSpread == nil && wait.end > now + settings.wait + settings.spread
            if isTooLong || wait.isRefresh && !wait.isOver && !icon.isRefresh { waits[url] = nil }
        }
        var wait = waits[url] ?? newWait(for: icon, refreshSpread, at: now, using: &generator)
        (wait.isBlocked, wait.isRefresh) = (isBlocked, icon.isRefresh)
        let decision = originDecision(for: &wait, until: missEnd, mayPoll: mayPoll, at: now)
        wait.isOver = decision == .origin
        waits[url] = wait
        return decision
    }

    private mutating func newWait(
        for icon: SoughtIcon, _ refreshSpread: Duration?, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> Wait {
        var spread = settings.spread
        if icon.isRefresh {
            // All machines' copies become stale together.
            spread = max(spread, refreshSpread ?? .zero)
        } else {
            for index in upstreams.indices { upstreams[index].hurry(settings.poll, from: now, using: &generator) }
        }
        return Wait(end: now + settings.wait + spread * Double.random(in: 0...1, using: &generator))
    }

    /// Decides whether to use the origin.
    ///
    /// Upstreams that were not polled recently are polled first, because they may have the image by now; for a refresh,
    /// their usual polls suffice.
    private mutating func originDecision(
        for wait: inout Wait, until missEnd: Timestamp?, mayPoll: Bool, at now: Timestamp
    ) -> SourceDecision {
        guard settings.fallback == .origin else { return .wait(until: missEnd) }
        if wait.isOver { return .origin }
        if triesOnce { return isBeginning ? .wait(until: nil) : .origin }
        // The last poll has ended.
        if wait.isLast, mayPoll, !isPolling { return .origin }
        guard wait.end <= now else { return .wait(until: min(missEnd ?? wait.end, wait.end)) }
        guard mayPoll else { return .wait(until: missEnd) }
        if !wait.isLast {
            wait.isLast = true
            let age = wait.isRefresh ? settings.poll : min(Self.recently, settings.poll / Upstream.hurry)
            let start = now + (.zero - age)
            var isAsked = false
            for index in upstreams.indices {
                isAsked = upstreams[index].pollNow(unlessSince: start, at: now) || isAsked
            }
            if isAsked { wait.end = now + settings.totalTimeout }
        }
        return wait.end > now ? .wait(until: wait.end) : .origin
    }

    /// The upstream request of an icon that is queued or in flight; `nil` if it goes to its origin.
    package func request(for url: IconURL) -> (target: FetchTarget, copy: ImageCopy)? {
        requests[url].map { ($0.target, $0.copy) }
    }

    /// Whether an upstream request of the icon is queued or in flight.
    package func isTaking(_ url: IconURL) -> Bool { requests[url] != nil }

    /// Whether responses with this URL came from an upstream, present or former.
    package func gave(responseFrom url: @autoclosure () -> String?) -> Bool {
        guard !isEmpty || !memos.isEmpty, let url = url() else { return false }
        return memos[url] != nil || upstreams.contains { $0.url.folder.url == url }
    }

    /// Whether an upstream has another image for the icon, and can be requested now.
    package func canDeliver(_ icon: SoughtIcon, at now: Timestamp) -> Bool {
        upstreams.contains { upstream in
            guard !upstream.breaker.isOpen, case .ready(let file)? = upstream.index?[icon.url],
                icon.accepts(file.sha256), file.sha256 != icon.image,
                !icon.hasImage || upstream.isFresh(settings.maxAge, at: now)
            else { return false }
            return upstream.missEnd(of: file, at: now) == nil
        }
    }

    /// An upstream's rendition of an image, chosen by `isFit`; `nil` if no upstream has one.
    ///
    /// A rendition depends only on the digest of its original, so that of a stale manifest is as good.
    package func rendition(
        of original: Digest, pixels: Int, where isFit: (UpstreamRendition) -> Bool
    ) -> UpstreamRequest? {
        for upstream in upstreams where !upstream.breaker.isOpen {
            guard let found = upstream.index?.rendition(of: original, pixels: pixels), isFit(found) else { continue }
            return UpstreamRequest(url: upstream.url, file: found.file)
        }
        return nil
    }

    /// Until when a failure counts that an upstream reported before the agent started or the settings changed, and that
    /// was not read since; `nil` if there is no such upstream.
    package func reportEnd(of failure: RepeatedFailure, at now: Timestamp) -> Timestamp? {
        upstreams.lazy.filter { $0.index == nil && $0.report(of: failure.code) == failure.message }
            .compactMap { $0.end(of: settings.maxAge) }.first { $0 > now }
    }

    /// The number of icons without an image that wait.
    package var waitingCount: Int { waits.count { !$0.value.isOver && !$0.value.isRefresh } }

    /// Whether icons without an image wait.
    package var hasWaiting: Bool { waits.values.contains { !$0.isOver && !$0.isRefresh } }

    package func isWaiting(_ url: IconURL) -> Bool { waits[url]?.isOver == false && requests[url] == nil }

    package func originTime(of url: IconURL) -> Timestamp? { waits[url]?.end }

    /// The upstream, present or former, that gave an image; `nil` if its origin did.
    func source(ofResponseFrom url: String?) -> Upstream? {
        if let present = upstreams.first(where: { $0.url.folder.url == url }) { return present }
        guard let url, let memo = memos[url], let former = UpstreamURL(url) else { return nil }
        return Upstream(former, accepted: memo, clockOffset: clockOffset, firstPoll: .distantPast)
    }

    /// Whether a manifest of each upstream was accepted, in this run or an earlier one.
    package var haveAllAnswered: Bool { upstreams.allSatisfy { memos[$0.url.description] != nil } }

    /// The last accepted manifests, sorted by upstream.
    package var accepted: [UpstreamMemo] { memos.values.sorted { $0.url < $1.url } }

    private mutating func updateBreaker(ofUpstreamAt place: Int) {
        if upstreams[place].breaker.isOpen { opened.insert(upstreams[place].url) }
    }

    /// Removes and returns the icons queued or in flight at upstreams whose circuit breakers have opened.
    package mutating func drainBlocked() -> [IconURL] {
        guard !opened.isEmpty else { return [] }
        defer { opened = [] }
        return requests.filter { opened.contains($0.value.url) }.map(\.key)
    }

    package mutating func drop(_ url: IconURL) { requests[url] = nil }

    /// Forgets an icon that is unreferenced, or whose wait is over.
    package mutating func forget(_ url: IconURL) {
        // Returns early, as nearly always: even a look-up in an empty dictionary hashes the key.
        if requests.isEmpty, waits.isEmpty, failed.isEmpty { return }
        requests[url] = nil
        waits[url] = nil
        failed.remove(url)
        releaseRoom()
    }

    private mutating func releaseRoom() {
        if requests.isEmpty, requests.capacity > 0 { requests = [:] }
        if waits.isEmpty, waits.capacity > 0 { waits = [:] }
    }

    /// Ends an icon's wait now, at a user's request, also that for an upstream which did not deliver its image.
    package mutating func waive(_ url: IconURL, at now: Timestamp) {
        guard !isEmpty else { return }
        waits[url, default: Wait(end: now)].end = now
        for place in upstreams.indices {
            if case .ready(let file)? = upstreams[place].index?[url] { upstreams[place].endMiss(of: file, at: now) }
        }
    }

    /// Ends a request to an upstream; `nil` if the request was to an origin.
    package mutating func finish(
        _ url: IconURL, _ outcome: FetchOutcome, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> SourceEnd? {
        guard !requests.isEmpty, let request = requests.removeValue(forKey: url) else { return nil }
        defer { releaseRoom() }
        guard let place = upstreams.firstIndex(where: { $0.url == request.url }) else { return .goOn }
        switch outcome {
        case .image(let staged, _) where staged.image.sha256 == request.file.sha256:
            upstreams[place].recordImage(request.file)
            waits[url] = nil
            return .image(
                SourceAnswer(
                    request.url, freshUntil: upstreams[place].freshUntil(settings.maxAge) ?? now, at: now))
        case .image, .failed:
            let failure = if case .failed(let failure) = outcome { failure } else { FetchFailure.copyMismatch }
            if failure.code == FetchFailure.copyMismatch.code, !request.bypassesCaches {
                var again = request
                again.bypassesCaches = true
                requests[url] = again
                return .again
            }
            if UpstreamVerdict(failure) == .rejected { return .rejected }
            upstreams[place].recordFailure(failure, of: request.file, settings, at: now, using: &generator)
            updateBreaker(ofUpstreamAt: place)
            return .goOn
        case .notModified, .noRoom, .cancelled: return .goOn
        }
    }
}
