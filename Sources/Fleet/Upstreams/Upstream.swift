// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// What is known of one upstream.
struct Upstream: Sendable {
    let url: UpstreamURL
    /// The manifest that was accepted last, also by an earlier run.
    private(set) var accepted: UpstreamMemo?
    /// What it says of icons; `nil` before its manifest was accepted in this run.
    private(set) var index: UpstreamIndex?
    /// How far the wall clock is ahead of the agent's: manifests have the time of a wall clock.
    private var clockOffset: Duration
    private var validators: Validators?
    /// The documents that a poll brought which failed.
    private var found: [Digest: UpstreamDocument] = [:]
    private(set) var breaker = CircuitBreaker()
    /// An image that it did not deliver.
    private struct Miss: Sendable {
        var count = 0
        /// Until when it is not asked for the image.
        var end = Timestamp.distantPast
    }

    private var misses: [Digest: Miss] = [:]
    /// How many there are before those are forgotten whose time is over.
    private var missLimit = 1000
    /// Why its manifest was not accepted the last time, or why it refuses this machine; `nil` if it is well.
    private(set) var failure: UpstreamFailure?

    // MARK: Polls

    private(set) var isPolling = false
    /// Whether somebody wants another look after the one that is under way.
    private var isWanted = false
    /// When the last look began.
    private(set) var lastPoll: Timestamp?
    /// When the manifest is requested next.
    private(set) var nextPoll: Timestamp
    /// How many looks failed in a row.
    private(set) var failedPolls = 0
    /// How many looks there were since the last icon began to wait.
    private var hurriedPolls = 0
    /// Whether the next look is to pass by the caches on the way.
    private var bypassesCaches = false
    /// When a look last did because a manifest was refused.
    private var lastBypass: Timestamp?
    /// Whether a look did since this manifest was accepted, because an image is missing that it names.
    private var hasBypassed = false

    init(_ url: UpstreamURL, accepted: UpstreamMemo?, clockOffset: Duration = .zero, firstPoll: Timestamp) {
        self.url = url
        self.clockOffset = clockOffset
        self.accepted = accepted
        nextPoll = firstPoll
    }

    /// How many looks there are while icons wait, at first, in the time from one look to the next otherwise.
    static let hurry = 15.0
    /// The same of the time within which the first one follows.
    static let haste = 90.0

    /// Asks soon because icons begin to wait: within a ninetieth of `poll`, then after a fifteenth, and ever later.
    mutating func hurry(_ poll: Duration, from now: Timestamp, using generator: inout some RandomNumberGenerator) {
        hurriedPolls = 0
        let delay = poll / Self.haste
        guard !isPolling, nextPoll > now + delay else { return }
        let start = max(now, lastPoll.map { $0 + delay } ?? now)
        nextPoll = min(nextPoll, start + delay * Double.random(in: 0...1, using: &generator))
        waitForBreaker()
    }

    /// Asks now, unless it was asked since a time.
    ///
    /// - Returns: Whether it is asked.
    mutating func pollNow(unlessSince time: Timestamp, at now: Timestamp) -> Bool {
        if isPolling { return true }
        guard lastPoll.map({ $0 < time }) ?? true, !breaker.isOpen else { return false }
        nextPoll = min(nextPoll, now)
        return true
    }

    /// Asks now because somebody wants it, even if its circuit breaker is open; but once a second at most.
    ///
    /// A look that is under way may have read an older manifest: another one follows, unless that one fails.
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
        waitForBreaker()
    }

    private mutating func waitForBreaker() {
        if let probe = breaker.probe { nextPoll = max(nextPoll, probe) }
    }

    /// Begins a look if one is due.
    mutating func takePoll(_ keys: [PublicKey], epoch: Int, at now: Timestamp) -> UpstreamPoll? {
        guard !isPolling, nextPoll <= now else { return nil }
        isPolling = true
        lastPoll = now
        hurriedPolls += 1
        if bypassesCaches { lastBypass = now }
        defer { bypassesCaches = false }
        return UpstreamPoll(
            url: url, validators: index == nil ? nil : validators, bypassesCaches: bypassesCaches, accepted: accepted,
            index: index, keys: keys, found: found, epoch: epoch)
    }

    /// A look ended; if icons wait, the next one follows sooner.
    mutating func end(
        _ outcome: UpstreamAnswer.Outcome, _ settings: UpstreamSettings, isHurried: Bool, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        isPolling = false
        if case .failed = outcome { failedPolls += 1 } else { failedPolls = 0 }
        switch outcome {
        case .unchanged(let new):
            failure = nil
            validators = new ?? validators
            breaker.close(after: settings.breakMax, at: now)
        case .accepted(let contents):
            failure = nil
            breaker.close(after: settings.breakMax, at: now)
            // Of another generation, what was missing may be there.
            misses = [:]
            hasBypassed = false
            found = [:]
            (accepted, index, validators) = (contents.memo, contents.index, contents.validators)
        case .failed(let failure, let found):
            self.failure = failure
            self.found = found
            switch failure.cause {
            case .request(let cause): note(UpstreamVerdict(cause), settings, at: now, using: &generator)
            // It answers; perhaps with an old copy in a cache on the way.
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

    /// Has caches on the way ask the server the next time, if they were not told so of late.
    private mutating func askForNew(_ interval: Duration, at now: Timestamp) {
        guard lastBypass.map({ $0 + interval <= now }) ?? true else { return }
        bypassesCaches = true
    }

    private mutating func note(
        _ verdict: UpstreamVerdict, _ settings: UpstreamSettings, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        switch verdict {
        case .miss, .rejected, .unknown: break
        case .configuration:
            let delay = settings.breakMax * Double.random(in: 0.5...1, using: &generator)
            breaker.wait(delay, atMost: settings.breakMax, from: now)
        case .wait(let delay): breaker.wait(delay, atMost: settings.breakMax, from: now)
        case .unavailable: breaker.noteFailure(settings, at: now, using: &generator)
        }
    }

    // MARK: Images

    /// An image came.
    mutating func noteImage() { breaker.reset() }

    /// An image did not come: it is not asked for again for a while.
    mutating func noteFailure(
        _ failure: FetchFailure, of file: UpstreamFile, _ settings: UpstreamSettings, at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        let verdict = UpstreamVerdict(failure)
        noteMiss(of: file, settings, at: now)
        note(verdict, settings, at: now, using: &generator)
        switch verdict {
        case .miss:
            // The manifest names it: perhaps a newer one does not.
            guard !hasBypassed else { break }
            (hasBypassed, bypassesCaches) = (true, true)
            // All machines that want the image miss it together.
            let delay = settings.missTTL / 6 * Double.random(in: 0...1, using: &generator)
            nextPoll = min(nextPoll, now + delay)
        case .configuration: self.failure = UpstreamFailure(failure)
        case .wait, .unavailable: if breaker.isOpen { self.failure = UpstreamFailure(failure) }
        case .rejected, .unknown: break
        }
        // The probe of an open circuit breaker.
        if let probe = breaker.probe { nextPoll = probe }
    }

    private mutating func noteMiss(of file: UpstreamFile, _ settings: UpstreamSettings, at now: Timestamp) {
        if misses.count >= missLimit {
            misses = misses.filter { $0.value.end > now }
            missLimit = max(1000, 2 * misses.count)
        }
        var miss = misses[file.sha256] ?? Miss()
        let longest = max(settings.poll, settings.missTTL)
        miss.end = now + min(settings.missTTL * (1 << min(miss.count, 20)), longest)
        miss.count += 1
        misses[file.sha256] = miss
    }

    /// Until when an image is not asked for; `nil` if it may be.
    func missEnd(of file: UpstreamFile, at now: Timestamp) -> Timestamp? {
        misses[file.sha256].flatMap { $0.end > now ? $0.end : nil }
    }

    // MARK: The clock

    /// The wall clock was set: it is so far ahead of the agent's now.
    ///
    /// A manifest that turns out to be of the future, and was accepted in this run by a wrong clock, keeps no other one out.
    mutating func setClock(_ offset: Duration, at now: Timestamp) {
        clockOffset = offset
        if index != nil, let memo = accepted, memo.isAhead(of: now + offset) { accepted = nil }
        if failure?.cause == .refusal(.ahead) { pollOnDemand(at: now) }
    }

    // MARK: What it says

    /// Until when its manifest counts for freshness and failures, by the agent's clock; `nil` if there is none in this run.
    func freshUntil(_ maxAge: Duration) -> Timestamp? { index == nil ? nil : end(of: maxAge) }

    /// When the manifest that was accepted last becomes as old as that, by the agent's clock.
    func end(of maxAge: Duration) -> Timestamp? { accepted.map { $0.published + (maxAge - clockOffset) } }

    func isFresh(_ maxAge: Duration, at now: Timestamp) -> Bool { freshUntil(maxAge).map { $0 > now } ?? false }
}
