// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules

// Requests and their outcomes.
extension IconBook {
    /// Requests an icon from a source or its origin, or lets it wait.
    mutating func supply(_ id: IconID, _ reason: FetchReason, in turn: inout Turn) {
        let url = catalog.icons.url(of: id)
        guard isRequested(url) else { return }
        let icon = catalog.icons[id].icon
        guard !sources.isEmpty, !icon.isInline else {
            return enqueue(id, at: url, reason, from: nil, in: &turn)
        }
        // Another image that a list asks for is not a refresh.
        let isCopy =
            sources.gave(responseFrom: catalog.icons.responseURL(of: id))
            && catalog.images.digest(icon.image).map(icon.accepts) == true
        let decision = sources.decide(
            for: icon.sought(at: url, in: catalog.images), refreshSpread: isCopy ? settings.refresh.default : nil,
            mayPoll: downloads.mayStart, at: turn.now, using: &turn.generator)
        switch decision {
        case .take(let queue): enqueue(id, at: url, reason, from: queue, in: &turn)
        case .origin: enqueue(id, at: url, reason, from: nil, in: &turn)
        case .wait(var time):
            if let failure = catalog.icons[id].icon.failure, failure.attempts == 0 {
                if let end = sources.reportEnd(of: failure, at: turn.now) {
                    time = min(time ?? end, end)
                } else {
                    // An upstream reported the failure. None does any more, or the image of another one is on its way.
                    apply(.withdrawn, to: id, in: &turn)
                }
            }
            let lack = sources.lack(of: url)
            if catalog.icons[id].icon.sourceLack != lack { apply(.lacking(lack), to: id, in: &turn) }
            if let time { schedule(id, at: time, in: &turn) }
        case .confirmed(let answer): apply(.confirmed(IconRecord.Answer(answer, of: url)), to: id, in: &turn)
        case .failed(let failure, let time):
            // Only attempts of this machine count, and none failed.
            let failure = IconRecord.Failure(
                code: failure.code, message: failure.message, attempts: 0, nextAttempt: time)
            apply(.failed(failure), to: id, in: &turn)
        }
    }

    /// Queues an icon for download; `copies` is the queue of the source, `nil` for the origin.
    private mutating func enqueue(
        _ id: IconID, at url: IconURL, _ reason: FetchReason, from copies: String?, in turn: inout Turn
    ) {
        do {
            let source = try settings.network.source(of: url)
            // A source has its own queue, even if icons also come from its server.
            let origin = copies ?? source.origin
            let list = catalog.shortestList(naming: id)
            downloads.queue.add(url, origin: origin, list: list, priority: reason.priority)
            apply(.queued(source, origin: origin), to: id, in: &turn)
        } catch {
            sources.forget(url)
            apply(.failed(repeated(error, of: url, in: &turn)), to: id, in: &turn)
        }
    }

    mutating func startDownloads(in turn: inout Turn) {
        guard space.isOpen, !isHeldUp else { return }
        // Refused icons leave their slots to others.
        while case let urls = downloads.start(), !urls.isEmpty {
            for url in urls { start(url, in: &turn) }
        }
    }

    private mutating func start(_ url: IconURL, in turn: inout Turn) {
        guard let id = catalog.icons.id(of: url),
            case .queued(let source, _) = catalog.icons[id].icon.phase
        else { preconditionFailure("the queue has the icons whose phase says so") }
        let absence = sources.isTaking(url) ? nil : absence(of: url)
        if let refusal = absence ?? (catalog.icons[id].icon.hasImage ? nil : refusal(of: url)) {
            _ = downloads.finish(EndedDownload(url: url, .cancelled), ofOrigin: false, in: &turn)
            sources.drop(url)
            apply(.started, to: id, in: &turn)
            return apply(.ended(.failed(repeated(refusal, of: url, in: &turn)), trail: nil), to: id, in: &turn)
        }
        var request = FetchRequest(
            url: url, source: source, reason: catalog.icons[id].icon.fetchReason, mayResume: false)
        request.lists = catalog.icons[id].icon.lists
        if let (target, copy) = sources.request(for: url) {
            (request.source, request.copy) = (.server(target), copy)
        } else {
            request.room = room(for: id)
            let icon = catalog.icons[id].icon
            // A cache on the way may have the image that lacks the digest for as long as it likes.
            request.bypassesCaches = icon.isFullRequested || icon.failure?.code == .fetch(.digestMismatch)
            // A validator is for an image to be used again.
            if let image = catalog.images.digest(icon.image), icon.accepts(image), !request.bypassesCaches {
                request.condition = catalog.icons.response(of: id)?.unpacked.condition(at: turn.now)
            }
            request.mayResume =
                request.condition == nil && partials.mayResume(url, after: icon.failure) && cuts.mayResume(url)
        }
        apply(.started, to: id, in: &turn)
        begin(request, in: &turn)
    }

    // MARK: Outcomes

    /// Applies the end of a download; `mayWriteAhead` allows writing its image into the cache before it is published.
    mutating func applyFetch(_ download: EndedDownload, mayWriteAhead: Bool, in turn: inout Turn) {
        let url = download.url
        var ended = download
        let copied = sharedDownloads.endCopy(for: url)
        if let copied { ended.trail = catalog.icons[copied]?.trail }
        if copied == nil, !sources.isTaking(url) {
            let last: FetchFailure.Code? =
                if case .failed = ended.outcome { catalog.icons[url]?.failure?.code } else { nil }
            ended.outcome = cuts.record(ended.outcome, of: url, after: last, at: turn.now)
        }
        let isRefused = endDownload(ended, isRequest: copied == nil, mayWriteAhead: mayWriteAhead, in: &turn)
        turn.ended.append(isRefused ? EndedDownload(url: url, .failed(.digestMismatch)) : download)
        share(ended, isCopy: copied != nil, in: &turn)
    }

    /// Ends a download; no request was sent if the image, or the failure, came with the download of another icon.
    ///
    /// Returns whether the digests that lists give differ from that of the image.
    @discardableResult
    mutating func endDownload(
        _ ended: EndedDownload, isRequest: Bool = true, mayWriteAhead: Bool = false, in turn: inout Turn
    ) -> Bool {
        let (url, outcome) = (ended.url, ended.outcome)
        guard let id = catalog.icons.id(of: url), case let icon = catalog.icons[id].icon else {
            preconditionFailure("an icon is not forgotten while it is being fetched")
        }
        let isCopy = sources.isTaking(url)
        let last = isCopy ? nil : icon.failure?.code
        let isRefused = !accepts(outcome, of: icon)
        let isInvalid = downloads.finish(ended, after: last, ofOrigin: !isCopy, isRequest: isRequest, in: &turn)
        let (isOver, answer) = endSupply(outcome, of: url, in: &turn)
        guard isOver else {
            requeueBlocked(in: &turn)
            apply(.cancelled, to: id, in: &turn)
            return isRefused
        }
        // A full request does not continue a partial image.
        let isUseful = !isInvalid && icon.isReferenced && icon.fullRequest != .wanted
        if partials.record(outcome, of: url, isRequest: isRequest, isUseful: isUseful) {
            discardParts([url], in: &turn)
        }
        let judged = isRefused ? .failed(.digestMismatch) : outcome
        guard let end = end(judged, of: url, icon, isInvalid: isInvalid, isRequest: isRequest, answer, in: &turn)
        else {
            apply(.cancelled, to: id, in: &turn)
            return false
        }
        if case .image(let staged, _) = outcome {
            if case .staged(let new, _) = end {
                publishing.staged.insert(id)
                if mayWriteAhead, !catalog.images[new.image].isKnown {
                    turn.actions.append(.writeAhead(staged, naming: icon.hasImage ? nil : url))
                }
            } else {
                turn.run(.discard([staged.name]))
            }
        }
        // The hops to a copy follow from its digest.
        let shared = isCopy ? nil : catalog.share(ended.trail?.leavingOut(url))
        apply(.ended(end, trail: shared), to: id, in: &turn)
        if icon.isAwaited, icon.isReferenced, case .failed(let failure) = end, failure.nextAttempt == turn.now {
            apply(.awaited, to: id, in: &turn)
        }
        if case .noRoom(let shortage) = outcome {
            recordShortage(shortage, of: url, isWanted: icon.isReferenced, at: turn.now)
        }
        for other in downloads.drainLoginIcons() { updateLogin(of: other, in: &turn) }
        return isRefused
    }

    /// Whether the image that an outcome brings or confirms has one of the digests that lists give.
    private func accepts(_ outcome: FetchOutcome, of icon: IconRecord) -> Bool {
        switch outcome {
        case .image(let staged, _): icon.accepts(staged.image.sha256)
        case .notModified: catalog.images.digest(icon.image).map(icon.accepts) ?? true
        case .failed, .noRoom, .cancelled: true
        }
    }

    /// Changes the failure of a new icon into that of a network's login, or retries the icon once there is none.
    private mutating func updateLogin(of url: IconURL, in turn: inout Turn) {
        guard let icon = catalog.icons[url], icon.phase == .idle, icon.isReferenced, !icon.hasImage,
            let last = icon.failure
        else { return }
        let hasLogin = last.code == .fetch(.networkLogin)
        if !downloads.networkLogin.isSuspected(at: turn.now) {
            if hasLogin { apply(.retried(turn.now), to: url, in: &turn) }
        } else if !hasLogin, last.code.persistence != .passing {
            var failure = repeated(.networkLogin, of: url, in: &turn)
            failure.attempts = last.attempts
            apply(.failed(failure), to: url, in: &turn)
        }
    }

    /// Whether an icon that got the login page of a network is requested again.
    func awaitsLogin(_ id: IconID) -> Bool {
        let icon = catalog.icons[id].icon
        guard icon.isReferenced, icon.failure?.code == .fetch(.networkLogin), isRequested(catalog.icons.url(of: id))
        else { return false }
        return switch icon.phase {
        case .idle, .queued, .fetching: true
        case .blocked, .staged: false
        }
    }

    /// Requests other icons in place of probes for a network's login that are not requested any more.
    mutating func replaceLoginProbes(in turn: inout Turn) {
        // Repeated, because one of the new probes may end at once.
        while case let probes = downloads.replaceLoginProbes(in: &turn), !probes.isEmpty {
            for (url, time) in probes where catalog.icons[url]?.phase == .idle {
                apply(.retried(time), to: url, in: &turn)
            }
        }
    }

    /// The event of an icon that follows from an outcome; `nil` if its download was cancelled.
    private mutating func end(
        _ outcome: FetchOutcome, of url: IconURL, _ icon: IconRecord, isInvalid: Bool, isRequest: Bool,
        _ answer: IconRecord.Answer?, in turn: inout Turn
    ) -> IconEvent.End? {
        let change = outdated.isEmpty ? nil : outdated.removeValue(forKey: url)
        switch outcome {
        case .cancelled: return nil
        case .failed(let failure):
            let refusal: FetchFailure? =
                if let bytes = failure.imageBytes { self.refusal(of: url, bytes: bytes) } else { nil }
            let isLogin =
                !icon.hasImage && downloads.networkLogin.isLogin(NetworkLogin.Answer(outcome), at: turn.now)
            var repeated = repeated(isLogin ? .networkLogin : refusal ?? failure, of: url, in: &turn)
            // There is more room than there was for the request.
            if failure.imageBytes != nil, refusal == nil { repeated.nextAttempt = turn.now }
            if change?.mayEnd(failure.code, of: url, isOwn: true) == true {
                repeated.nextAttempt = turn.now
                probeOrigin(of: url, after: failure.code, in: &turn)
            }
            return .failed(repeated)
        case .noRoom: return icon.isReferenced ? .blocked : .discarded
        case .notModified(let answer):
            let known = catalog.icons.response(of: url)?.unpacked
            guard case .updated(let response) = known?.freshened(by: answer), !icon.isFullRequested else {
                // The answer is about another image, or a user wants a full download since the request was sent: request
                // it at once, without conditions.
                return .contradicted(turn.now)
            }
            return .confirmed(evaluate(response, of: url, in: &turn))
        case .image(let staged, let response):
            if staged.image.sha256 == catalog.images.digest(icon.image) {
                let new = response.bringingNothing(
                    after: catalog.icons.response(of: url)?.unpacked, under: refreshPolicy)
                return .confirmed(answer ?? evaluate(new, of: url, in: &turn))
            }
            guard icon.isReferenced else { return .discarded }
            let image = catalog.images.id(ofStaged: staged.image)
            if !icon.hasImage,
                let refusal = refusal(
                    of: url, bytes: staged.image.bytes, isOnDisk: !isRequest || catalog.images[image].isOnDisk)
            {
                return .failed(repeated(refusal, of: url, in: &turn))
            }
            if isInvalid {
                let failure = FetchFailure(.disk, "a publication failed meanwhile")
                return .failed(repeated(failure, of: url, in: &turn))
            }
            // Freshness is computed now: at the publication, all other icons would wait for it.
            let new = IconRecord.Staged(image: image, name: staged.name)
            return .staged(new, answer ?? evaluate(response, of: url, in: &turn))
        }
    }

    var refreshPolicy: RefreshPolicy {
        RefreshPolicy(minimum: settings.refresh.minimum, default: settings.refresh.default)
    }

    /// The freshness of an image by its response.
    private func evaluate(_ response: StoredResponse, of url: IconURL, in turn: inout Turn) -> IconRecord.Answer {
        let response = response.received(withWallClockAheadBy: turn.wallClock.offset)
        let check = NextCheck(for: response, under: refreshPolicy, using: &turn.generator)
        return IconRecord.Answer(response: PackedResponse(response).sharing(url.text), freshUntil: check.time)
    }

    /// A failure with the number of attempts, and the time of the next one.
    mutating func repeated(_ failure: FetchFailure, of url: IconURL, in turn: inout Turn) -> IconRecord.Failure {
        // Lasting failures are counted from the first one with the same code, 401 and 403 from the first status.
        let last = catalog.icons[url]?.failure
        let continues =
            switch failure.persistence {
            // After a cut download that brought bytes, the delay does not grow.
            case .passing, .momentary: failure.cut?.isProgress != true
            case .throttled: true
            case .lasting, .gone: last?.code == failure.code && last?.persistence != .momentary
            // Otherwise a server that alternates between statuses could request short delays for ever.
            case .forbidden: if case .http? = last?.code { true } else { false }
            case .refused: false
            }
        var earlier = continues ? last?.attempts ?? 0 : 0
        // Attempts of an outage before count; after another momentary failure, the delay is at most that of the first
        // lasting one.
        if failure.persistence == .momentary, let last, last.code != failure.code {
            let isMomentary = last.persistence == .momentary
            earlier = min(earlier, isMomentary ? Backoff.momentaryAttempts : Backoff.momentaryAttempts / 2)
        }
        let attempts = earlier + 1
        let delay: Duration?
        if failure.code == .fetch(.networkLogin) {
            let origin = (try? settings.network.source(of: url).origin) ?? ""
            delay = downloads.networkLogin.delay(of: url, from: origin, at: turn.now, using: &turn.generator)
        } else {
            delay = downloads.backoff.delay(after: failure, attempt: attempts, using: &turn.generator)
        }
        return IconRecord.Failure(
            code: failure.code, message: failure.message, attempts: attempts, nextAttempt: delay.map { turn.now + $0 },
            imageBytes: failure.imageBytes)
    }

    /// Discards partial images that were forgotten: the next ones begin anew.
    mutating func discardParts(_ urls: Set<IconURL>?, in turn: inout Turn) {
        guard let urls else { return }
        for url in urls { cuts.forget(url) }
        turn.run(.discardPartials(urls))
    }

    // MARK: Staged images

    /// Drops a staged image; it is downloaded again after a backoff, or when there is room.
    mutating func drop(
        _ staged: IconRecord.Staged, of id: IconID, because reason: String, isOutOfSpace: Bool, in turn: inout Turn
    ) {
        let (url, isWanted) = (catalog.icons.url(of: id), catalog.icons[id].icon.isReferenced)
        if isOutOfSpace {
            let shortage = Shortage(bytes: catalog.images.bytes(staged.image), isGeneral: true, reason: reason)
            apply(isWanted ? .blocked : .unstaged, to: id, in: &turn)
            recordShortage(shortage, of: url, isWanted: isWanted, at: turn.now)
        } else {
            apply(.failed(repeated(FetchFailure(.disk, reason), of: url, in: &turn)), to: id, in: &turn)
        }
    }

    /// Drops everything that is not published yet.
    ///
    /// A failed flush has tried to write all of it, and reports each error only once: the next flush would not report
    /// what this one lost.
    mutating func invalidateDownloads(because reason: String, isOutOfSpace: Bool = false, in turn: inout Turn) {
        downloads.invalidateActive()
        for id in publishing.unstageAll() {
            guard let staged = catalog.icons[id].icon.staged else { continue }
            turn.run(.discard([staged.name]))
            drop(staged, of: id, because: reason, isOutOfSpace: isOutOfSpace, in: &turn)
        }
        turn.discard(renditions.dropStaged())
        discardParts(partials.forget { [downloads] in !downloads.isInvalid($0) }, in: &turn)
    }

    /// Drops all staged images, and requests them again.
    mutating func dropStaged(in turn: inout Turn) {
        for id in publishing.unstageAll() { unstage(id, in: &turn) }
    }

    /// Drops the staged image of an icon, if it has one.
    mutating func unstage(_ id: IconID, in turn: inout Turn) {
        guard let staged = catalog.icons[id].icon.staged else { return }
        turn.run(.discard([staged.name]))
        apply(.unstaged, to: id, in: &turn)
    }
}
