// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

struct Upstream: Sendable {
    let url: UpstreamURL
    /// The last accepted manifest, possibly from an earlier run; `nil` while it is from the future.
    var accepted: UpstreamMemo? { isAhead ? nil : newest }
    private var newest: UpstreamMemo?
    /// Whether the last accepted manifest is from the future, by a clock that was set since.
    private var isAhead = false
    /// The content of the accepted manifest; `nil` until one was accepted in this run.
    private(set) var index: UpstreamIndex?
    /// How far the wall clock is ahead of the agent's clock; manifests have wall clock times.
    private var clockOffset: Duration
    private var validators: Validators?
    private var found: [Digest: UpstreamDocument] = [:]
    private(set) var breaker = CircuitBreaker()
    private struct Miss: Sendable {
        var count = 0
        var end = Timestamp.distantPast
        var failure: FetchFailure
    }

    private var misses: [Digest: Miss] = [:]
    /// The number of misses at which expired ones are removed.
    private var missLimit = 1000
    /// The reason why the last manifest was not accepted, or why the upstream refuses this machine; `nil` if neither is
    /// so.
    private(set) var failure: UpstreamFailure?

    // MARK: Polls

    private(set) var isPolling = false
    /// Whether another poll was requested during the current one.
    private var isWanted = false
    private(set) var lastPoll: Timestamp?
    private(set) var nextPoll: Timestamp
    private(set) var failedPolls = 0
    /// The number of polls since the last icon began to wait.
    private var hurriedPolls = 0
    private var bypassesCaches = false
    /// When a poll last bypassed HTTP caches because a manifest was refused.
    private var lastBypass: Timestamp?
    /// Whether a poll bypassed HTTP caches since this manifest was accepted, because an image that it names is missing.
    private var hasBypassed = false

    init(_ url: UpstreamURL, accepted: UpstreamMemo?, clockOffset: Duration = .zero, firstPoll: Timestamp) {
        self.url = url
        self.clockOffset = clockOffset
        newest = accepted
        nextPoll = firstPoll
    }

    /// The initial polling rate while icons wait, as a multiple of the normal rate.
    static let hurry = 15.0
    /// The divisor of `poll` that gives the longest delay of the first poll for a waiting icon.
    static let haste = 90.0

    /// Polls soon because icons begin to wait: within `poll` / 90, then after `poll` / 15, and then ever later.
    mutating func hurry(_ poll: Duration, from now: Timestamp, using generator: inout some RandomNumberGenerator) {
        hurriedPolls = 0
        let delay = poll / Self.haste
        guard !isPolling, nextPoll > now + delay else { return }
        let start = max(now, lastPoll.map { $0 + delay } ?? now)
        nextPoll = min(nextPoll, start + delay * Double.random(in: 0...1, using: &generator))
        waitForBreaker()
    }

    /// Polls now, unless the last poll was after `time`; returns whether a poll is due.
    mutating func pollNow(unlessSince time: Timestamp, at now: Timestamp) -> Bool {
        if isPolling { return true }
        guard lastPoll.map({ $0 < time }) ?? true, !breaker.isOpen else { return false }
        nextPoll = min(nextPoll, now)
        return true
    }

    /// Polls now because a user asked for it, even if the circuit breaker is open, but at most once a second.
    ///
    /// The current poll may have read an older manifest, so another one follows, unless the current one fails.
    mutating func pollOnDemand(at now: Timestamp) {
        isWanted = isPolling
        guard !isPolling else { return }
        nextPoll = min(nextPoll, max(now, lastPoll.map { $0 + .seconds(1) } ?? now))
    }

    private mutating func schedule(
        _ poll: Duration, isHurried: Bool, from now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        let gap = isHurried ? min(poll, poll / Self.hurry * Double(1 << min(max(hurriedPolls - 1, 0), 20))) : poll
        nextPoll = now + gap * Double.random(in: 0.9...1.1, using: &generator)
    }

    private mutating func waitForBreaker() {
        if let probe = breaker.probe { nextPoll = max(nextPoll, probe) }
    }

    mutating func beginPoll(_ settings: UpstreamSettings, epoch: Int, at now: Timestamp) -> UpstreamPoll? {
        guard !isPolling, nextPoll <= now else { return nil }
        isPolling = true
        lastPoll = now
        hurriedPolls += 1
        if bypassesCaches { lastBypass = now }
        defer { bypassesCaches = false }
        return UpstreamPoll(
            url: url, validators: index == nil ? nil : validators, bypassesCaches: bypassesCaches, accepted: accepted,
            index: index, settings: settings, found: found, epoch: epoch)
    }

    /// Ends a poll; if icons wait, the next one follows sooner.
    mutating func end(
        _ outcome: UpstreamAnswer.Outcome, _ settings: UpstreamSettings, isHurried: Bool, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        isPolling = false
        if case .failed = outcome { failedPolls += 1 } else { failedPolls = 0 }
        switch outcome {
        case .unchanged(let new):
            failure = nil
            // A file that was not requested again by now is no longer needed.
            misses = misses.filter { $0.value.end + settings.totalTimeout * 2 > now }
            validators = new ?? validators
            breaker.close(after: settings.breakMax, at: now)
        case .accepted(let contents):
            failure = nil
            breaker.close(after: settings.breakMax, at: now)
            // The new generation may have files that were missing.
            misses = [:]
            hasBypassed = false
            found = [:]
            (newest, index, validators) = (contents.memo, contents.index, contents.validators)
            isAhead = false
        case .failed(let failure, let found):
            self.failure = failure
            self.found = found
            switch failure.cause {
            case .request(let cause): record(UpstreamVerdict(cause), settings, at: now, using: &generator)
            // The upstream answers, but a cache on the way may have given an old copy.
            case .refusal:
                breaker.close(after: settings.breakMax, at: now)
                askForNew(settings.missTTL, at: now)
            case .agent: break
            }
        }
        schedule(settings.poll, isHurried: isHurried, from: now, using: &generator)
        if bypassesCaches { nextPoll = min(nextPoll, now + .seconds(1)) }
        waitForBreaker()
        if isWanted, failedPolls == 0 { pollOnDemand(at: now) }
        isWanted = false
    }

    /// Makes the next poll bypass HTTP caches on the way, unless one did recently.
    private mutating func askForNew(_ interval: Duration, at now: Timestamp) {
        guard lastBypass.map({ $0 + interval <= now }) ?? true else { return }
        bypassesCaches = true
    }

    private mutating func record(
        _ verdict: UpstreamVerdict, _ settings: UpstreamSettings, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        switch verdict {
        case .miss, .rejected, .unknown: break
        case .configuration:
            let delay = settings.breakMax * Double.random(in: 0.5...1, using: &generator)
            breaker.wait(delay, atMost: settings.breakMax, from: now)
        case .wait(let delay): breaker.wait(delay, atMost: settings.breakMax, from: now)
        case .unavailable: breaker.recordFailure(settings, at: now, using: &generator)
        }
    }

    // MARK: Images

    mutating func recordImage(_ file: UpstreamFile) {
        breaker.reset()
        misses[file.sha256] = nil
    }

    /// Records that an image did not arrive; it is not requested again for a while.
    mutating func recordFailure(
        _ failure: FetchFailure, of file: UpstreamFile, _ settings: UpstreamSettings, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        let verdict = UpstreamVerdict(failure)
        recordMiss(of: file, failure, settings, at: now)
        record(verdict, settings, at: now, using: &generator)
        switch verdict {
        case .miss:
            // The manifest names the image, but a newer manifest may not.
            guard !hasBypassed else { break }
            (hasBypassed, bypassesCaches) = (true, true)
            // Random delay: all machines of a fleet that need the image miss it together.
            let delay = settings.missTTL / 6 * Double.random(in: 0...1, using: &generator)
            nextPoll = min(nextPoll, now + delay)
        case .configuration: self.failure = UpstreamFailure(failure)
        case .wait, .unavailable: if breaker.isOpen { self.failure = UpstreamFailure(failure) }
        case .rejected, .unknown: break
        }
        // The next poll is the probe of an open circuit breaker.
        if let probe = breaker.probe { nextPoll = probe }
    }

    private mutating func recordMiss(
        of file: UpstreamFile, _ failure: FetchFailure, _ settings: UpstreamSettings, at now: Timestamp
    ) {
        if misses.count >= missLimit {
            misses = misses.filter { $0.value.end > now }
            missLimit = max(1000, 2 * misses.count)
        }
        var miss = misses[file.sha256] ?? Miss(failure: failure)
        miss.failure = failure
        let longest = max(settings.poll, settings.missTTL)
        miss.end = now + min(settings.missTTL * (1 << min(miss.count, 20)), longest)
        miss.count += 1
        misses[file.sha256] = miss
    }

    /// When a missing image may be requested again; `nil` if it may be now.
    func missEnd(of file: UpstreamFile, at now: Timestamp) -> Timestamp? {
        misses[file.sha256].flatMap { $0.end > now ? $0.end : nil }
    }

    /// Allows an image that did not arrive to be requested at once.
    mutating func endMiss(of file: UpstreamFile, at now: Timestamp) {
        if let end = missEnd(of: file, at: now) { misses[file.sha256]?.end = min(end, now) }
    }

    /// Why an image did not arrive; `nil` if it was not requested, or arrived since.
    func missFailure(of file: UpstreamFile) -> FetchFailure? { misses[file.sha256]?.failure }

    var hasMisses: Bool { !misses.isEmpty }

    /// The number of images that did not arrive, and the failure of the last one; `nil` if there are none.
    ///
    /// O(*n*) in their number.
    var undelivered: (images: Int, failure: FetchFailure)? {
        misses.max { ($0.value.end, $0.key) < ($1.value.end, $1.key) }.map { (misses.count, $0.value.failure) }
    }

    /// The message of an icon's failure that the upstream reports.
    func report(of code: FetchFailure.Code) -> String { "the upstream \(url) reports \(code)" }

    // MARK: The clock

    /// Handles a change of the wall clock; `offset` is how far it is ahead of the agent's clock.
    ///
    /// A manifest that was accepted with a wrong clock may turn out to be from the future; then it keeps no others from
    /// being accepted, until the clock is set right if the present one is the wrong one.
    mutating func setClock(_ offset: Duration, at now: Timestamp) {
        clockOffset = offset
        isAhead = index != nil && newest?.isAhead(of: now + offset) == true
        let isOfClock =
            switch failure?.cause {
            case .refusal(.ahead): true
            case .request(let failure): failure.code.dependsOnClock
            case .agent, .refusal, nil: false
            }
        if isOfClock { pollOnDemand(at: now) }
    }

    // MARK: Freshness

    /// Until when the manifest counts for freshness and failures, by the agent's clock; `nil` if none was accepted in
    /// this run.
    func freshUntil(_ maxAge: Duration) -> Timestamp? { index == nil ? nil : end(of: maxAge) }

    /// When the last accepted manifest reaches the age `maxAge`, by the agent's clock.
    func end(of maxAge: Duration) -> Timestamp? { accepted.map { $0.published + (maxAge - clockOffset) } }

    func isFresh(_ maxAge: Duration, at now: Timestamp) -> Bool { freshUntil(maxAge).map { $0 > now } ?? false }
}
