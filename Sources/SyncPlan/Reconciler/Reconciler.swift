// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import HeapModule

/// The whole of what the agent decides: events in, actions out.
///
/// It reads no file and no clock. Its owner performs the actions, and feeds what came of them back as events.
package struct Reconciler: Sendable {
    let settings: Settings
    let network: NetworkPolicy
    /// Whether nothing is asked for a second time, so that there is an end however many servers fail.
    let triesOnce: Bool
    var generator: SeededGenerator
    var catalog = Catalog()
    var queue: FetchQueue
    var dueTimes = Heap<DueTime<IconURL>>()
    /// How the origins fare that failed of late.
    var origins: [String: OriginHealth] = [:]
    /// When origins that wait may be asked again.
    var originTimes = Heap<DueTime<String>>()
    /// How many origins are kept before those are looked for that can be forgotten.
    var originLimit = 1024
    var window = PublicationWindow()
    var ledger = RetirementLedger()
    var space = SpaceGate()

    /// Whether the lists folder has been looked at since the start: nothing is published or removed before.
    var hasScanned = false
    /// Whether there are new lists that have not been read yet.
    var hasUnreadLists = false
    /// Whether what earlier runs left is held against lists that could be read.
    var hasBrakedAtStart = false
    /// Why the lists folder could not be listed at the last look, or what was listed is not taken for it.
    package internal(set) var unavailable: String?
    /// The folder that the lists are in.
    var folder: FolderIdentity?
    /// Why it is not known what all lists name.
    var listDoubt: String?
    var lastScan: Timestamp?
    /// The lists that the last looks missed, and that are not gone yet.
    var absent: AbsentLists
    /// Whether a look was asked for to decide on them.
    var isLookWanted = false

    /// By what rules lists are read.
    let listRules: String

    var manifest: Manifest?
    var nextGeneration: Int
    /// Lists of which an older version is published, which may name what they name no more.
    var rewrittenLists: Set<ListName> = []
    /// Lists whose published documents name images that are not on disk.
    var damagedLists: Set<ListName> = []
    /// Icons with an image that waits to be published.
    var stagedURLs: Set<IconURL> = []
    /// The URLs whose downloads were under way when a publication failed.
    var distrusted: Set<IconURL> = []
    var publishing: PublicationInFlight?
    var publicationFailure: String?
    /// Whether the newest manifest may be lost in a power failure: nothing that only an older one names is removed then.
    var isInDoubt = false

    /// Whether the next look at the cache folder is to be a complete one, whatever asks for it.
    var isCompleteLookDue = false
    /// How current the knowledge of the cache folder is: the first look at it is a complete one.
    var cacheLook = CacheLook.due(isComplete: true)
    /// Whether it was looked at completely since the start.
    var isCacheSearched = false
    /// The images that the first look reads.
    var doubtfulImages: Set<Digest> = []
    /// When something was missing in the cache folder for the last time, and what.
    var lastRepair: String?

    /// Whether the agent is about to end.
    package internal(set) var isStopping = false
    /// Whether no download is begun because somebody said so.
    package internal(set) var isPaused: Bool

    var eviction = EvictionState.idle
    /// Files of images that are not what they were, and are still there.
    var damaged: Set<RetirementPlan.Image> = []
    /// The URLs whose `by-url/` names are links to them.
    var damagedURLs: Set<IconURL> = []
    var brake: EvictionBrake
    /// What could not be removed, and when it is tried again.
    var stuck: (plan: RetirementPlan, until: Timestamp)?
    /// The generations that readers held at the last try, or that could not be removed.
    var unreleased: [Int: ReleaseRetry] = [:]

    /// Icons of which something changed that is to be remembered over a restart.
    var unremembered: Set<IconURL> = []
    var unrememberedOrigins: Set<String> = []
    var unrememberedLists: Set<ListName> = []
    var isPauseUnremembered = false
    /// Generations that were superseded, or released, since that was last remembered.
    var unrememberedGenerations: Set<Int> = []
    var isHoldUnremembered = false
    var isFolderUnremembered = false
    var isNewestGenerationUnremembered = false
    /// URLs of which the beginning may be in `staging/`, for the next attempt to go on with.
    var partials: Set<IconURL> = []
    var rememberAt: Timestamp?

    /// The trail that was noted last.
    var lastTrail: FetchTrail?

    struct DueTime<Key: Hashable & Sendable>: Comparable, Sendable {
        var time: Timestamp
        /// The URL of an icon, or an origin.
        var key: Key
        static func < (a: DueTime, b: DueTime) -> Bool { a.time < b.time }
    }

    struct PublicationInFlight {
        var publication: Publication
        var staged: [IconURL: StagedImage]
        /// The lists in it whose published documents name images that are not on disk.
        var mended: Set<ListName>
        /// Whether it would be of use without a document.
        var changesManifest: Bool
        var begun: Timestamp

        mutating func noteMended(_ list: ListName) {
            if publication.documents.contains(where: { $0.list == list }) { mended.insert(list) }
        }
    }

    /// When the release of a generation is tried again, and how long after the last try.
    struct ReleaseRetry {
        var time: Timestamp
        var delay: Duration
    }

    enum EvictionState {
        case idle
        case releasing
        case removing(RetirementPlan)
    }

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
        network = NetworkPolicy(settings.network)
        listRules = ListLimits(settings.lists).rules
        self.triesOnce = triesOnce
        generator = SeededGenerator(seed: seed)
        queue = FetchQueue(concurrency: settings.fetch.concurrency, perOrigin: settings.fetch.perHost)
        nextGeneration = restored.knownNextGeneration
        isPaused = restored.isPaused
        folder = restored.folder
        absent = AbsentLists(settle: settings.lists.settle, settleMax: settings.lists.settleMax)
        brake = EvictionBrake(
            threshold: settings.eviction.holdAbove, holdFor: settings.eviction.holdFor, hold: restored.knownHold)
        partials = Set(restored.partials.map(\.url))
        restore(restored, now: now)
    }

    /// Takes an event in.
    ///
    /// - Returns: What is to be done now, in this order.
    package mutating func handle(_ event: Event, now: Timestamp) -> [Action] {
        handle([event], now: now)
    }

    /// Takes events in that came at once, in this order.
    ///
    /// - Returns: What is to be done after all of them, in this order.
    package mutating func handle(_ events: [Event], now: Timestamp) -> [Action] {
        var actions: [Action] = []
        for event in events { apply(event, now: now, to: &actions) }
        advance(now: now, to: &actions)
        return actions
    }

    /// When `.tick` is due, if no other event comes first; `nil` if nothing waits for time to pass.
    package var nextWake: Timestamp? {
        var times = triesOnce ? [rememberAt] : [dueTimes.min?.time, originTimes.min?.time, rememberAt]
        if looksForSpace { times.append(space.nextLook) }
        times.append(absentListsDue)
        if hasScanned, isStoreIdle {
            times.append(window.due(during: traffic))
            times.append(nextEviction)
        }
        return times.compactMap(\.self).min()
    }

    /// Whether all that can be done now has been done: what is left waits for a retry, an origin, a grace or a reader.
    package var isSettled: Bool {
        guard isStopping || hasScanned && !hasUnreadLists && absent.isEmpty, isIdle, isStoreIdle else { return false }
        return !hasScanned || window.due(during: .ending) == nil || hasGivenUpPublishing
    }

    /// Whether a publication failed, and no other one is waited for.
    ///
    /// What ends when all is done tries it three times: what it downloads after a failure is else lost.
    private var hasGivenUpPublishing: Bool {
        publicationFailure != nil && (isStopping || !triesOnce || window.failures >= 3)
    }

    /// Whether nothing more is to be expected of downloads for now.
    ///
    /// What waits for its origin is like what waits for its retry: it comes later.
    var isIdle: Bool { queue.activeCount == 0 && (!mayDownload || queue.readyCount == 0) }

    var traffic: PublicationWindow.Traffic {
        guard isIdle else { return queue.isFlowing ? .flowing : .doubtful }
        return isStopping || triesOnce ? .ending : .none
    }

    /// Whether downloads are begun at all.
    var mayDownload: Bool { !isStopping && !isPaused && space.isOpen }

    /// The versions of lists that need not be parsed again.
    package var knownLists: [ListName: KnownList] { catalog.lists.compactMapValues(\.known) }

    /// The state of one icon; `nil` if nothing is known of it.
    package func icon(_ url: IconURL) -> IconRecord? { catalog.icons[url] }
}
