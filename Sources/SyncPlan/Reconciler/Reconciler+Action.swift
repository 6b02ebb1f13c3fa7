// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HeapModule
import WebAddresses

extension Reconciler {
    /// What is to be done.
    ///
    /// Each one but `writeAhead`, `discard`, `discardPartials`, `remember` and `cancel` ends with an event.
    package enum Action: Sendable {
        /// Download an icon; ends with `.fetched`.
        case fetch(FetchRequest)
        /// No list names the URL any more: end its download, which then ends with `.fetched` as `.cancelled`.
        case cancel(url: IconURL)
        /// Write a staged image into `icons/` ahead of its publication: no generation names it yet.
        case writeAhead(StagedImage)
        /// Remove staged images.
        case discard([String])
        /// Remove what is kept in `staging/` of these URLs' images, for downloads that will not go on.
        case discardPartials(Set<IconURL>)
        /// Publish a generation; ends with `.published`.
        case publish(Publication)
        /// Take the files of generations away, those excepted that readers hold a lease on; ends with `.released`.
        case release([GenerationRelease])
        /// Remove what no generation names; ends with `.removed`.
        case remove(RetirementPlan)
        /// See what is free on the cache's file system, and whether a file of so many bytes can be written; ends with
        /// `.space`.
        case measureSpace(trial: Int)
        /// List the lists folder again; ends with `.scanned`.
        case look
        /// See whether everything that is expected in the cache folder is there; ends with `.inspected`.
        case inspect(CacheExpectation)
        /// Store what is to be known after a restart.
        case remember(MemoChanges)
    }

    /// Puts an icon in the queue if it is due, or notes when it will be.
    mutating func consider(_ url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url) else { return }
        switch FetchPlan(for: catalog.icons[place].icon, now: now) {
        case .fetch(let reason): enqueue(url, reason, now: now)
        case .fresh(let time), .waiting(let time):
            // A list that comes and goes must not leave a note each time.
            guard catalog.icons[place].icon.noted != time else { break }
            catalog.updateIcon(at: place) { $0.noted = time }
            dueTimes.insert(DueTime(time: time, key: url))
            sweepDueTimes()
        case .refused, .inline, .unreferenced, .underWay: break
        }
    }

    /// The same for all icons.
    mutating func considerAll(now: Timestamp) {
        var notes: [DueTime<IconURL>] = []
        notes.reserveCapacity(catalog.icons.count)
        // By number: a collection is copied that changes while somebody goes through it.
        for index in catalog.icons.indices {
            let (url, icon) = (catalog.icons[index].url, catalog.icons[index].icon)
            switch FetchPlan(for: icon, now: now) {
            case .fresh(let time) where icon.noted == nil, .waiting(let time) where icon.noted == nil:
                catalog.updateIcon(at: index) { $0.noted = time }
                notes.append(DueTime(time: time, key: url))
            case .fetch, .fresh, .waiting: consider(url, now: now)
            case .refused, .inline, .unreferenced, .underWay: break
            }
        }
        dueTimes.insert(contentsOf: notes)
    }

    /// Takes away the times that hold no longer, for icons that were forgotten or noted anew, once they are the most.
    private mutating func sweepDueTimes() {
        guard dueTimes.count > 2 * catalog.tally.noted + 32 else { return }
        dueTimes = dueTimes.swept { catalog.icons[$0.key]?.noted == $0.time }
    }

    private mutating func enqueue(_ url: IconURL, _ reason: FetchReason, now: Timestamp) {
        do {
            let origin = try network.source(of: url).origin
            queue.add(url, origin: origin, list: catalog.shortestList(naming: url), priority: reason.priority)
            catalog.updateIcon(url) { $0.phase = .queued(origin: origin) }
        } catch {
            let before = catalog.icons[url]?.state ?? .pending
            noteFailure(error, of: url, now: now)
            noteState(of: url, was: before, now: now)
        }
    }

    /// Does all that has become due.
    mutating func advance(now: Timestamp, to actions: inout [Action]) {
        while !triesOnce, let due = dueTimes.min, due.time <= now {
            dueTimes.removeMin()
            guard catalog.icons[due.key]?.noted == due.time else { continue }
            catalog.updateIcon(due.key) { $0.noted = nil }
            consider(due.key, now: now)
        }
        wakeOrigins(now: now)
        changeBrake(now: now) { $0.noteTime(now) }
        if let stuck, stuck.until <= now { self.stuck = nil }
        lookForSpace(now: now, to: &actions)
        startDownloads(now: now, to: &actions)
        lookForAbsent(now: now, to: &actions)
        if hasScanned, isStoreIdle {
            let isDue = window.due(during: traffic).map { $0 <= now } ?? false
            if needsInspection(beforePublishing: isDue) {
                inspect(to: &actions)
            } else if isDue {
                publish(now: now, to: &actions)
            } else if !removeDamaged(to: &actions), mayEvict {
                evict(now: now, to: &actions)
            }
        }
        if let rememberAt, rememberAt <= now { flush(to: &actions) }
    }

    private mutating func startDownloads(now: Timestamp, to actions: inout [Action]) {
        guard mayDownload else { return }
        for url in queue.start() {
            guard let place = catalog.icons.index(of: url), let source = try? IconSource(url) else {
                preconditionFailure("only known icons with a valid URL are queued")
            }
            catalog.updateIcon(at: place) { $0.phase = .fetching }
            let icon = catalog.icons[place].icon
            let condition = icon.image == nil ? nil : icon.response?.condition
            actions.append(
                .fetch(
                    FetchRequest(
                        url: url, source: source, reason: icon.fetchReason, condition: condition,
                        mayResume: condition == nil && mayResume(url, after: icon.failure))))
        }
    }

    /// Has all that is known remembered anew.
    mutating func rememberAll(now: Timestamp) {
        unremembered.formUnion(catalog.icons.keys)
        unrememberedOrigins.formUnion(origins.keys)
        unrememberedLists.formUnion(catalog.lists.keys)
        unrememberedGenerations.formUnion(ledger.supersessions.keys)
        isPauseUnremembered = isPaused
        isHoldUnremembered = brake.hold != nil
        isFolderUnremembered = folder != nil
        isNewestGenerationUnremembered = nextGeneration > 1
        rememberAt = now
    }

    mutating func flush(to actions: inout [Action]) {
        let changes = takeMemoChanges()
        if !changes.isEmpty { actions.append(.remember(changes)) }
    }

    /// What changed since this was last asked: at the end of the agent, the rest.
    package mutating func takeMemoChanges() -> MemoChanges {
        var changes = MemoChanges()
        for url in unremembered {
            if let icon = catalog.icons[url] {
                changes.remembered.append(
                    IconMemo(
                        url: url, image: icon.image?.sha256, response: icon.response, freshUntil: icon.freshUntil,
                        failure: icon.failure, trail: icon.trail))
            } else {
                changes.forgotten.append(url)
            }
        }
        unremembered = []
        takeListChanges(&changes)
        takeOriginChanges(&changes)
        takeEvictionChanges(&changes)
        if isFolderUnremembered { changes.folder = folder }
        isFolderUnremembered = false
        if isNewestGenerationUnremembered { changes.newestGeneration = nextGeneration - 1 }
        isNewestGenerationUnremembered = false
        rememberAt = nil
        return changes
    }

    /// What is known of a list is remembered once it is published: it is the document that says what was in it.
    private mutating func takeListChanges(_ changes: inout MemoChanges) {
        let underWay = Set(publishing?.publication.documents.map(\.list) ?? [])
        let unpublished = unrememberedLists.filter { window.isChanged($0) || underWay.contains($0) }
        for name in unrememberedLists.subtracting(unpublished) {
            if let known = catalog.lists[name]?.known {
                changes.lists.append(ListMemo(list: name, sha256: known.sha256, rules: listRules))
            } else {
                changes.forgottenLists.append(name)
            }
        }
        unrememberedLists = unpublished
    }
}
