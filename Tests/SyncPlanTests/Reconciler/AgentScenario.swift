// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

/// A reconciler whose actions are kept until a test says what comes of them, or until time passes (``run(for:)``).
struct AgentScenario {
    private(set) var plan: Reconciler
    var disk = SimulatedDisk()
    var servers = SimulatedServers()
    var now = Sample.start
    /// What the next start is with.
    var settings: Settings

    /// The downloads under way, by URL.
    private(set) var downloads: [IconURL: FetchRequest] = [:]
    /// Every download that was begun, in order.
    private(set) var requests: [FetchRequest] = []
    private(set) var cancelled: [IconURL] = []
    /// The looks at upstreams that have not ended.
    var polls: [UpstreamPoll] = []
    private(set) var publication: Publication?
    private(set) var releases: [GenerationRelease]?
    private(set) var removal: RetirementPlan?
    var memory = SimulatedMemory()
    /// What the random numbers of the next start come from.
    var seed: UInt64 = 2
    /// The ID of the machine.
    var machine: String?
    /// How many bytes are being written to see whether there is room.
    private(set) var trial: Int?
    /// The lists as they are in the folder.
    var lists: [ListName: [IconURL]] = [:]
    /// Whether the plan wants the lists folder to be listed again.
    var isScanWanted = false
    /// Whether looks at the cache folder find everything in place, at once.
    var answersInspections = true
    /// The look at the cache folder that is under way.
    private(set) var expectation: CacheExpectation?
    /// What was expected at the looks that ended.
    private(set) var inspections: [CacheExpectation] = []
    /// What was to be written ahead of its publication.
    private(set) var writtenAhead: [(staged: StagedImage, url: IconURL?)] = []
    /// How many images were staged.
    var lastStaged = 0
    /// The orders that have not ended.
    var renderings: [RenderOrder] = []
    /// The names that are being set.
    var naming: RenditionNaming?
    /// The names that were set.
    var names: [RenditionSubject: RenditionNaming.Name] = [:]
    /// What is at the path of the lists folder.
    var folder = Sample.folder
    /// All that was told.
    var events: [AgentEvent] = []
    /// When what is done on disk ends by itself, while time passes.
    var jobEnd: Timestamp?
    /// How often the plan was woken by ``run(for:)``.
    var wakeUps = 0
    /// When the document of each list first had all of its images.
    var whole: [ListName: Timestamp] = [:]

    init(triesOnce: Bool = false, _ change: (inout Settings) -> Void = { _ in }) {
        var settings = Settings.withoutHeartbeat
        change(&settings)
        self.settings = settings
        plan = Reconciler(settings: settings, seed: 1, triesOnce: triesOnce, now: now)
    }

    // MARK: Steps

    mutating func handle(_ event: Reconciler.Event) throws {
        let actions = plan.handle(event, now: now)
        events += plan.drainEvents()
        for action in actions {
            switch action {
            case .fetch(let request):
                try #require(downloads.updateValue(request, forKey: request.url) == nil, "one request in flight a URL")
                requests.append(request)
                servers.send(request, at: now)
            case .cancel(let url): cancelled.append(url)
            case .writeAhead(let staged, let url): writtenAhead.append((staged, url))
            case .background(.discard(let names)): disk.staging.subtract(names)
            case .background(.discardPartials(let urls)): disk.partials.subtract(urls)
            case .start(.publish(let new)): publication = new
            case .start(.release(let generations)): releases = generations
            case .start(.remove(let plan)): removal = plan
            case .start(.measureSpace(let bytes)):
                try #require(trial == nil, "one look at a time")
                trial = bytes
            case .background(.remember(let changes)): memory.store(changes)
            case .look: isScanWanted = true
            case .start(.inspect(let new)): expectation = new
            case .start(.poll(let poll)): polls.append(poll)
            case .start(.render(let order)): renderings.append(order)
            case .start(.nameRenditions(let new)): naming = new
            }
        }
        if let expected = expectation, answersInspections {
            expectation = nil
            inspections.append(expected)
            try handle(.inspected(disk.inspect(expected)))
        }
    }

    /// Lets a look at the cache folder end.
    mutating func finishInspection(_ found: CacheInspection) throws {
        inspections.append(try #require(expectation, "nobody looks at the cache"))
        expectation = nil
        try handle(.inspected(found))
    }

    /// Lets a download end with an image, which the server tags with the image's word.
    mutating func finish(_ url: IconURL, with word: String, answer: StoredResponse? = nil) throws {
        try finish(url, .image(stage(Sample.image(word)), answer ?? Sample.response(etag: word, at: now)))
    }

    /// The same with an image that no other URL has.
    mutating func finish(_ url: IconURL, with own: IconURL) throws {
        try finish(url, with: own.text)
    }

    /// Puts an image in `staging/`.
    mutating func stage(_ image: AppListDocument.Image) -> StagedImage {
        lastStaged += 1
        disk.staging.insert("\(lastStaged)")
        return StagedImage(name: "\(lastStaged)", image: image)
    }

    mutating func finish(
        _ url: IconURL, _ outcome: FetchOutcome, trail: FetchTrail? = nil, leavingPart: Bool = false,
        isMultiplexed: Bool? = nil
    ) throws {
        if leavingPart { disk.partials.insert(url) }
        try #require(downloads.removeValue(forKey: url) != nil, "\(url) is not being downloaded")
        try handle(.fetched(EndedDownload(url: url, outcome, trail: trail, isMultiplexed: isMultiplexed)))
    }

    /// Lets the publication under way end; `bytes` is what each of its documents took, if not as many as it has.
    mutating func finishPublication(
        fails: Bool = false, isFull: Bool = false, doubt: String? = nil, bytes: Int? = nil
    ) throws {
        try endPublication { disk, publication in
            let result = fails || isFull ? disk.fail(publication, isFull: isFull) : try disk.publish(publication)
            guard case .published(let manifest, var written, _) = result else { return result }
            if let bytes { written.documents = written.documents.mapValues { _ in bytes } }
            return .published(manifest, written: written, doubt: doubt)
        }
    }

    /// Lets the publication under way end with what comes of it on disk.
    mutating func endPublication(
        _ end: (inout SimulatedDisk, Publication) throws -> PublicationResult
    ) throws {
        let publication = try #require(self.publication, "nothing is being published")
        self.publication = nil
        try handle(.published(end(&disk, publication)))
        try disk.check()
    }

    mutating func finishRelease(leases: Set<Int> = [], failing: Set<Int> = []) throws {
        let releases = try #require(self.releases, "nothing is being released")
        self.releases = nil
        try handle(disk.release(releases, leases: leases, failing: failing))
    }

    /// Lets what is retired be removed, but for what cannot be.
    mutating func finishRemoval(failed: RetirementPlan = RetirementPlan()) throws {
        var removal = try #require(self.removal, "nothing is being removed")
        removal.subtract(failed)
        try disk.remove(removal)
        self.removal = nil
        try handle(.removed(failed: failed))
    }

    /// Lets the system sleep; the agent runs meanwhile, or not.
    mutating func sleep(_ time: Duration, isRunning: Bool = true) throws {
        now = now + time
        memory.recordSleep(time)
        if isRunning { try handle(.slept(time)) }
    }

    mutating func finishTrial(_ found: Result<DiskSpace, Shortage>) throws {
        try #require(trial != nil, "nobody looks for room")
        trial = nil
        try handle(.space(found))
    }

    /// Lets whatever is done on disk end, until there is nothing more to do at this time.
    mutating func finishJobs() throws {
        while publication != nil || releases != nil || removal != nil {
            if publication != nil { try finishPublication() }
            if releases != nil { try finishRelease() }
            if removal != nil { try finishRemoval() }
        }
    }

    mutating func pass(_ time: Duration) throws {
        now = now + time
        try handle(.tick)
    }

    /// Lets every download under way end in the same way.
    mutating func finishAll(_ outcome: FetchOutcome) throws {
        for url in downloads.keys.sorted() { try finish(url, outcome) }
    }

    /// Sets the clock, back as well, and starts the agent again.
    mutating func restart(at time: Timestamp) throws {
        now = time
        try restart()
    }

    /// Lets time pass until the plan wants to be woken, and wakes it.
    mutating func passToNextWake() throws {
        now = try #require(plan.nextWake, "nothing waits for time to pass")
        try handle(.tick)
    }

    /// Lets time pass until an icon is asked for again.
    mutating func fetchAgain(_ url: IconURL) throws {
        while downloads[url] == nil {
            try passToNextWake()
            try finishJobs()
        }
    }

    /// Ends the agent where it stands, and starts it again, perhaps with another cache folder.
    mutating func restart(losing lost: Set<Digest> = [], on other: SimulatedDisk? = nil) throws {
        disk = other ?? disk
        disk.images.subtract(lost)
        (downloads, publication, releases, removal, trial) = ([:], nil, nil, nil, nil)
        (expectation, isScanWanted, renderings, naming, jobEnd) = (nil, false, [], nil, nil)
        var restored = disk.restore()
        memory.restore(to: &restored)
        restored.machine = machine
        plan = Reconciler(settings: settings, seed: seed, restored: restored, now: now)
    }

    /// Adds lists, downloads each URL's image, and publishes.
    mutating func publish(_ new: [ListName: [IconURL: String]]) throws {
        try scan(new.mapValues { $0.keys.sorted() })
        let words = new.values.reduce(into: [:]) { $0.merge($1) { a, _ in a } }
        for url in downloads.keys.sorted() { try finish(url, with: try #require(words[url])) }
        while publication != nil { try finishPublication() }
    }

    /// Takes images away that nobody knows to be gone.
    mutating func lose(_ words: [String]) {
        disk.images.subtract(words.map { Sample.image($0).sha256 })
        allowLoss(of: words)
    }

    /// Lets a complete look at the cache folder end that finds another one at its path.
    mutating func finishInspection(adopting other: SimulatedDisk) throws {
        let expected = try #require(expectation)
        let images = try #require(expected.images)
        disk = other
        var found = CacheInspection()
        found.adopted = AdoptedCache(disk.restore())
        found.latestGeneration = disk.generations.keys.max() ?? 0
        found.lacksManifest = disk.generations.isEmpty
        found.lostDocuments = Set(expected.documents.filter { disk.documents[$0.value] == nil }.keys)
        for naming in images {
            if disk.images.contains(naming.image.sha256) {
                if let url = naming.url { disk.names[url] = naming.image.sha256 }
            } else {
                found.lostImages.insert(naming.image.sha256)
            }
        }
        try finishInspection(found)
    }

    /// Takes it as given that images are missing that generations on disk name.
    mutating func allowLoss(of words: [String]) {
        let images = Set(words.map { Sample.image($0).sha256 })
        for generation in disk.generations.keys { disk.damaged[generation] = images }
    }

    /// Forgets what only tests look at, so that a long run needs no more and more memory.
    mutating func clearHistory() {
        (requests, cancelled, inspections, writtenAhead, events) = ([], [], [], [], [])
    }

    // MARK: State

    /// The generations that are being released.
    var release: [Int]? { releases?.map(\.generation) }

    /// The state of each of a list's icons in the newest manifest.
    func published(_ list: ListName) throws -> [AppListDocument.State] {
        let entry = try #require(disk.current?.lists[list], "the manifest does not name \(list)")
        return try #require(disk.documents[entry.sha256]).apps.map(\.state)
    }

    func isOnDisk(_ word: String) -> Bool { disk.images.contains(Sample.image(word).sha256) }
}

extension StatusReport.Downloads {
    /// Its numbers, in their order.
    var counts: [Int] { [active, queued, waiting, blocked] }
}
