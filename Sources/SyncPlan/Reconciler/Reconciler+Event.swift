// SPDX-License-Identifier: Apache-2.0
package import IconCache

extension Reconciler {
    /// What happened.
    package enum Event: Sendable {
        /// The lists folder was looked at.
        case scanned(ListScan)
        /// A download ended; with the way there if it was not straight, and whether all its answers came over HTTP/2 if that
        /// is known.
        case fetched(url: String, FetchOutcome, trail: FetchTrail? = nil, isMultiplexed: Bool? = nil)
        /// A publication ended.
        case published(PublicationResult)
        /// The evictor tried to take the files of generations away; some may be leased by readers.
        case released((removed: [Int], kept: [Int]))
        /// The evictor has removed what it was given.
        case removed
        /// The cache's file system was looked at; a failure tells why the trial could not be written.
        case space(Result<DiskSpace, Shortage>)
        /// Downloads are to be begun no more, or again; what is under way goes on.
        case paused(Bool)
        /// Images on disk are not what they were.
        case damaged(Set<Digest>)
        /// A URL is to be kept although no list names it, or no more.
        case pin(url: String, isPinned: Bool)
        /// What is retired is to go without its grace; if it is confirmed, also what is held.
        case evict(isConfirmed: Bool)
        /// Somebody waits for icons: those that are queued go before all others.
        case awaited([String])
        /// The agent is to end: no download is begun any more, and what was downloaded is published.
        case stopping
        /// Time has passed.
        case tick
    }

    mutating func apply(_ event: Event, now: Timestamp, to actions: inout [Action]) {
        switch event {
        case .scanned(let scan):
            applyScan(scan, now: now, to: &actions)
        case .fetched(let url, let outcome, let trail, let isMultiplexed):
            let origin = queue.finish(url)
            if let origin, let isMultiplexed { queue.setMultiplexed(origin, isMultiplexed) }
            if let origin { noteOutcome(outcome, of: origin, now: now) }
            applyOutcome(outcome, trail, of: url, now: now, to: &actions)
        case .published(let result):
            applyPublication(result, now: now, to: &actions)
        case .released(let release):
            applyRelease(release, now: now)
        case .removed:
            applyRemoval(now: now)
        case .damaged(let images):
            noteDamage(images, now: now)
        case .pin(let url, let isPinned):
            pin(url, isPinned, now: now, to: &actions)
        case .evict(let isConfirmed):
            evictNow(isConfirmed: isConfirmed, now: now)
        case .space(let found):
            applySpace(found, now: now)
        case .stopping:
            isStopping = true
            // What is held is older by the time that this run took.
            if brake.heldNow != nil { isHoldUnremembered = true }
            actions += queue.activeURLs.map { .cancel(url: $0) }
        case .paused(let isPaused):
            pause(isPaused, now: now)
        case .awaited(let urls):
            for url in urls { queue.raise(url) }
        case .tick:
            break
        }
    }

    // MARK: Lists

    private mutating func applyScan(_ scan: ListScan, now: Timestamp, to actions: inout [Action]) {
        let isFirst = !hasScanned
        hasScanned = true
        lastScan = now
        switch scan {
        case .unavailable(let reason):
            unavailable = reason
        case .listed(let folder, let present, let changed):
            unavailable = accept(folder, isEmpty: present.isEmpty, now: now)
            if unavailable != nil { break }
            if manifest == nil, publishing == nil { window.noteChange(at: now) }
            applyListing(present: present, changed: changed, now: now, to: &actions)
        }
        if isFirst {
            for url in catalog.icons.keys { consider(url, now: now) }
            if unavailable == nil { brakeAtStart(now: now) }
        }
    }

    private mutating func applyListing(
        present: Set<String>, changed: [String: ListReading], now: Timestamp, to actions: inout [Action]
    ) {
        var added: Set<String> = []
        var reconsidered: Set<String> = []
        var removed: Set<String> = []
        let shown = catalog.shownImages
        for name in catalog.lists.keys where !present.contains(name) && name != Self.pinList {
            let wasPublished = catalog.lists[name]?.published != nil
            let diff = catalog.removeList(name)
            dirtyLists.remove(name)
            if wasPublished { window.noteChange(at: now) }
            removed.formUnion(diff.removed)
        }
        for (name, reading) in changed where present.contains(name) {
            switch reading.verdict {
            case .failure(let rejection):
                if catalog.lists[name]?.source == nil {
                    _ = catalog.setList(name, ListRecord(state: .rejected(rejection)))
                } else {
                    catalog.updateList(name) { $0.state = .lastGood(rejection) }
                }
            case .success(let read):
                let list = catalog.spelledApart(read)
                let old = catalog.lists[name]
                let record = ListRecord(
                    state: .ok, source: reading.source, entries: list.entries, problems: list.problems,
                    published: old?.published)
                let diff = catalog.setList(name, record)
                if old?.source != record.source || old?.entries != record.entries { markDirty(name, now: now) }
                added.formUnion(diff.added)
                reconsidered.formUnion(diff.expected.keys)
                removed.formUnion(diff.removed)
            }
        }
        listDoubt = doubt(about: present)
        brake(removed: removed, shown: shown, now: now)
        take(IconDiff(added: added, removed: removed), now: now, to: &actions)
        for url in reconsidered {
            forgetMismatch(url, now: now)
            consider(url, now: now)
        }
    }

    /// Acts on what lists name now and what they name no more.
    mutating func take(_ diff: IconDiff, now: Timestamp, to actions: inout [Action]) {
        // What one list drops another one may have taken up: a renamed list cancels nothing.
        for url in diff.removed where catalog.icons[url]?.isReferenced == false {
            dereference(url, now: now, to: &actions)
        }
        for url in diff.added { consider(url, now: now) }
        discardUnnamedPartials(to: &actions)
    }

    /// Why it is not known what all lists name: one of them could not be read, for a reason that may pass.
    private func doubt(about present: Set<String>) -> String? {
        for name in present.sorted() {
            guard let list = catalog.lists[name] else { return "\(name) is still being written" }
            if let rejection = list.rejection, !ListVerdict.failure(rejection).isOfTheFile {
                return "\(name): \(rejection.message)"
            }
        }
        return nil
    }

    /// Has an icon asked for at once whose image was not what the lists said, because they say something else now.
    private mutating func forgetMismatch(_ url: String, now: Timestamp) {
        guard catalog.icons[url]?.failure?.code == FetchFailure.digestMismatch.code else { return }
        catalog.updateIcon(url) { $0.failure?.nextAttempt = now }
    }

    /// The last list that named a URL is gone: whatever is under way for it ends, and what is on disk is retired.
    private mutating func dereference(_ url: String, now: Timestamp, to actions: inout [Action]) {
        guard let icon = catalog.icons[url] else { return }
        switch icon.phase {
        case .idle: break
        case .queued:
            queue.remove(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        case .fetching: actions.append(.cancel(url: url))
        case .crowdedOut:
            space.forget(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        }
        if let staged = icon.staged, publishing?.staged[url] == nil {
            stagedURLs.remove(url)
            catalog.updateIcon(url) { $0.staged = nil }
            actions.append(.discard([staged.name]))
        }
        forgetIfDone(url, now: now)
    }

    /// Forgets an icon that no list names and of which nothing is on disk or under way.
    mutating func forgetIfDone(_ url: String, now: Timestamp) {
        guard let icon = catalog.icons[url], !icon.isReferenced, icon.image == nil, icon.staged == nil,
            icon.phase == .idle
        else { return }
        catalog.forgetIcon(url)
        remember(url, now: now)
    }

    // MARK: Downloads

    private mutating func applyOutcome(
        _ outcome: FetchOutcome, _ trail: FetchTrail?, of url: String, now: Timestamp, to actions: inout [Action]
    ) {
        guard let icon = catalog.icons[url] else {
            preconditionFailure("an icon is not forgotten while it is being fetched")
        }
        let before = icon.state
        let isDistrusted = distrusted.remove(url) != nil
        catalog.updateIcon(url) {
            $0.phase = .idle
            if outcome != .cancelled { $0.trail = trail }
        }
        let judged = judged(outcome, of: url)
        if case .image(let staged, _) = outcome, judged != outcome { actions.append(.discard([staged.name])) }
        switch judged {
        case .cancelled: break
        case .notModified(let answer): noteNotModified(url, answer, now: now)
        case .image(let staged, let response):
            if icon.isReferenced, staged.image.sha256 != icon.image?.sha256, !isDistrusted {
                catalog.updateIcon(url) {
                    $0.staged = staged
                    $0.stagedResponse = response
                }
                stagedURLs.insert(url)
            } else {
                actions.append(.discard([staged.name]))
                if staged.image.sha256 == icon.image?.sha256 {
                    noteFresh(url, response, now: now)
                } else if icon.isReferenced {
                    noteFailure(FetchFailure("disk", "a publication failed meanwhile", .passing), of: url, now: now)
                }
            }
        case .failed(let failure): noteFailure(failure, of: url, now: now)
        case .noRoom(let shortage): crowdOut(url, shortage, now: now)
        }
        notePartial(of: url, after: outcome, isTrusted: !isDistrusted, to: &actions)
        noteState(of: url, was: before, now: now)
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }

    /// The end of a download, held against what the lists say of the image.
    package func judged(_ outcome: FetchOutcome, of url: String) -> FetchOutcome {
        guard let icon = catalog.icons[url] else { return outcome }
        let image: Digest? =
            switch outcome {
            case .image(let staged, _): staged.image.sha256
            case .notModified: icon.image?.sha256
            case .failed, .noRoom, .cancelled: nil
            }
        guard let image, !icon.accepts(image) else { return outcome }
        return .failed(.digestMismatch)
    }

    mutating func noteFresh(_ url: String, _ response: StoredResponse, now: Timestamp) {
        let check = NextCheck(for: response, under: refreshPolicy, using: &generator)
        catalog.updateIcon(url) {
            $0.failure = nil
            $0.wasMissing = false
            $0.response = response
            $0.freshUntil = check.time
        }
        remember(url, now: now)
    }

    private mutating func noteNotModified(_ url: String, _ answer: StoredResponse, now: Timestamp) {
        let freshening = catalog.icons[url]?.response?.freshened(
            by: answer.fields, requestTime: answer.requestTime, responseTime: answer.responseTime)
        switch freshening {
        case .updated(let response): noteFresh(url, response, now: now)
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

    mutating func noteFailure(_ failure: FetchFailure, of url: String, now: Timestamp) {
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

    /// Marks the lists of an icon whose documents tell of it otherwise than it is now.
    mutating func noteState(of url: String, was before: AppListDocument.State, now: Timestamp) {
        guard let icon = catalog.icons[url], icon.state != before else { return }
        for list in icon.lists { markDirty(list, now: now) }
    }

    mutating func markDirty(_ list: String, now: Timestamp) {
        dirtyLists.insert(list)
        window.noteChange(at: now)
    }

    mutating func rememberSoon(now: Timestamp) {
        if rememberAt == nil { rememberAt = now + .seconds(1) }
    }

    mutating func remember(_ url: String, now: Timestamp) {
        unremembered.insert(url)
        rememberSoon(now: now)
    }
}
