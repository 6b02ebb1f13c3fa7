import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import Reports
import SyncPlan
import Testing

/// A reconciler whose actions are kept until the test says what comes of them.
struct AgentScenario {
    private(set) var plan: Reconciler
    var disk = SimulatedDisk()
    private(set) var now = Sample.start
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
    /// How many bytes are being written to see whether there is room.
    private(set) var trial: Int?
    /// The lists as they are in the folder.
    private(set) var lists: [ListName: [IconURL]] = [:]
    /// Whether the plan wants the lists folder to be listed again.
    private(set) var isLookWanted = false
    /// Whether looks at the cache folder find everything in place, at once.
    var answersInspections = true
    /// The look at the cache folder that is under way.
    private(set) var expectation: CacheExpectation?
    /// What was expected at the looks that ended.
    private(set) var inspections: [CacheExpectation] = []
    /// What was to be written ahead of its publication.
    private(set) var writtenAhead: [(staged: StagedImage, url: IconURL?)] = []
    private var lastStaged = 0
    /// The orders that have not ended.
    var renderings: [RenderOrder] = []
    /// The names that are being set.
    var naming: RenditionNaming?
    /// The names that were set.
    private(set) var names: [RenditionSubject: RenditionNaming.Name] = [:]
    /// What is at the path of the lists folder.
    var folder = Sample.folder
    /// All that was told.
    var events: [AgentEvent] = []

    init(triesOnce: Bool = false, _ change: (inout Settings) -> Void = { _ in }) {
        var settings = Settings.withoutHeartbeat
        change(&settings)
        self.settings = settings
        plan = Reconciler(settings: settings, seed: 1, triesOnce: triesOnce, now: now)
    }

    // MARK: What happens

    mutating func handle(_ event: Reconciler.Event) throws {
        let actions = plan.handle(event, now: now)
        events += plan.drainEvents()
        for action in actions {
            switch action {
            case .fetch(let request):
                try #require(downloads.updateValue(request, forKey: request.url) == nil, "one request in flight a URL")
                requests.append(request)
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
            case .look: isLookWanted = true
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

    /// Has the lists folder looked at, in which nothing changed but what is gone from it.
    mutating func look() throws {
        isLookWanted = false
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [:])))
    }

    /// Changes lists (`nil` removes one), or puts rejected files in their place, and has the folder looked at.
    ///
    /// What is missing from it has been for long, unless it has just vanished.
    mutating func drop(
        _ changes: [ListName: [IconURL]?], rejected: [ListName: ListRejection] = [:], waits: Bool = true
    ) throws {
        for (name, urls) in changes { lists[name] = urls }
        for name in rejected.keys { lists[name] = [] }
        var changed = changes.compactMapValues { $0.map(Sample.reading) }
        changed.merge(rejected.mapValues { ListReading(source: nil, verdict: .failure($0)) }) { $1 }
        let names = Set(lists.keys)
        if waits, plan.status.lists.contains(where: { !names.contains($0.name) && $0.name != "pins" }) {
            var earlier = folder
            earlier.listed = now + .seconds(-3600)
            try handle(.scanned(.listed(earlier, present: names, changed: [:])))
        }
        try handle(.scanned(.listed(folder, present: names, changed: changed)))
    }

    /// Drops a list of one URL with the digest that a word stands for, or with none.
    mutating func drop(_ name: ListName, _ url: IconURL, expecting word: String?) throws {
        try drop(name, apps: [AppEntry(icon: url, expected: word.map(Digest.of))])
    }

    /// Drops a list of apps.
    mutating func drop(_ name: ListName, apps: [AppEntry]) throws {
        lists[name] = apps.map(\.icon)
        let text = apps.map { "\($0.id ?? "") \($0.icon) \($0.expected.map { "\($0)" } ?? "")" }
        let source = Sample.source(text.map { IconURL($0) })
        let reading = ListReading(source: source, verdict: .success(AppList(entries: apps)))
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [name: reading])))
    }

    /// Drops a file that names the images in the folder of relative icon names.
    mutating func drop(_ name: ListName, images: Set<IconURL>) throws {
        lists[name] = []
        let source = Sample.source(images.sorted())
        let reading = ListReading(source: source, verdict: .success(AppList(images: images)))
        try handle(.scanned(.listed(folder, present: Set(lists.keys), changed: [name: reading])))
    }

    /// Puts a file in place of a list that is none.
    mutating func spoil(_ name: ListName) throws {
        try drop([:], rejected: [name: .emptyFile])
    }

    /// Lets a download end with an image, which the server tags with the image's word.
    mutating func finish(_ url: IconURL, with word: String, answer: StoredResponse? = nil) throws {
        lastStaged += 1
        let staged = StagedImage(name: "\(lastStaged)", image: Sample.image(word))
        disk.staging.insert(staged.name)
        try finish(url, .image(staged, answer ?? Sample.response(etag: word, at: now)))
    }

    /// The same with an image that no other URL has.
    mutating func finish(_ url: IconURL, with own: IconURL) throws {
        try finish(url, with: own.text)
    }

    mutating func finish(
        _ url: IconURL, _ outcome: FetchOutcome, trail: FetchTrail? = nil, leavingPart: Bool = false,
        isMultiplexed: Bool? = nil
    ) throws {
        if leavingPart { disk.partials.insert(url) }
        try #require(downloads.removeValue(forKey: url) != nil, "\(url) is not being downloaded")
        try handle(.fetched(url: url, outcome, trail: trail, isMultiplexed: isMultiplexed))
    }

    mutating func finishPublication(fails: Bool = false, isFull: Bool = false, doubt: String? = nil) throws {
        let publication = try #require(self.publication, "nothing is being published")
        self.publication = nil
        var result = fails || isFull ? disk.fail(publication, isFull: isFull) : try disk.publish(publication)
        if case .published(let manifest, let written, _) = result {
            result = .published(manifest, written: written, doubt: doubt)
        }
        try handle(.published(result))
        try disk.check()
    }

    /// Finds no more room than this for the documents of the publication.
    mutating func refusePublication(room: Int) throws {
        let publication = try #require(self.publication, "nothing is being published")
        self.publication = nil
        let sizes = Dictionary(publication.documents.map { ($0.list, $0.json.utf8.count) }) { a, _ in a }
        let shortage = Shortage(bytes: sizes.values.reduce(0, +), isGeneral: false, reason: "documents do not fit")
        try handle(.published(.noRoom(shortage, room: room, documents: sizes)))
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
        memory.noteSleep(time)
        if isRunning { try handle(.slept(time)) }
    }

    /// Lets all that is rendered end, with an image for each size, or as it is said for the image of a word.
    mutating func finishRendering(
        _ results: [String: RenderReport.Result] = [:], version: Int? = 1, trouble: String? = nil
    ) throws {
        let order = try #require(renderings.first, "nothing is being rendered")
        renderings.removeFirst()
        var report = RenderReport(version: version)
        report.trouble = trouble
        for item in order.items where trouble == nil {
            var staged: [Int: StagedImage] = [:]
            for pixels in item.pixels {
                lastStaged += 1
                staged[pixels] = StagedImage(
                    name: "\(lastStaged)", image: Sample.rendition(of: item.image, pixels, by: version ?? 0))
                disk.staging.insert("\(lastStaged)")
            }
            report.results[item.image.sha256] = .rendered(staged)
        }
        for (word, result) in results {
            let image = Sample.image(word).sha256
            if case .rendered(let staged) = report.results.updateValue(result, forKey: image) {
                disk.staging.subtract(staged.values.map(\.name))
            }
        }
        try handle(.rendered(report))
    }

    mutating func finishNaming(trouble: String? = nil) throws {
        let naming = try #require(self.naming, "no names are being set")
        self.naming = nil
        if trouble == nil {
            if let all = naming.all { names = names.filter { all.contains($0.key) } }
            for subject in naming.removed { names[subject] = nil }
            names.merge(naming.names) { $1 }
        }
        try handle(.renditionsNamed(trouble: trouble))
    }

    /// Lets everything end that concerns renditions, and what follows from it.
    mutating func finishRenditions() throws {
        while !renderings.isEmpty || naming != nil || publication != nil {
            if !renderings.isEmpty { try finishRendering() }
            if naming != nil { try finishNaming() }
            if publication != nil { try finishPublication() }
        }
    }

    mutating func finishLook(_ found: Result<DiskSpace, Shortage>) throws {
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
        (expectation, isLookWanted, renderings, naming) = (nil, false, [], nil)
        var restored = disk.restore()
        memory.restore(to: &restored)
        plan = Reconciler(settings: settings, seed: 2, restored: restored, now: now)
    }

    /// Drops lists, downloads each URL's image, and publishes.
    mutating func publish(_ new: [ListName: [IconURL: String]]) throws {
        try drop(new.mapValues { $0.keys.sorted() })
        let words = new.values.reduce(into: [:]) { $0.merge($1) { a, _ in a } }
        for url in downloads.keys.sorted() { try finish(url, with: try #require(words[url])) }
        while publication != nil { try finishPublication() }
    }

    /// Takes images away that nobody knows to be gone.
    mutating func lose(_ words: [String]) {
        disk.images.subtract(words.map { Sample.image($0).sha256 })
        excuse(words)
    }

    /// Lets a complete look at the cache folder end that finds another one at its path.
    mutating func finishInspection(adopting other: SimulatedDisk) throws {
        let expected = try #require(expectation)
        let images = try #require(expected.images)
        disk = other
        var found = CacheInspection()
        found.adopted = AdoptedCache(disk.restore())
        found.latestGeneration = disk.generations.keys.max() ?? 0
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
    mutating func excuse(_ words: [String]) {
        let images = Set(words.map { Sample.image($0).sha256 })
        for generation in disk.generations.keys { disk.damaged[generation] = images }
    }

    // MARK: What is seen

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
