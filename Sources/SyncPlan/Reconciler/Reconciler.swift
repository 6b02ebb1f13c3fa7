// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
import Fleet
package import HTTPRules
package import Reports

/// What the agent decides: events in, actions out.
///
/// It reads no file and no clock. Its owner performs the actions, and feeds back what came of them as events. Each kind of
/// decision has an owner of its own here; what follows from one for another goes through this type.
package struct Reconciler: Sendable {
    /// What lists name, what is known of each icon, and what is done for it.
    var book: IconBook
    /// Whether the lists folder is trusted, and when it is listed next.
    var folder: ListsFolder
    /// Whether the cache folder is as expected.
    var cache: CacheChecks
    /// This call of ``handle(_:now:)``, or the last one.
    var turn: Turn
    /// Why the configuration was not reloaded the last time; `nil` if it was.
    var configurationError: String?
    /// The settings that were changed and need a restart.
    var settingsNeedingRestart: [String] = []
    /// How far a purge is; `nil` if none is under way.
    var purge: PurgePhase?
    /// What came of the last purge; `nil` if there was none since the start.
    package internal(set) var purgeReport: PurgeReport?
    /// The conditions that events have reported.
    var told = ToldConditions()
    /// The rejections of lists that events have reported, also before a restart.
    var rejections: [ListName: RejectionMemo] = [:]

    /// Begins with what is on disk.
    ///
    /// - Parameters:
    ///   - settings: The configured settings.
    ///   - seed: What the jitter of delays is derived from; another one on each machine and at each start.
    ///   - restored: What an earlier run left.
    ///   - triesOnce: Whether retries and probes that become due from now on are left to a later run.
    ///   - now: The current time.
    package init(
        settings: Settings, seed: UInt64, restored: consuming RestoredState = RestoredState(), triesOnce: Bool = false,
        now: Timestamp
    ) {
        turn = Turn(at: now, seed: seed)
        var known = restored.takeCatalog()
        var (catalog, ledger) = known.take()
        _ = catalog.takeReshown()
        ledger.setSupersessions(restored.memory.superseded, default: now)
        let values = restored.memory.values
        folder = ListsFolder(settings.lists, identity: values.folder)
        book = IconBook(
            settings, catalog: catalog,
            sources: IconSources(
                settings.upstream, memos: values.upstreams, triesOnce: triesOnce, at: now, using: &turn.generator),
            partials: PartialImages(Set(restored.partials.map(\.url))),
            publishing: PublicationPlan(
                settings.publish, restored.manifests.last, newest: restored.newestGeneration,
                outdated: known.outdatedLists, named: known.named, at: now),
            retention: Retention(settings, ledger: ledger, replaced: known.replaced, hold: restored.knownHold),
            triesOnce: triesOnce)
        book.downloads.isPaused = values.isPaused
        cache = CacheChecks(doubtful: known.doubtfulImages)
        restore(restored)
        told = conditions
    }

    /// Applies events that came at once, in this order.
    ///
    /// - Returns: What to do after all of them, in this order.
    package mutating func handle(_ events: [Event], now: Timestamp) -> [Action] {
        turn.begin(at: now)
        for event in events { apply(event) }
        advance()
        emitConditions()
        return turn.end()
    }

    package mutating func takeEvents() -> [AgentEvent] { turn.takeEvents() }

    /// Does everything that has become due.
    private mutating func advance() {
        book.advance(in: &turn)
        book.retention.advance(to: turn.now)
        if looksForSpace, let trial = book.space.takeTrial(at: turn.now) { turn.start(.measureSpace(trial: trial)) }
        book.startDownloads(in: &turn)
        if !isStopping, folder.takeLook(at: turn.now) { turn.actions.append(.look) }
        if folder.isScanned, !isStopping, let due = book.publishing.heartbeat, due <= turn.now {
            book.publishing.markChanged(at: turn.now)
        }
        if folder.isScanned, isStoreIdle { useStore() }
        advancePurge()
        turn.memos.mark(values: remembered, at: turn.now)
        if let due = turn.memos.due, due <= turn.now {
            let changes = takeMemoChanges()
            if !changes.isEmpty { turn.run(.remember(changes)) }
        }
    }

    /// When `.tick` is due, if no other event comes first; `nil` if nothing waits for time to pass.
    package var nextWake: Timestamp? {
        var times = [book.downloads.nextWake, turn.memos.due]
        if looksForSpace { times.append(book.space.nextLook) }
        if !isStopping { times.append(folder.nextLook) }
        if book.downloads.mayStart { times.append(book.sources.nextWake) }
        if folder.isScanned, isStoreIdle {
            times.append(book.publishing.window.due(during: book.traffic))
            if !isStopping { times.append(book.publishing.heartbeat) }
            if mayEvict { times.append(book.retention.nextStep) }
        }
        return times.compactMap(\.self).min()
    }

    // MARK: Conditions

    package var isStopping: Bool { book.downloads.isStopping }

    /// Whether all that can be done now has been done: the rest waits for a retry, an origin, a grace period or a reader.
    package var isSettled: Bool {
        guard isStopping || folder.isSettled && !isAskingSources, book.isIdle, isStoreIdle else { return false }
        return !folder.isScanned || book.publishing.window.due(during: .ending) == nil || hasGivenUpPublishing
    }

    /// Whether a run that ends by itself waits for the first polls.
    private var isAskingSources: Bool { book.triesOnce && book.downloads.mayStart && book.sources.isBeginning }

    /// Whether a publication failed, and no other one is awaited.
    ///
    /// A run that ends by itself tries three times: what it downloads after a failure would be lost.
    private var hasGivenUpPublishing: Bool {
        book.publishing.failure != nil && (isStopping || !book.triesOnce || book.publishing.window.failures >= 3)
    }

    package var isDownloading: Bool { book.downloads.queue.activeCount > 0 }

    /// Whether it matters when there is room again.
    private var looksForSpace: Bool { !book.triesOnce && !isStopping }

    /// Whether no publication, eviction or inspection is running.
    var isStoreIdle: Bool { !cache.isUnderWay && book.publishing.inFlight == nil && book.retention.isIdle }

    /// Why eviction is suspended, as a clause; `nil` if it is not.
    var evictionDoubt: String? { lastingDoubt ?? folder.doubt?.reason }

    /// The same without what is over as soon as new lists are read.
    var lastingDoubt: String? {
        if let unavailable = folder.unavailable { return unavailable }
        if let failure = book.publishing.failure, book.publishing.isInDoubt {
            return "the newest manifest may not be durable (\(failure))"
        }
        return folder.doubt.flatMap { $0.isPassing ? nil : $0.reason }
    }

    var mayEvict: Bool { folder.isScanned && cache.isSearched && evictionDoubt == nil && !isStopping }

    // MARK: Memory

    /// Changes since the last call, to store for the next start.
    package mutating func takeMemoChanges() -> MemoChanges { turn.memos.drain(from: self) }

    /// The single values that are stored for the next start.
    var remembered: RememberedValues {
        RememberedValues(
            isPaused: book.downloads.isPaused, hold: book.retention.brake.hold, folder: folder.identity,
            newestGeneration: book.publishing.newest, upstreams: book.sources.accepted)
    }

    /// The versions of lists that need not be parsed again.
    package var knownLists: [ListName: KnownList] { book.catalog.lists.compactMapValues(\.known) }

    /// Why the lists folder could not be listed at the last scan, or is not trusted.
    package var unavailable: String? { folder.unavailable }

    /// The end of a download, after a check of the image against the digests of the lists.
    package func judged(_ outcome: FetchOutcome, of url: IconURL) -> FetchOutcome { book.checked(outcome, of: url) }
}
