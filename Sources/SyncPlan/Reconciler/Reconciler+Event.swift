// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules
package import Reports

extension Reconciler {
    /// An event that the plan's owner reports.
    package enum Event: Sendable {
        case scanned(ListScan)
        case fetched(EndedDownload)
        case polled(UpstreamAnswer)
        case published(PublicationResult)
        /// The evictor released generations, except leased ones and those it could not remove.
        case released(ReleaseResult)
        /// The evictor removed files, except those that failed.
        case removed(failed: RetirementPlan = RetirementPlan())
        case rendered(RenderReport)
        /// The names of renditions were set; `trouble` is the reason, as a clause, why some could not be.
        case renditionsNamed(trouble: String?)
        /// The free space was measured; a failure is the reason why the trial file could not be written.
        case space(Result<DiskSpace, Shortage>)
        /// Pause new downloads. Running ones finish.
        case pause(Pause)
        /// End the pause with this reason; `nil` ends all.
        case resume(String?)
        case inspected(CacheInspection)
        /// Something may be missing in the cache folder.
        case suspected
        /// Images on disk are damaged.
        case damaged(Set<Digest>)
        case pin(url: IconURL, isPinned: Bool)
        /// Mute a URL or list, until this time if one is given; or unmute it.
        case mute(MuteTarget, isMuted: Bool, until: Timestamp? = nil)
        /// Evict retired images now, without waiting for the grace period; if confirmed, also held ones.
        case evict(isConfirmed: Bool)
        /// A user waits for icons: queued ones go before all others.
        case awaited([IconURL])
        /// A user requests failed icons now; for a refresh, also those with an image, and for a full one without
        /// conditions.
        case request([IconURL], isRefresh: Bool, isFull: Bool = false)
        /// Remove everything but the lists, and download it again.
        case purge
        /// The agent is stopping: no download starts any more, and downloaded images are published.
        case stopping
        case configured(Settings, needRestart: [String] = [])
        /// The configuration could not be reloaded; the old settings stay in force.
        case misconfigured(reason: String)
        /// The stored state was lost; all of it is stored again.
        case memoryLost(StateLoss)
        /// The system slept for this long since the last event.
        case slept(Duration)
        /// The wall clock was set: it is now this far ahead of the agent's clock.
        case clockSet(offset: Duration)
        case tick
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .scanned(let scan): applyScan(scan)
        // The first inspection removes files that no generation names.
        case .fetched(let ended): book.applyFetch(ended, mayWriteAhead: cache.isSearched, in: &turn)
        case .polled(let reply): book.applyPoll(reply, in: &turn)
        case .published(let result): applyPublication(result)
        case .released(let result):
            book.retention.end(result, in: &book.catalog, at: turn.now)
            if !result.removed.isEmpty { turn.memos.mark(result.removed.map { .generation($0) }, at: turn.now) }
        case .removed(let failed):
            book.retention.end(failed: failed, in: &book.catalog, at: turn.now)
            book.space.prioritize(at: turn.now)
        case .rendered(let report):
            let damaged = book.applyRendering(report, mayWriteAhead: cache.isSearched, in: &turn)
            if recordDamage(damaged) {
                turn.emit(.cacheHealed(.damagedImages, summary: counted(damaged.count, "image")))
            }
        case .renditionsNamed(let trouble): book.renditionNames.end(trouble: trouble, at: turn.now)
        case .inspected(let found): applyInspection(found)
        case .suspected: cache.suspect(isComplete: true)
        case .damaged(let images):
            if recordDamage(images) {
                turn.emit(.cacheHealed(.damagedImages, summary: counted(images.count, "image")))
            }
        case .pin(let url, let isPinned): pin(url, isPinned)
        case .mute(let target, let isMuted, let until): mute(target, isMuted, until: until)
        case .evict(let isConfirmed): book.retention.waiveGrace(isConfirmed: isConfirmed, in: book.catalog)
        case .space(let found): book.applySpace(found, in: &turn)
        case .stopping:
            // The hold's stored age must include the time of this run.
            if book.retention.brake.heldNow != nil { turn.memos.renewValues() }
            if !isStopping { turn.emit(.agentStopping) }
            for url in book.downloads.stop() { book.cancel(url, in: &turn) }
        case .pause(let pause): changePauses { [now = turn.now] in $0.begin(pause, at: now) }
        case .resume(let reason): changePauses { $0.end(reason.map { Pause.Reason($0) }) }
        case .awaited(let urls):
            for url in urls { book.downloads.queue.raise(url) }
            if book.sources.hasWaiting { book.sources.pollNow(at: turn.now) }
            // The cause of a failed publication may be gone, and a user waits for the result.
            if urls.isEmpty || urls.contains(where: isRefused) {
                if !book.publishing.unplaced.isEmpty { book.markStagedLists() }
                book.publishing.retry(at: turn.now)
            } else {
                book.publishing.window.retry(at: turn.now)
            }
        case .configured(let settings, let needRestart):
            configurationError = nil
            folder.configure(settings.lists)
            book.configure(settings, in: &turn)
            privateOrigins = settings.privateOrigins(after: privateOrigins)
            publishPrivacy()
            settingsNeedingRestart = needRestart
        case .misconfigured(let reason): configurationError = reason
        case .request(let urls, let isRefresh, let isFull):
            book.request(urls, isRefresh: isRefresh, isFull: isFull, in: &turn)
        case .purge: beginPurge()
        case .memoryLost(let loss):
            turn.emit(.stateReplaced(loss, isKnown: true))
            turn.memos.markAll(self, at: turn.now)
        case .slept(let time):
            book.retention.recordSleep(time)
            book.publishing.recordSleep(time)
        case .clockSet(let offset):
            turn.wallClock.offset = offset
            book.publishing.setClock(offset, at: turn.now)
            book.setSourceClock(offset, in: &turn)
            book.retryFailuresOfClock(in: &turn)
        case .tick: break
        }
    }
}
