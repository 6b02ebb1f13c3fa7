// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules

// What becomes of each icon.
extension Reconciler {
    /// Puts an icon in the queue if it is due, or notes when it will be.
    mutating func consider(_ url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url) else { return }
        switch FetchPlan(for: catalog.icons[place].icon, now: now) {
        case .fetch(let reason): supply(url, reason, now: now)
        case .fresh(let time), .waiting(let time): noteDue(url, at: time)
        case .refused, .inline, .unreferenced, .underWay: break
        }
    }

    /// Notes when an icon is looked at again.
    mutating func noteDue(_ url: IconURL, at time: Timestamp) {
        // A list that comes and goes must not leave a note each time.
        guard let place = catalog.icons.index(of: url), catalog.icons[place].icon.noted != time else { return }
        catalog.updateIcon(at: place) { $0.noted = time }
        downloads.note(url, dueAt: time, amongst: catalog.tally.noted) { [catalog] in catalog.icons[$0]?.noted }
    }

    /// Considers all icons at the start; a refused URL is judged again, because another version may allow it.
    mutating func considerAll(now: Timestamp) {
        var notes: [(url: IconURL, time: Timestamp)] = []
        notes.reserveCapacity(catalog.icons.count)
        // By number: a collection is copied that changes while somebody goes through it.
        for index in catalog.icons.indices {
            let (url, icon) = (catalog.icons[index].url, catalog.icons[index].icon)
            switch FetchPlan(for: icon, now: now) {
            case .fresh(let time) where icon.noted == nil, .waiting(let time) where icon.noted == nil:
                catalog.updateIcon(at: index) { $0.noted = time }
                notes.append((url, time))
            case .refused:
                catalog.updateIcon(at: index) { $0.failure?.nextAttempt = now }
                consider(url, now: now)
            case .fetch, .fresh, .waiting: consider(url, now: now)
            case .inline, .unreferenced, .underWay: break
            }
        }
        downloads.note(notes)
    }

    /// Judges again what other settings may judge otherwise: what waits for its turn, and what failed because of them.
    ///
    /// With other sources, that is every icon which waits for something.
    mutating func judgeAgain(all: Bool, now: Timestamp) {
        for index in catalog.icons.indices {
            let (url, icon) = (catalog.icons[index].url, catalog.icons[index].icon)
            if case .queued = icon.phase {
                downloads.remove(url)
                sources.drop(url)
                catalog.updateIcon(at: index) { $0.phase = .idle }
            } else if icon.failure?.code.dependsOnSettings == true {
                catalog.updateIcon(at: index) { $0.failure?.nextAttempt = now }
            } else if all, icon.phase == .idle {
                if icon.failure?.attempts == 0 { catalog.updateIcon(at: index) { $0.failure?.nextAttempt = now } }
            } else {
                continue
            }
            consider(url, now: now)
        }
    }

    /// Has an icon wait for its turn.
    ///
    /// - Parameters:
    ///   - url: The icon.
    ///   - reason: Why it is asked for.
    ///   - copies: The queue of the cache that a copy comes from; `nil` for the origin.
    ///   - now: The present time.
    mutating func enqueue(_ url: IconURL, _ reason: FetchReason, from copies: String?, now: Timestamp) {
        do {
            let source = try settings.network.source(of: url)
            // A cache that copies come from has a queue of its own, also if icons come from its server, too.
            let origin = copies ?? source.origin
            downloads.add(url, origin: origin, for: catalog.shortestList(naming: url), reason.priority)
            catalog.updateIcon(url) { $0.phase = .queued(source, origin: origin) }
        } catch {
            sources.forget(url)
            let before = catalog.icons[url]?.state ?? .pending
            noteFailure(error, of: url, now: now)
            noteState(of: url, was: before, now: now)
        }
    }

    mutating func startDownloads(to actions: inout [Action]) {
        for url in downloads.start() {
            guard let place = catalog.icons.index(of: url), case let icon = catalog.icons[place].icon,
                case .queued(let source, _) = icon.phase
            else { preconditionFailure("the queue has the icons whose phase says so") }
            catalog.updateIcon(at: place) { $0.phase = .fetching }
            if let (target, copy) = sources.request(for: url) {
                actions.append(
                    .fetch(
                        FetchRequest(
                            url: url, source: .server(target), reason: icon.fetchReason, mayResume: false,
                            copy: copy)))
                continue
            }
            let condition = icon.image == nil ? nil : icon.response?.condition
            actions.append(
                .fetch(
                    FetchRequest(
                        url: url, source: source, reason: icon.fetchReason, condition: condition,
                        mayResume: condition == nil && partials.mayResume(url, after: icon.failure))))
        }
    }

    /// Marks the lists of an icon whose documents tell of it otherwise than it is now.
    mutating func noteState(of url: IconURL, was before: AppListDocument.State, now: Timestamp) {
        guard let place = catalog.icons.index(of: url), catalog.icons[place].icon.state != before else { return }
        for list in catalog.icons[place].icon.lists { publishing.noteChange(of: list, at: now) }
    }

    mutating func applyFetch(
        _ outcome: FetchOutcome, _ trail: FetchTrail?, isMultiplexed: Bool?, of url: IconURL, now: Timestamp,
        to actions: inout [Action]
    ) {
        let isCopy = sources.isTaking(url)
        let isInvalid = downloads.finish(
            url, outcome, isMultiplexed: isMultiplexed, ofOrigin: !isCopy, at: now, using: &generator,
            noting: &unstored)
        guard let (outcome, answer) = end(outcome, of: url, now: now, to: &actions) else {
            catalog.updateIcon(url) { $0.phase = .idle }
            requeueBlocked(now: now)
            consider(url, now: now)
            return forgetIfDone(url, now: now)
        }
        guard let place = catalog.icons.index(of: url) else {
            preconditionFailure("an icon is not forgotten while it is being fetched")
        }
        let before = catalog.icons[place].icon.state
        let isReferenced = catalog.icons[place].icon.isReferenced
        let image = catalog.icons[place].icon.image?.sha256
        // The way to a copy follows from its digest.
        let shared = isCopy ? nil : catalog.share(trail?.leavingOut(url))
        let judged = judged(outcome, ofIconAt: place)
        var news: (image: StagedImage, answer: IconRecord.Answer)?
        if case .image(let staged, let response) = judged, isReferenced, staged.image.sha256 != image, !isInvalid {
            // Judged now, and not when it is published: then all others wait for it.
            news = (staged, answer ?? judge(response))
            publishing.stage(url)
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
                if cache.isSearched, !retention.ledger.knows(staged.image.sha256) {
                    actions.append(.writeAhead(staged))
                }
            } else {
                actions.append(.background(.discard([staged.name])))
                if staged.image.sha256 == image {
                    noteRecovery(of: url)
                    noteFresh(url, answer ?? judge(response), now: now)
                } else if isReferenced {
                    noteFailure(FetchFailure(.disk, "a publication failed meanwhile"), of: url, now: now)
                }
            }
        case .failed(let failure):
            if case .image(let staged, _) = outcome { actions.append(.background(.discard([staged.name]))) }
            noteFailure(failure, of: url, now: now)
        case .noRoom(let shortage): waitForSpace(url, shortage, now: now)
        }
        let isUseful = !isInvalid && catalog.icons[url]?.isReferenced == true
        if partials.note(url, after: outcome, isUseful: isUseful) {
            actions.append(.background(.discardPartials([url])))
        }
        noteState(of: url, was: before, now: now)
        consider(url, now: now)
        forgetIfDone(url, now: now)
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
        let response = answer.response.sharing(url.text)
        catalog.updateIcon(url) {
            change(&$0)
            $0.failure = nil
            $0.wasMissing = false
            $0.response = response
            $0.freshUntil = answer.freshUntil
        }
        unstored.note(icon: url, at: now)
    }

    private mutating func noteNotModified(_ url: IconURL, _ answer: StoredResponse, now: Timestamp) {
        let freshening = catalog.icons[url]?.response?.freshened(
            by: answer.fields, requestTime: answer.requestTime, responseTime: answer.responseTime)
        switch freshening {
        case .updated(let response):
            noteRecovery(of: url)
            noteFresh(url, judge(response), now: now)
        case .contradicted, .unasked, nil:
            // The answer is about another image: the next request is sent at once, and without conditions.
            catalog.updateIcon(url) {
                $0.response = nil
                $0.freshUntil = now
            }
        }
    }

    var refreshPolicy: RefreshPolicy {
        RefreshPolicy(minimum: settings.refresh.minimum, default: settings.refresh.default)
    }

    mutating func noteFailure(_ failure: FetchFailure, of url: IconURL, now: Timestamp) {
        // What is likely to last is counted from its own first time, and not from that of the troubles before it.
        let last = catalog.icons[url]?.failure
        let goesOn =
            switch failure.persistence {
            case .passing, .throttled: true
            case .lasting, .forbidden, .gone: last?.code == failure.code
            case .refused: false
            }
        let attempts = goesOn ? (last?.attempts ?? 0) + 1 : 1
        let delay = downloads.backoff.delay(after: failure, attempt: attempts, using: &generator)
        let new = IconRecord.Failure(
            code: failure.code, message: failure.message, attempts: attempts, nextAttempt: delay.map { now + $0 })
        catalog.updateIcon(url) { $0.failure = new }
        unstored.note(icon: url, at: now)
        tell(new, after: last, of: url)
    }

    /// Takes note of images whose files are not what they were: they are fetched again, and until then no manifest names
    /// them.
    ///
    /// - Returns: Whether any icon has one of them.
    @discardableResult
    mutating func noteDamage(_ images: Set<Digest>, now: Timestamp) -> Bool {
        guard !images.isEmpty else { return false }
        var found: Set<Digest> = []
        var lists: Set<ListName> = []
        for element in catalog.icons {
            let (url, icon) = (element.url, element.icon)
            guard let image = icon.image, images.contains(image.sha256) else { continue }
            retention.noteDamage(of: image, shownBy: url)
            found.insert(image.sha256)
            let before = icon.state
            catalog.updateIcon(url) {
                $0.image = nil
                $0.response = nil
                $0.wasMissing = true
            }
            unstored.note(icon: url, at: now)
            noteState(of: url, was: before, now: now)
            lists.formUnion(icon.lists)
            consider(url, now: now)
            forgetIfDone(url, now: now)
        }
        catalog.forgetOrphans(of: images)
        let dropped = dropPrevious(images, now: now)
        lists.formUnion(dropped.lists)
        found.formUnion(dropped.images)
        let outdated = publishing.noteDamage(of: images, shownBy: lists, in: catalog, retention.ledger, at: now)
        for list in outdated { retryDocument(of: list) }
        // Not what was damaged before: new files may be in its place by now.
        retention.noteMissing(found)
        return !found.isEmpty
    }

    /// Takes note that there is no room for an icon: it stays what it is, and is asked for when there is.
    ///
    /// Nothing of this is published, which would take room, too.
    mutating func waitForSpace(_ url: IconURL, _ shortage: Shortage, now: Timestamp) {
        let isWanted = catalog.icons[url]?.isReferenced ?? false
        if isWanted { catalog.updateIcon(url) { $0.phase = .waitingForSpace } }
        if isWanted || shortage.isGeneral { space.note(shortage, of: isWanted ? url : nil, at: now) }
    }
}
