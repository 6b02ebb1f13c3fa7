// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules
package import Reports

/// The agent's decisions: events in, actions out.
///
/// It reads no file and no clock. Its owner performs the actions, and reports their results as events. Each kind of
/// decision has a type of its own; this type connects them.
package struct Reconciler: Sendable {
    var book: IconBook
    var folder: ListsFolder
    /// The readings of a folder that was not trusted when it was scanned.
    var withheld: [ListName: ListReading] = [:]
    var cache: CacheChecks
    /// The current call of ``handle(_:now:)``, or the last one.
    var turn: Turn
    /// The reason why the last reload of the configuration failed; `nil` if it succeeded.
    var configurationError: String?
    var settingsNeedingRestart: [String] = []
    /// The private origins whose icons the cache may contain; these must not be exported.
    package internal(set) var privateOrigins: [String] = []
    /// The caches with no private icons from other origins than ``privateOrigins``.
    var knownCaches: KnownCaches
    /// The phase of the current purge; `nil` if there is none.
    var purge: PurgePhase?
    /// The generation in force when the last purge began.
    var purging: Int?
    /// Whether a purge that a user wants, or that an earlier run did not publish, is still to begin.
    var isPurgeDue = false
    /// The result of the last purge; `nil` if there was none since the start.
    package internal(set) var purgeReport: PurgeReport?
    /// The rules by which the renditions on disk were made.
    private var rulesOfRenditions: Renditions.Rules?
    var told = ToldConditions()
    /// The URLs and lists whose failures do not count.
    var mutes = Mutes()
    /// Identifies the machine, whose copies spread the checks that it planned; `nil` if it has no ID.
    private let machine: String?
    /// The rejections of lists that events have reported, including those of earlier runs.
    var rejections: [ListName: RejectionMemo] = [:]

    /// Continues from the state that an earlier run left.
    ///
    /// `seed` determines the jitter of delays; it must differ on each machine and at each start. With `triesOnce`,
    /// retries and probes that become due from now on are left for a later run.
    package init(
        settings: Settings, seed: UInt64, restored: consuming RestoredState = RestoredState(), triesOnce: Bool = false,
        now: Timestamp
    ) {
        turn = Turn(at: now, seed: seed)
        machine = restored.machine ?? restored.memory.values.machine
        let isPurgeUnpublished = restored.isPurgeUnpublished
        var known = restored.moveCatalog()
        var (catalog, ledger) = known.moveOut()
        ledger.setSupersessions(restored.memory.superseded, default: now)
        let values = restored.memory.values
        folder = ListsFolder(
            settings.lists, identity: values.folder, hadFile: values.hadList == true,
            awaited: values.awaitedLists ?? [])
        book = IconBook(
            settings, catalog: consume catalog,
            sources: IconSources(
                settings.upstream, memos: values.upstreams, triesOnce: triesOnce, at: now, using: &turn.generator),
            partials: PartialImages(urls: Set(restored.partials.map(\.url))),
            publishing: PublicationPlan(
                settings.publish, restored.manifests.last, newest: restored.newestGeneration,
                outdated: known.outdatedLists, at: now),
            retention: Retention(
                settings, ledger: consume ledger, replaced: known.replaced, holds: restored.knownHolds,
                peak: max(values.peak ?? 0, 0)),
            hasRenditionNames: restored.hasRenditionNames, triesOnce: triesOnce)
        for (original, renditions) in known.renditions { book.renditions.restore(renditions, of: original) }
        for (list, sizes) in known.sizes where sizes != Set(book.renditions.sizes) {
            book.publishing.window.markChanged(list, at: now)
        }
        if book.renditions.isOn { for list in known.unevenLists { book.publishing.window.markChanged(list, at: now) } }
        book.renditions.restore(values.rendering, failures: restored.memory.renderFailures)
        rulesOfRenditions = values.rendering
        if values.isPaused { book.downloads.pauses = Pauses(restoring: values.pauses ?? [Pause()], at: turn.now) }
        mutes = Mutes(restoring: Array((values.mutes ?? []).prefix(Self.mostMutes)), at: turn.now)
        privateOrigins = settings.privateOrigins(after: restored.privateOrigins)
        knownCaches = values.knownCaches ?? KnownCaches()
        knownCaches.select(restored.manifests)
        cache = CacheChecks(doubtful: known.doubtfulImages)
        restore(restored)
        book.reviewCopies()
        if isPurgeUnpublished { (purging, isPurgeDue) = (values.purging, true) }
        // Times that a wrong clock set are corrected once, and not at each start; a purge that ended before its generation
        // must not count once there is a later one.
        if mutes.all != values.mutes ?? [] || book.downloads.pauses.all != values.pauses ?? book.downloads.pauses.all
            || book.retention.ledger.purged != values.purged || privateOrigins != values.privateOrigins ?? []
            || machine != values.machine
        {
            turn.memos.renewValues()
        }
        told = conditions
        publishPrivacy()
    }

    /// Applies simultaneous events, in this order; returns the actions after all of them, in order.
    package mutating func handle(_ events: [Event], now: Timestamp) -> [Action] {
        turn.begin(at: now)
        for event in events { apply(event) }
        advance()
        emitConditions()
        book.catalog.images.forgetUnused()
        return turn.end()
    }

    /// Publishes a manifest if the newest one is wrong on whether the cache has private icons.
    mutating func publishPrivacy() {
        if isPrivacyWrong { book.publishing.window.markChanged(at: turn.now) }
    }

    /// Whether the newest manifest is wrong on whether the cache has private icons.
    var isPrivacyWrong: Bool {
        book.publishing.manifest.map { !$0.lists.isEmpty && $0.isPrivate == privateOrigins.isEmpty } ?? false
    }

    mutating func changePauses(_ change: (inout Pauses) -> Void) {
        let wasPaused = book.downloads.isPaused
        change(&book.downloads.pauses)
        guard book.downloads.isPaused != wasPaused else { return }
        turn.emit(wasPaused ? .resumed : .paused)
        if wasPaused { book.resumeSources(in: &turn) }
    }

    /// Ends the pauses and mutes whose time is over.
    package mutating func endLapsed() {
        let now = turn.now
        changePauses { $0.end(at: now) }
        emitEnd(of: mutes.end(at: now))
    }

    package mutating func drainEvents() -> [AgentEvent] { turn.drainEvents() }

    /// The downloads that ended in the last call of ``handle(_:now:)``; an image that was refused for its list's digest
    /// counts as failed.
    package var endedDownloads: [EndedDownload] { turn.ended }

    private mutating func advance() {
        let now = turn.now
        endLapsed()
        beginDuePurge()
        book.advance(in: &turn)
        book.retention.advance(to: turn.now)
        if looksForSpace, let trial = book.space.beginTrial(at: turn.now) { turn.start(.measureSpace(trial: trial)) }
        book.startDownloads(in: &turn)
        book.replaceLoginProbes(in: &turn)
        if !isStopping, folder.beginLook(at: turn.now) { turn.actions.append(.look) }
        if folder.isScanned, !isStopping, let due = book.publishing.heartbeat, due <= turn.now {
            book.publishing.window.markChanged(at: turn.now)
        }
        if book.renditions.isOn {
            book.forgetDoubtfulCopies(in: &turn)
            book.markLaggingLists(at: now)
        }
        if folder.isScanned, isStoreIdle { useStore() }
        // Its end allows rendering.
        advancePurge()
        if book.renditions.isOn {
            book.startRendering(mayRender: mayRender, in: &turn)
            let areWritten = book.publishing.areDocumentsWritten
            rulesOfRenditions = book.renditions.settledRules(areDocumentsWritten: areWritten)
        }
        if !privateOrigins.isEmpty, let manifest = book.publishing.manifest {
            let onDisk = book.retention.ledger.supersessions
            knownCaches.record(manifest) { onDisk[$0] != nil }
        }
        turn.memos.mark(values: remembered, superseded: book.retention.ledger.superseded, at: turn.now)
        if let due = turn.memos.due, due <= turn.now {
            let changes = turn.memos.drain(from: self)
            if !changes.isEmpty { turn.run(.remember(changes)) }
        }
    }

    /// When `.tick` is due, if no other event comes first; `nil` if nothing waits for time to pass.
    package var nextWake: Timestamp? {
        var times = [book.downloads.nextWake, turn.memos.due]
        if !book.downloads.triesOnce { times.append(mutes.nextEnd) }
        if looksForSpace { times.append(book.space.nextLook) }
        if book.renditions.isOn { times.append(book.renditions.laggingDue) }
        if let wake = book.renditions.nextWake, mayRender, book.space.isOpen { times.append(wake) }
        if !isStopping { times.append(folder.nextLook) }
        if book.downloads.mayStart { times.append(book.sources.nextWake) }
        if folder.isScanned, isStoreIdle {
            times.append(book.publishing.window.due(during: book.traffic))
            if !isStopping { times.append(book.publishing.heartbeat) }
            times.append(book.renditionNames.nextWake)
            if mayEvict { times.append(book.retention.nextStep) }
        }
        return times.compactMap(\.self).min()
    }

    // MARK: Conditions

    package var isStopping: Bool { book.downloads.isStopping }

    /// Whether all possible work is done; other work waits for a retry, an origin, a grace period or a reader.
    package var isSettled: Bool {
        let isFolderSettled = book.downloads.triesOnce ? folder.isSettledOnce : folder.isSettled
        guard isStopping || isFolderSettled && !isAskingSources, book.isIdle, isStoreIdle else { return false }
        guard isStopping || areRenditionsSettled else { return false }
        return !folder.isScanned || book.publishing.window.due(during: .ending) == nil || hasGivenUpPublishing
    }

    /// Whether images may be rendered: the first inspection has ended, and the agent is neither stopping nor purging.
    private var mayRender: Bool { folder.isScanned && cache.isSearched && !isStopping && !isPurging }

    private var areRenditionsSettled: Bool {
        !mayRender
            || (!book.space.isOpen || book.renditions.isIdle(at: turn.now))
                && book.renditionNames.isIdle(at: turn.now)
    }

    /// Whether a run with `--once` waits for the first polls of sources.
    private var isAskingSources: Bool {
        book.downloads.triesOnce && book.downloads.mayStart && book.sources.isBeginning
    }

    /// Whether a publication failed, and no further attempt is expected.
    ///
    /// A run with `--once` tries three times: images downloaded after the last failure would be lost.
    private var hasGivenUpPublishing: Bool {
        book.publishing.trouble != nil
            && (isStopping || !book.downloads.triesOnce || book.publishing.window.failures >= 3)
    }

    /// The names of the images that no generation has, which a later run downloads or renders again.
    package var stagedFiles: [String] {
        book.publishing.staged.compactMap { book.catalog.icons[$0].icon.staged?.name }
            + book.renditions.staged.waitingImages.map(\.name)
    }

    package var isDownloading: Bool { book.downloads.queue.activeCount > 0 }

    /// Whether to check for free space.
    private var looksForSpace: Bool { !book.downloads.triesOnce && !isStopping }

    /// Whether no publication, eviction, inspection or naming is running.
    var isStoreIdle: Bool {
        !cache.isUnderWay && book.publishing.inFlight == nil && book.retention.isIdle
            && !book.renditionNames.isUnderWay
    }

    /// The reason why eviction is suspended, as a clause; `nil` if it is not.
    var evictionDoubt: String? { lastingDoubt ?? folder.doubt?.reason }

    /// The reason why eviction is suspended, unless it ends when new lists have been read.
    var lastingDoubt: String? {
        if let unavailable = folder.unavailable { return unavailable }
        if let failure = book.publishing.trouble, book.publishing.isInDoubt {
            return "the newest manifest may not be durable (\(failure))"
        }
        return folder.doubt.flatMap { $0.isPassing ? nil : $0.reason }
    }

    var mayEvict: Bool { folder.isScanned && cache.isSearched && evictionDoubt == nil && !isStopping }

    // MARK: Memory

    /// Removes and returns the changes to store for the next start.
    package mutating func drainMemoChanges() -> MemoChanges { turn.memos.drain(from: self) }

    /// The single values that are stored for the next start.
    var remembered: RememberedValues {
        // Stored times are those of the wall clock, with which the next run begins.
        let pauses = book.downloads.pauses.moved(by: turn.wallClock.offset)
        var values = RememberedValues(
            isPaused: !pauses.isEmpty, pauses: pauses.isEmpty || pauses == [Pause()] ? nil : pauses,
            privateOrigins: privateOrigins.isEmpty ? nil : privateOrigins,
            holds: book.retention.brake.holds, folder: folder.identity,
            newestGeneration: book.publishing.newest, purged: book.retention.ledger.purged,
            upstreams: book.sources.accepted)
        values.hadList = folder.hadFile ? true : nil
        if let awaited = folder.awaited, !awaited.isEmpty, !book.sources.haveAllAnswered {
            values.awaitedLists = awaited.sorted()
        }
        values.rendering = rulesOfRenditions
        if book.retention.brake.peak > 0 { values.peak = book.retention.brake.peak }
        if purging == book.publishing.manifest?.generation { values.purging = purging }
        if !privateOrigins.isEmpty { values.knownCaches = knownCaches }
        if !mutes.isEmpty { values.mutes = mutes.moved(by: turn.wallClock.offset) }
        values.machine = machine
        return values
    }

    /// List versions that need not be parsed again.
    package var knownLists: [ListName: KnownList] {
        book.catalog.lists.compactMapValues { [texts = book.catalog.icons.texts] list in
            list.known.map { KnownList(sha256: $0, entries: list.apps.entries(texts)) }
        }
    }

    /// The reason why the lists folder could not be scanned the last time, or is not trusted.
    package var unavailable: String? { folder.unavailable }
}
