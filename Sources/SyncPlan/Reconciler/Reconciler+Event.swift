// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import Fleet
package import HTTPRules
package import Reports

extension Reconciler {
    /// What happened.
    package enum Event: Sendable {
        /// The lists folder was looked at.
        case scanned(ListScan)
        /// A download ended; with the way there if it was not straight, and whether all its answers came over HTTP/2 if that
        /// is known.
        case fetched(url: IconURL, FetchOutcome, trail: FetchTrail? = nil, isMultiplexed: Bool? = nil)
        /// A poll of a source ended.
        case polled(SourceReply)
        /// A publication ended.
        case published(PublicationResult)
        /// The evictor tried to take the files of generations away; some are kept for readers that hold a lease on them, and
        /// some could not be removed.
        case released(ReleaseResult)
        /// The evictor has removed what it was given, but for what it could not remove.
        case removed(failed: RetirementPlan = RetirementPlan())
        /// The cache's file system was looked at; a failure tells why the trial could not be written.
        case space(Result<DiskSpace, Shortage>)
        /// Downloads are to be begun no more, or again; what is under way goes on.
        case paused(Bool)
        /// The cache folder was looked at.
        case inspected(CacheInspection)
        /// Something may be missing in the cache folder.
        case suspected
        /// Images on disk are not what they were.
        case damaged(Set<Digest>)
        /// A URL is to be kept although no list names it, or no more.
        case pin(url: IconURL, isPinned: Bool)
        /// What is retired is to go without its grace; if it is confirmed, also what is held.
        case evict(isConfirmed: Bool)
        /// Somebody waits for icons: those that are queued go before all others.
        case awaited([IconURL])
        /// Icons are to be requested now that failed; for a refresh, also those that are fresh.
        case request([IconURL], isRefresh: Bool)
        /// Everything is to be forgotten, removed and downloaded anew, but for the lists.
        case purge
        /// The agent is to end: no download is begun any more, and what was downloaded is published.
        case stopping
        /// Other settings are in force.
        case configured(Settings, needRestart: [String] = [])
        /// The configuration could not be reloaded; the settings are what they were.
        case misconfigured(reason: String)
        /// What was remembered for the next start is lost, and is to be stored again.
        case memoryLost(StateLoss)
        /// The system slept for so long since the last event.
        case slept(Duration)
        /// The wall clock was set: it is so far ahead of the agent's now.
        case clockSet(offset: Duration)
        /// Time has passed.
        case tick
    }

    mutating func apply(_ event: Event, now: Timestamp, to actions: inout [Action]) {
        switch event {
        case .scanned(let scan):
            applyScan(scan, now: now, to: &actions)
        case .fetched(let url, let outcome, let trail, let isMultiplexed):
            applyFetch(outcome, trail, isMultiplexed: isMultiplexed, of: url, now: now, to: &actions)
        case .polled(let answer):
            applyPoll(answer, now: now)
        case .published(let result):
            applyPublication(result, now: now, to: &actions)
        case .released(let result):
            retention.end(result, at: now)
            if !result.removed.isEmpty { unstored.note(generations: result.removed, at: now) }
        case .removed(let failed):
            retention.end(failed: failed, in: catalog, at: now)
            space.prioritize(at: now)
        case .inspected(let found):
            applyInspection(found, now: now, to: &actions)
        case .suspected:
            cache.suspect(isComplete: true)
        case .damaged(let images):
            if noteDamage(images, now: now) {
                events.append(.cacheHealed(.damagedImages, summary: counted(images.count, "image")))
            }
        case .pin(let url, let isPinned):
            pin(url, isPinned, now: now, to: &actions)
        case .evict(let isConfirmed):
            retention.waiveGrace(isConfirmed: isConfirmed, in: catalog)
        case .space(let found):
            applySpace(found, now: now)
        case .stopping:
            // What is held is older by the time that this run took.
            if retention.brake.heldNow != nil { unstored.renewValues() }
            if !isStopping { events.append(.agentStopping) }
            actions += downloads.stop().map { .cancel(url: $0) }
        case .paused(let isPaused):
            if downloads.isPaused != isPaused { events.append(isPaused ? .paused : .resumed) }
            downloads.isPaused = isPaused
            if !isPaused { resumeSources(now: now) }
        case .awaited(let urls):
            for url in urls { downloads.raise(url) }
            if sources.hasWaiting { sources.pollNow(at: now) }
            // What made a publication fail may be over, and somebody waits to know.
            publishing.retry(at: now)
        case .configured(let settings, let needRestart):
            configure(settings, now: now)
            settingsNeedingRestart = needRestart
        case .misconfigured(let reason):
            configurationError = reason
        case .request(let urls, let isRefresh):
            request(urls, isRefresh: isRefresh, now: now)
        case .purge:
            beginPurge(now: now, to: &actions)
        case .memoryLost(let loss):
            events.append(.stateReplaced(loss, isKnown: true))
            unstored.noteLoss(self, at: now)
        case .slept(let time):
            retention.noteSleep(time)
            publishing.noteSleep(time)
        case .clockSet(let offset):
            publishing.setClock(offset, at: now)
            setSourceClock(offset, now: now)
        case .tick:
            break
        }
    }
}
