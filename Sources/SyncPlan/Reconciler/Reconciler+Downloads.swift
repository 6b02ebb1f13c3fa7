// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension Reconciler {
    mutating func applyOutcome(
        _ outcome: FetchOutcome, _ trail: FetchTrail?, of url: IconURL, now: Timestamp, to actions: inout [Action]
    ) {
        guard let place = catalog.icons.index(of: url) else {
            preconditionFailure("an icon is not forgotten while it is being fetched")
        }
        let before = catalog.icons[place].icon.state
        let isReferenced = catalog.icons[place].icon.isReferenced
        let image = catalog.icons[place].icon.image?.sha256
        let isDistrusted = distrusted.remove(url) != nil
        let shared = share(trail?.leavingOut(url))
        let judged = judged(outcome, ofIconAt: place)
        var news: (image: StagedImage, answer: IconRecord.Answer)?
        if case .image(let staged, let response) = judged, isReferenced, staged.image.sha256 != image, !isDistrusted {
            // Judged now, and not when it is published: then all others wait for it.
            news = (staged, judge(response))
            stagedURLs.insert(url)
        }
        catalog.updateIcon(at: place) {
            $0.phase = .idle
            if case .cancelled = outcome {} else { $0.trail = shared }
            if let news { ($0.staged, $0.stagedAnswer) = news }
        }
        switch judged {
        case .cancelled: break
        case .notModified(let answer): noteNotModified(url, answer, now: now)
        case .image(let staged, let response):
            if news != nil {
                // Before the first look at the folder, what is there and nobody names would be removed by it.
                if isCacheSearched, !ledger.knows(staged.image.sha256) { actions.append(.writeAhead(staged)) }
            } else {
                actions.append(.discard([staged.name]))
                if staged.image.sha256 == image {
                    noteFresh(url, judge(response), now: now)
                } else if isReferenced {
                    noteFailure(FetchFailure("disk", "a publication failed meanwhile", .passing), of: url, now: now)
                }
            }
        case .failed(let failure):
            if case .image(let staged, _) = outcome { actions.append(.discard([staged.name])) }
            noteFailure(failure, of: url, now: now)
        case .noRoom(let shortage): crowdOut(url, shortage, now: now)
        }
        notePartial(of: url, after: outcome, isTrusted: !isDistrusted, to: &actions)
        noteState(of: url, was: before, now: now)
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }

    /// The trail as it is kept: most are the same but for the icon's own URL, and are in memory once.
    mutating func share(_ trail: FetchTrail?) -> FetchTrail? {
        guard let trail else { return nil }
        if lastTrail != trail { lastTrail = trail }
        return lastTrail
    }

    /// The end of a download, held against what the lists say of the image.
    package func judged(_ outcome: FetchOutcome, of url: IconURL) -> FetchOutcome {
        catalog.icons.index(of: url).map { judged(outcome, ofIconAt: $0) } ?? outcome
    }

    private func judged(_ outcome: FetchOutcome, ofIconAt place: Int) -> FetchOutcome {
        let image: Digest? =
            switch outcome {
            case .image(let staged, _): staged.image.sha256
            case .notModified: catalog.icons[place].icon.image?.sha256
            case .failed, .noRoom, .cancelled: nil
            }
        guard let image, !catalog.icons[place].icon.accepts(image) else { return outcome }
        return .failed(.digestMismatch)
    }

    /// What a response says of an image, in time.
    private mutating func judge(_ response: StoredResponse) -> IconRecord.Answer {
        let check = NextCheck(for: response, under: refreshPolicy, using: &generator)
        return IconRecord.Answer(response: response, freshUntil: check.time)
    }

    /// Takes note of what a server said of the image of an icon.
    ///
    /// - Parameters:
    ///   - url: The icon.
    ///   - answer: What the server said.
    ///   - now: The present time.
    ///   - change: Changes the icon's record first.
    mutating func noteFresh(
        _ url: IconURL, _ answer: IconRecord.Answer, now: Timestamp, _ change: (inout IconRecord) -> Void = { _ in }
    ) {
        let response = answer.response.sharing(url)
        catalog.updateIcon(url) {
            change(&$0)
            $0.failure = nil
            $0.wasMissing = false
            $0.response = response
            $0.freshUntil = answer.freshUntil
        }
        remember(url, now: now)
    }

    private mutating func noteNotModified(_ url: IconURL, _ answer: StoredResponse, now: Timestamp) {
        let freshening = catalog.icons[url]?.response?.freshened(
            by: answer.fields, requestTime: answer.requestTime, responseTime: answer.responseTime)
        switch freshening {
        case .updated(let response): noteFresh(url, judge(response), now: now)
        case .contradicted, .unasked, nil:
            // The answer is about another image: the next request is sent at once, and without conditions.
            catalog.updateIcon(url) {
                $0.response = nil
                $0.freshUntil = now
            }
        }
    }

    private var refreshPolicy: RefreshPolicy {
        RefreshPolicy(minimum: settings.refresh.minimum, default: settings.refresh.default)
    }

    mutating func noteFailure(_ failure: FetchFailure, of url: IconURL, now: Timestamp) {
        // What is likely to last is counted from its own first time, and not from that of the troubles before it.
        let last = catalog.icons[url]?.failure
        let goesOn = failure.persistence == .passing || failure.persistence == .throttled || last?.code == failure.code
        let attempts = goesOn ? (last?.attempts ?? 0) + 1 : 1
        let delay = backoff.delay(after: failure, attempt: attempts, using: &generator)
        catalog.updateIcon(url) {
            $0.failure = IconRecord.Failure(
                code: failure.code, message: failure.message, attempts: attempts, nextAttempt: delay.map { now + $0 })
        }
        remember(url, now: now)
    }
}
