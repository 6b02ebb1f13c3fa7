// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
import Fleet
import HTTPRules
package import Reports

/// The whole of what the agent decides: events in, actions out.
///
/// It reads no file and no clock. Its owner performs the actions, and feeds what came of them back as events. Each kind of
/// decision has an owner of its own here, with what it needs to know; what follows from one for another goes through the
/// extensions of this type.
package struct Reconciler: Sendable {
    private(set) var settings: Settings
    /// Whether nothing is retried, so that a single run ends however many servers fail.
    let triesOnce: Bool
    var generator: SeededGenerator
    /// What lists name, and what is known of each icon.
    var catalog: Catalog
    var folder: ListsFolder
    /// When each icon is asked for.
    var downloads: DownloadSchedule
    /// Which icons come from an upstream.
    var sources: IconSources
    var partials: PartialImages
    /// Whether there is room, and what waits for it.
    var space = SpaceGate()
    var publishing: PublicationPlan
    /// What is kept on disk, and what goes.
    var retention: Retention
    var cache: CacheChecks
    /// Why the configuration was not reloaded the last time; `nil` if it was.
    var configurationError: String?
    /// The settings that are configured otherwise, and take a restart.
    var settingsNeedingRestart: [String] = []
    /// How far a purge is; `nil` if none is under way.
    var purge: PurgePhase?
    /// What came of the last purge; `nil` if there was none since the start.
    package internal(set) var purgeReport: PurgeReport?
    /// What is to be remembered over a restart.
    var unstored = UnstoredChanges()
    /// What happened since events were last taken, or since the last events came in: nobody need take them.
    var events: [AgentEvent] = []
    /// When the last events came in.
    private(set) var lastTime: Timestamp
    /// The conditions that events have told of.
    var told = ToldConditions()
    /// What events have told of lists whose files are not accepted, be it before a restart.
    var rejections: [ListName: RejectionMemo] = [:]

    /// Begins with what is on disk.
    ///
    /// - Parameters:
    ///   - settings: What was configured.
    ///   - seed: What the jitter of delays is derived from; another one on each machine and at each start.
    ///   - restored: What an earlier run left.
    ///   - triesOnce: Whether retries and probes that become due from now on are left to a later run.
    ///   - now: The present time.
    package init(
        settings: Settings, seed: UInt64, restored: consuming RestoredState = RestoredState(), triesOnce: Bool = false,
        now: Timestamp
    ) {
        self.settings = settings
        self.triesOnce = triesOnce
        lastTime = now
        generator = SeededGenerator(seed: seed)
        var known = restored.takeCatalog()
        var ledger: RetirementLedger
        (catalog, ledger) = known.take()
        _ = catalog.takeReshown()
        ledger.setSupersessions(restored.memory.superseded, default: now)
        folder = ListsFolder(settings.lists, identity: restored.memory.values.folder)
        downloads = DownloadSchedule(settings, triesOnce: triesOnce)
        downloads.isPaused = restored.memory.values.isPaused
        sources = IconSources(
            settings.upstream, memos: restored.memory.values.upstreams, triesOnce: triesOnce, at: now,
            using: &generator)
        partials = PartialImages(Set(restored.partials.map(\.url)))
        publishing = PublicationPlan(
            settings.publish, restored.manifests.last, newest: restored.newestGeneration, outdated: known.outdatedLists,
            named: known.named, at: now)
        retention = Retention(settings, ledger: ledger, replaced: known.replaced, hold: restored.knownHold)
        cache = CacheChecks(doubtful: known.doubtfulImages)
        restore(restored, now: now)
        told = conditions
    }

    /// Takes events in that came at once, in this order.
    ///
    /// - Returns: What is to be done after all of them, in this order.
    package mutating func handle(_ events: [Event], now: Timestamp) -> [Action] {
        var actions: [Action] = []
        self.events = []
        lastTime = now
        for event in events { apply(event, now: now, to: &actions) }
        advance(now: now, to: &actions)
        noteConditions()
        return actions
    }

    /// Goes on with other settings.
    mutating func configure(_ new: Settings, now: Timestamp) {
        let old = settings
        settings = new
        configurationError = nil
        folder.configure(new.lists)
        downloads.configure(new)
        retention.configure(new)
        sources.configure(new.upstream, at: now, using: &generator)
        publishing.configure(new.publish)
        if new.cache.minFree != old.cache.minFree { space.prioritize(at: now) }
        if new.network != old.network || new.fetch != old.fetch || new.images != old.images
            || new.upstream != old.upstream
        {
            judgeAgain(all: new.upstream != old.upstream, now: now)
        }
    }

    /// Does all that has become due.
    private mutating func advance(now: Timestamp, to actions: inout [Action]) {
        while let due = downloads.takeDue(at: now) {
            guard catalog.icons[due.url]?.noted == due.time else { continue }
            catalog.updateIcon(due.url) { $0.noted = nil }
            consider(due.url, now: now)
        }
        downloads.wakeOrigins(at: now)
        if downloads.mayStart { pollSources(now: now, to: &actions) }
        retention.note(time: now)
        if looksForSpace, let trial = space.look(at: now) { actions.append(.start(.measureSpace(trial: trial))) }
        if space.isOpen { startDownloads(to: &actions) }
        if !isStopping, folder.takeLook(at: now) { actions.append(.look) }
        if folder.isScanned, !isStopping, let due = publishing.heartbeat, due <= now { publishing.noteChange(at: now) }
        if folder.isScanned, isStoreIdle { useStore(now: now, to: &actions) }
        advancePurge(now: now, to: &actions)
        unstored.note(values: remembered, at: now)
        if let due = unstored.due, due <= now {
            let changes = takeMemoChanges()
            if !changes.isEmpty { actions.append(.background(.remember(changes))) }
        }
    }

    /// When `.tick` is due, if no other event comes first; `nil` if nothing waits for time to pass.
    package var nextWake: Timestamp? {
        var times = [downloads.nextWake, unstored.due]
        if looksForSpace { times.append(space.nextLook) }
        if !isStopping { times.append(folder.nextLook) }
        if downloads.mayStart { times.append(sources.nextWake) }
        if folder.isScanned, isStoreIdle {
            times.append(publishing.window.due(during: traffic))
            if !isStopping { times.append(publishing.heartbeat) }
            if mayEvict { times.append(retention.nextStep) }
        }
        return times.compactMap(\.self).min()
    }

    // MARK: What is going on

    /// Whether the agent is about to end.
    package var isStopping: Bool { downloads.isStopping }

    /// Whether all that can be done now has been done: what is left waits for a retry, an origin, a grace or a reader.
    package var isSettled: Bool {
        guard isStopping || folder.isSettled && !isAskingSources, isIdle, isStoreIdle else { return false }
        return !folder.isScanned || publishing.window.due(during: .ending) == nil || hasGivenUpPublishing
    }

    /// Whether a run that ends when all is done waits for what upstreams say.
    private var isAskingSources: Bool { triesOnce && downloads.mayStart && sources.isBeginning }

    /// Whether a publication failed, and no other one is waited for.
    ///
    /// What ends when all is done tries it three times: what it downloads after a failure is else lost.
    private var hasGivenUpPublishing: Bool {
        publishing.failure != nil && (isStopping || !triesOnce || publishing.window.failures >= 3)
    }

    /// Whether nothing more is to be expected of downloads for now.
    ///
    /// What waits for its origin is like what waits for its retry: it comes later.
    private var isIdle: Bool {
        downloads.queue.activeCount == 0 && (!mayDownload || downloads.queue.readyCount == 0)
    }

    /// Whether downloads are under way.
    package var isDownloading: Bool { downloads.queue.activeCount > 0 }

    var traffic: PublicationWindow.Traffic {
        guard isIdle else { return downloads.queue.isFlowing ? .flowing : .doubtful }
        return isStopping || triesOnce ? .ending : .none
    }

    /// Whether downloads are begun at all.
    var mayDownload: Bool { downloads.mayStart && space.isOpen }

    /// Whether it is of use to know when there is room.
    private var looksForSpace: Bool { !triesOnce && !isStopping }

    /// Whether nothing is being done on disk that must not meet a publication or an eviction.
    var isStoreIdle: Bool { !cache.isUnderWay && publishing.inFlight == nil && retention.isIdle }

    /// Why nothing is removed at the moment, in words; `nil` if what is retired goes when its grace is over.
    var evictionDoubt: String? { lastingDoubt ?? folder.doubt?.reason }

    /// The same without what is over as soon as new lists are read.
    var lastingDoubt: String? {
        if let unavailable = folder.unavailable { return unavailable }
        if let failure = publishing.failure, publishing.isInDoubt {
            return "the newest manifest may not be durable (\(failure))"
        }
        return folder.doubt.flatMap { $0.isPassing ? nil : $0.reason }
    }

    var mayEvict: Bool { folder.isScanned && cache.isSearched && evictionDoubt == nil && !isStopping }

    // MARK: What is known

    /// What changed since this was last asked, and is to be remembered over a restart.
    package mutating func takeMemoChanges() -> MemoChanges { unstored.take(from: self) }

    /// The single values that are remembered over a restart.
    var remembered: RememberedValues {
        RememberedValues(
            isPaused: downloads.isPaused, hold: retention.brake.hold, folder: folder.identity,
            newestGeneration: publishing.newest, upstreams: sources.accepted)
    }

    /// The versions of lists that need not be parsed again.
    package var knownLists: [ListName: KnownList] { catalog.lists.compactMapValues(\.known) }

    /// Why the lists folder could not be listed at the last look, or what was listed is not taken for it.
    package var unavailable: String? { folder.unavailable }
}
