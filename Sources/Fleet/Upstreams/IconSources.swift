// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import HTTPRules

/// Whether an icon comes from an upstream or from its origin, and when each upstream is looked at.
package struct IconSources: Sendable {
    /// An icon that no upstream has.
    private struct Wait: Sendable {
        /// When its origin is asked, if none has it until then.
        var end: Timestamp
        /// Whether all upstreams are looked at for the last time before that.
        var isLast = false
        /// Whether it is over, and the origin is asked as if there were no upstreams.
        var isOver = false
        /// Whether an upstream has it, whose circuit breaker is open.
        var isBlocked = false
    }

    /// How old a look may be that counts as the last one, at most: as long as caches on the way keep a manifest.
    private static let recently: Duration = .seconds(60)

    package private(set) var settings: UpstreamSettings
    /// Whether nothing is waited for, because the run ends when all is done.
    private let triesOnce: Bool
    private(set) var upstreams: [Upstream] = []
    /// How far the wall clock is ahead of the agent's.
    private var clockOffset: Duration = .zero
    /// Another number whenever there are others: answers to earlier polls do not count.
    private var epoch = 0
    private var waits: [IconURL: Wait] = [:]
    /// The icons that failed because an upstream says so.
    private var failed: Set<IconURL> = []
    /// The images that are queued, or under way.
    private var requests: [IconURL: UpstreamRequest] = [:]
    /// The upstreams whose circuit breakers have opened, with icons that are queued for them.
    private var opened: Set<UpstreamURL> = []
    /// The manifests that were accepted for upstreams that may come back.
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

    /// Goes on with other settings.
    package mutating func configure(
        _ new: UpstreamSettings, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard new != settings else { return }
        let isKept = new.urls == settings.urls && new.publicKeys == settings.publicKeys
        settings = new
        waits = [:]
        failed = []
        guard !isKept else { return }
        epoch += 1
        // Somebody waits to see whether the new ones are right.
        setUpstreams(within: settings.poll / Upstream.haste, at: now, using: &generator)
    }

    private mutating func setUpstreams(
        within time: Duration, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        // The machines of a fleet that start together do not ask together.
        let delay = triesOnce ? .zero : time * Double.random(in: 0...1, using: &generator)
        var seen: Set<UpstreamURL> = []
        upstreams = settings.urls.filter { seen.insert($0).inserted }.map {
            Upstream($0, accepted: memos[$0.description], clockOffset: clockOffset, firstPoll: now + delay)
        }
    }

    /// Whether there are upstreams at all.
    package var isEmpty: Bool { upstreams.isEmpty }

    // MARK: Looks

    /// When something is due, if nothing happens before.
    package var nextWake: Timestamp? { upstreams.lazy.filter { !$0.isPolling }.map(\.nextPoll).min() }

    package var isPolling: Bool { upstreams.contains(where: \.isPolling) }

    /// Whether the first look at an upstream is still to end.
    package var isBeginning: Bool { upstreams.contains { $0.isPolling || $0.lastPoll == nil } }

    package mutating func takePolls(at now: Timestamp) -> [UpstreamPoll] {
        upstreams.indices.compactMap { upstreams[$0].takePoll(settings.publicKeys, epoch: epoch, at: now) }
    }

    /// Has all upstreams looked at now, because somebody asked for it.
    package mutating func pollNow(at now: Timestamp) {
        for index in upstreams.indices { upstreams[index].pollOnDemand(at: now) }
    }

    /// A look ended.
    ///
    /// - Returns: The icons to be looked at again: what upstreams say of them is new.
    package mutating func end(
        _ answer: UpstreamAnswer, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [IconURL] {
        // It may have been configured away meanwhile.
        guard answer.epoch == epoch, let place = upstreams.firstIndex(where: { $0.url == answer.url }) else {
            return []
        }
        let wasFresh = upstreams[place].isFresh(settings.maxAge, at: now)
        upstreams[place].end(
            answer.outcome, settings, isHurried: hasWaiting, at: now, using: &generator)
        noteBreaker(ofUpstreamAt: place)
        var changes: [IconURL] = []
        if case .accepted(let contents) = answer.outcome {
            memos[contents.memo.url] = contents.memo
            // What failed by its word may be named no more.
            changes = contents.changes + failed
            failed = []
            // What a stale manifest said did not count.
            if !wasFresh { return changes + waits.keys }
        }
        return changes + waits.filter { $0.value.isLast || $0.value.isBlocked || triesOnce }.map(\.key)
    }

    /// Has all upstreams judged by a clock that is so far ahead of the agent's.
    package mutating func moveClock(to offset: Duration, at now: Timestamp) {
        clockOffset = offset
        for place in upstreams.indices {
            upstreams[place].setClock(offset, at: now)
            if upstreams[place].accepted == nil { memos[upstreams[place].url.description] = nil }
        }
    }

    /// Takes the icons that wait, or that failed by the word of an upstream: another one may have them.
    package mutating func takeUndecided() -> [IconURL] {
        defer { failed = [] }
        return Array(failed.union(waits.keys))
    }

    /// Goes on after a time in which no upstream could be looked at: what waited for its last look has a new one.
    ///
    /// - Returns: The icons to be looked at again.
    package mutating func resume(at now: Timestamp, using generator: inout some RandomNumberGenerator) -> [IconURL] {
        guard hasWaiting else { return [] }
        pollNow(at: now)
        let overdue = waits.filter { !$0.value.isOver && ($0.value.isLast || $0.value.end <= now) }.keys.sorted()
        for url in overdue {
            // The machines of a fleet go on together.
            let delay = settings.spread * Double.random(in: 0...1, using: &generator)
            waits[url] = Wait(end: now + delay, isBlocked: waits[url]?.isBlocked ?? false)
        }
        return overdue
    }

    // MARK: Icons

    /// Decides where an icon comes from that is due.
    ///
    /// - Parameters:
    ///   - icon: The icon.
    ///   - refreshSpread: The longest random delay before the origin of an icon with an image is asked.
    ///   - mayPoll: Whether upstreams can be looked at now.
    ///   - now: The present time.
    ///   - generator: The source of jitter.
    /// - Returns: Where it comes from.
    package mutating func decide(
        for icon: SoughtIcon, refreshSpread: Duration, mayPoll: Bool, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> SourceDecision {
        // It is asked for once more.
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
                let cause = FetchFailure(code, "the upstream \(upstream.url) reports \(code)")
                failure = .failed(cause, until: freshUntil)
            case .ready(let file):
                guard icon.accepts(file.sha256) else { continue }
                if let image = icon.image {
                    // What is stale confirms nothing, and takes the place of nothing.
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
        // Images of a fleet are stale together when what they came from is: their origins are asked over a longer time.
        let spread = icon.hasImage ? max(settings.spread, refreshSpread) : settings.spread
        var wait = waits[url] ?? newWait(spread: spread, at: now, using: &generator)
        wait.isBlocked = isBlocked
        let decision = originDecision(for: &wait, until: missEnd, mayPoll: mayPoll, at: now)
        wait.isOver = decision == .origin
        waits[url] = wait
        return decision
    }

    /// An icon begins to wait.
    private mutating func newWait(
        spread: Duration, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> Wait {
        for index in upstreams.indices { upstreams[index].hurry(settings.poll, from: now, using: &generator) }
        return Wait(end: now + settings.wait + spread * Double.random(in: 0...1, using: &generator))
    }

    /// Decides whether the origin of an icon is asked that waits.
    ///
    /// All upstreams are asked before that if they were not of late: what the machine waited for may have come.
    private mutating func originDecision(
        for wait: inout Wait, until missEnd: Timestamp?, mayPoll: Bool, at now: Timestamp
    ) -> SourceDecision {
        guard settings.fallback == .origin else { return .wait(until: missEnd) }
        if wait.isOver { return .origin }
        if triesOnce { return isBeginning ? .wait(until: nil) : .origin }
        // The last look has ended.
        if wait.isLast, mayPoll, !isPolling { return .origin }
        guard wait.end <= now else { return .wait(until: min(missEnd ?? wait.end, wait.end)) }
        guard mayPoll else { return .wait(until: missEnd) }
        if !wait.isLast {
            wait.isLast = true
            let start = now + (.zero - min(Self.recently, settings.poll / Upstream.hurry))
            var isAsked = false
            for index in upstreams.indices {
                isAsked = upstreams[index].pollNow(unlessSince: start, at: now) || isAsked
            }
            if isAsked { wait.end = now + settings.totalTimeout }
        }
        return wait.end > now ? .wait(until: wait.end) : .origin
    }

    /// The request of an icon that is queued, or under way; `nil` if it goes to its origin.
    package func request(for url: IconURL) -> (target: FetchTarget, copy: ImageCopy)? {
        requests[url].map { ($0.target, $0.copy) }
    }

    /// Whether a copy of the icon is requested, or is about to be.
    package func isTaking(_ url: IconURL) -> Bool { requests[url] != nil }

    /// Whether a response is from an upstream in use.
    package func gave(_ response: StoredResponse) -> Bool { source(of: response) != nil }

    /// Whether an upstream has an image of the icon that it can be asked for now.
    ///
    /// - Parameters:
    ///   - icon: The icon.
    ///   - now: The present time.
    /// - Returns: Whether one has.
    package func canDeliver(_ icon: SoughtIcon, at now: Timestamp) -> Bool {
        upstreams.contains { upstream in
            guard !upstream.breaker.isOpen, case .ready(let file)? = upstream.index?[icon.url],
                icon.accepts(file.sha256), file.sha256 != icon.image,
                !icon.hasImage || upstream.isFresh(settings.maxAge, at: now)
            else { return false }
            return upstream.missEnd(of: file, at: now) == nil
        }
    }

    /// How many icons wait for an upstream.
    package var waitingCount: Int { waits.count { !$0.value.isOver } }

    /// Whether any do.
    package var hasWaiting: Bool { waits.values.contains { !$0.isOver } }

    package func isWaiting(_ url: IconURL) -> Bool { waits[url]?.isOver == false && requests[url] == nil }

    /// When the origin of an icon is asked that waits.
    package func originTime(of url: IconURL) -> Timestamp? { waits[url]?.end }

    /// The upstream that an image came from; `nil` if it came from elsewhere.
    func source(of response: StoredResponse) -> Upstream? { upstreams.first { $0.url.folder.url == response.url } }

    /// A response that was stored, with the text of an upstream's URL that is in memory anyway.
    package func sharing(_ response: StoredResponse) -> StoredResponse {
        upstreams.reduce(response) { $0.sharing($1.url.folder.url) }
    }

    /// The manifests that were accepted, by the URL of their upstream.
    package var accepted: [UpstreamMemo] { memos.values.sorted { $0.url < $1.url } }

    private mutating func noteBreaker(ofUpstreamAt place: Int) {
        if upstreams[place].breaker.isOpen { opened.insert(upstreams[place].url) }
    }

    /// Takes the icons that are queued, or under way, for upstreams whose circuit breakers have opened.
    package mutating func takeBlocked() -> [IconURL] {
        guard !opened.isEmpty else { return [] }
        defer { opened = [] }
        return requests.filter { opened.contains($0.value.url) }.map(\.key)
    }

    /// A request is not made.
    package mutating func drop(_ url: IconURL) { requests[url] = nil }

    /// Forgets an icon that no list names, or that has what it waited for.
    package mutating func forget(_ url: IconURL) {
        requests[url] = nil
        waits[url] = nil
        failed.remove(url)
        releaseRoom()
    }

    /// Keeps no room for icons that are not there any more.
    private mutating func releaseRoom() {
        if requests.isEmpty, requests.capacity > 0 { requests = [:] }
        if waits.isEmpty, waits.capacity > 0 { waits = [:] }
    }

    /// Asks the origin without waiting, because somebody asked for the icon now.
    package mutating func waive(_ url: IconURL, at now: Timestamp) {
        if !isEmpty { waits[url, default: Wait(end: now)].end = now }
    }

    /// A request to an upstream ended.
    ///
    /// - Returns: What came of it.
    package mutating func finish(
        _ url: IconURL, _ outcome: FetchOutcome, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> SourceEnd? {
        guard let request = requests.removeValue(forKey: url) else { return nil }
        defer { releaseRoom() }
        guard let place = upstreams.firstIndex(where: { $0.url == request.url }) else { return .goOn }
        switch outcome {
        case .image(let staged, _) where staged.image.sha256 == request.file.sha256:
            upstreams[place].noteImage()
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
            if UpstreamVerdict(failure) == .rejected { return .rejected(failure) }
            upstreams[place].noteFailure(failure, of: request.file, settings, at: now, using: &generator)
            noteBreaker(ofUpstreamAt: place)
            return .goOn
        case .notModified, .noRoom, .cancelled: return .goOn
        }
    }
}
