// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports

@testable import AgentSettings
@testable import SyncPlan

/// An agent, its lists folder, its disk and its servers, in which things happen in any order.
///
/// Every step checks the promises of the cache. What happens is determined by the seed, except where the plan follows
/// the order of a set: `SWIFT_DETERMINISTIC_HASHING=1` makes two runs the same.
struct SimulatedWorld {
    static let refused: IconURL = "ftp://a.example/x"
    static let urls: [IconURL] =
        ["a", "b", "c"].flatMap { host in (1...4).map { IconURL("https://\(host).example/\($0).png") } } + [refused]
        + ["1.png#x", "1.png#y", "9.png#x", "9.png#y"].map { IconURL("https://a.example/\($0)") }
        + (1...2).flatMap { icon in (1...3).map { IconURL("https://\(signing)/\(icon).png?sig=\($0)") } }
    /// The host whose URLs have signatures, which distinguish no images in every other world.
    private static let signing = "c.example"
    static let listNames: [ListName] = ["1.plist", "2.plist", "3.plist", "4.plist"]

    /// A restart that nothing was prepared for.
    static let crash = "a crash"

    enum ListFile: Equatable {
        case good([AppEntry])
        case broken
        /// It is no file, but a folder.
        case folder

        var summary: String {
            switch self {
            case .good(let entries): entries.map { "\($0.id ?? ""): \($0.icon)" }.joined(separator: " ")
            case .broken: "broken"
            case .folder: "a folder"
            }
        }
    }

    var settings = Settings.withoutHeartbeat
    var generator: SeededGenerator
    var now = Sample.start
    var plan: Reconciler
    var disk = SimulatedDisk()
    /// What happened, the newest last.
    private(set) var log: [String] = []

    var files: [ListName: ListFile] = [:]
    /// The lists as they were at the last look.
    var seen: [ListName: ListFile] = [:]
    var isFolderThere = true
    /// Whether the agent has seen the lists since its start.
    var hasScanned = false
    /// Which image each server has at the moment, by ``source(of:)``; some have the same.
    private var contents: [String: Int] = [:]

    var downloads: [IconURL: FetchRequest] = [:]
    var publication: Publication?
    var release: [GenerationRelease]?
    /// What is being removed, and whether it is gone already.
    var removal: (plan: RetirementPlan, isDone: Bool)?
    /// What of it could not be removed.
    var unremoved = RetirementPlan()
    /// Whether nothing fails from now on.
    var goesWell = false
    /// Whether somebody looks for room.
    var isMeasuring = false
    /// Whether the disk has no room for anything.
    var isFull = false
    /// Whether the agent was told that there is no room for anything, and not yet that there is.
    var isShut = false
    var leases: Set<Int> = []
    var memory = SimulatedMemory()
    /// The highest number of a generation, also of those that are gone.
    var newestGeneration = 0
    /// When each generation on disk was superseded, had the system not slept since.
    var superseded: [Int: Timestamp] = [:]
    /// The generations whose grace was ended by hand.
    var waived: Set<Int> = []
    var servers = SimulatedServers()
    var isPaused = false
    /// How far the wall clock is ahead of the agent's.
    var clockOffset: Duration = .zero
    /// Whether the agent wants the lists folder to be listed again.
    var isScanWanted = false
    /// Whether it looks at the cache folder.
    var inspection: CacheExpectation?
    var actionCount = 0
    var lastStaged = 0
    /// Until when a URL's image needs no request, and which one it is.
    var fresh: [IconURL: (until: Timestamp, image: Digest)] = [:]
    /// When a URL's last answer came.
    var received: [IconURL: Timestamp] = [:]
    /// The apps that left their lists since the newest documents of these were begun, and before the one in flight.
    var departed: (before: Set<ListedApp>, now: Set<ListedApp>) = ([], [])

    /// An app of a list.
    struct ListedApp: Hashable {
        var list: ListName
        var id: String?
    }

    static let apps = 0..<8
    /// The images that came since the last purge, and the newest generation begun before it.
    var lastPurge: (received: Set<Digest>, generation: Int)?
    /// The images that were lost while the publication in flight may link to them.
    var lostInFlight: Set<Digest> = []
    /// How many publications in a row failed for a missing image since all goes well.
    var failedChecks = 0

    /// Whether images are rendered in other sizes.
    let renders: Bool
    var rendering: RenderOrder?
    var rendererVersion = 1
    var naming: RenditionNaming?
    /// The names of renditions, each with the path of its image.
    var renditionNames: [RenditionSubject: [RenditionSize: String]] = [:]

    init(seed: UInt64, renders: Bool = false) {
        self.renders = renders
        generator = SeededGenerator(seed: seed)
        settings.cache.grace = .seconds(10)
        settings.cache.leaseMax = .seconds(600)
        settings.eviction.holdAbove = HoldThreshold(percent: 50, images: 2)
        settings.fetch.concurrency = 4
        settings.fetch.perHost = 2
        settings.fetch.retryMax = .seconds(60)
        if seed.isMultiple(of: 2), let host = HostPattern(Self.signing) {
            settings.keys = CacheKeys([CacheKeys.Rule(host: host, ignored: ["sig"])])
        }
        if renders {
            settings.render.sizes = [RenditionSize("16"), RenditionSize("8@2")].compactMap(\.self)
            settings.desktop.icons = true
        }
        plan = Reconciler(settings: settings, seed: seed, now: now)
        for url in Self.urls { changeContent(of: url) }
    }

    /// The key of a URL, or the URL as it is requested: all URLs with the same one have the same image.
    func source(of url: IconURL) -> String { settings.keys.key(of: url)?.text ?? url.requested }

    /// The image that a server has at the moment.
    func content(of url: IconURL) -> Int { contents[source(of: url)] ?? -1 }

    mutating func changeContent(of url: IconURL) { contents[source(of: url)] = .random(in: 0..<8, using: &generator) }

    // MARK: Steps

    /// Lets one thing happen.
    mutating func step() throws(Violation) {
        if renders {
            if chance(25) { try endRendering() }
            if chance(2) { try changeSizes() }
        }
        switch Int.random(in: 0..<111, using: &generator) {
        case 0..<10: changeLists()
        case 10..<25: try scanLists()
        case 25..<55: try endDownloads()
        case 55..<67: try endPublication(fails: chance(10), isDeferred: chance(8))
        case 67..<75: try endEviction()
        case 75: try changeSpace()
        case 76..<87: try passTime()
        case 87: try sleep()
        case 88..<90: changeContents()
        case 90: changeServers()
        case 91: try awaitIcons()
        case 92..<95: changeLeases()
        case 95: isFolderThere.toggle()
        case 96: try chance(50) ? pause(!isPaused) : evict()
        case 97: try restart(after: Self.crash)
        case 98: try stop()
        case 100..<102: try damage()
        case 102..<105: try request()
        case 105..<108: try pin()
        case 108: try purge()
        case 109: try setClock()
        case 110: try emptyFolder()
        default: changeLists(rename: true)
        }
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    mutating func record(_ event: String) {
        log.append("+\((now - Sample.start).components.seconds) s: \(event)")
    }

    // MARK: The plan

    mutating func handle(_ event: Reconciler.Event) throws(Violation) { try handle([event]) }

    mutating func handle(_ events: [Reconciler.Event]) throws(Violation) {
        if plan.isPurging { waived.formUnion(disk.generations.keys) }
        let inFlight = publication
        let isPurgeDue =
            plan.isPurgeDue
            || plan.lastingDoubt == nil && events.contains { if case .purge = $0 { true } else { false } }
        let actions = plan.handle(events, now: now)
        if isPurgeDue, !plan.isPurgeDue { recordPurge(beside: inFlight) }
        for action in actions {
            actionCount += 1
            try perform(action)
        }
        if let expected = inspection {
            inspection = nil
            try handle(.inspected(disk.inspect(expected)))
        }
        if naming != nil { try endNaming() }
        try check()
    }

    private mutating func perform(_ action: Reconciler.Action) throws(Violation) {
        switch action {
        case .fetch(let request):
            try checkFetch(request)
            downloads[request.url] = request
        case .cancel(let url):
            try expect(downloads[url] != nil, "\(url) is not being downloaded, and is cancelled")
            let isWanted = plan.icon(url)?.isReferenced ?? false
            try expect(!isWanted || plan.isStopping, "\(url) is cancelled, and a list names it")
        case .writeAhead(let staged, _):
            try expect(disk.staging.contains(staged.name), "\(staged.name) is written ahead, and is not staged")
            let isNamed = disk.generations.values.contains { disk.images(of: $0).contains(staged.image) }
            try expect(!isNamed, "\(staged.image.path) is written in place, and a generation names it")
        case .background(.discard(let names)):
            for name in names {
                try expect(disk.staging.remove(name) != nil, "\(name) is discarded, and is not in staging/")
            }
        case .background(.discardPartials(let urls)):
            try expect(downloads.keys.allSatisfy { !urls.contains($0) }, "a file goes that is being written")
            disk.partials.subtract(urls)
        case .start(.publish(let new)):
            try expect(publication == nil && release == nil && removal == nil, "a publication meets another one")
            try checkTime(of: new)
            try expect(new.generation > newestGeneration, "generation \(new.generation) is an old number")
            publication = new
            let lists = Set(new.documents.map(\.list))
            departed.before.formUnion(departed.now.filter { lists.contains($0.list) })
            departed.now = departed.now.filter { !lists.contains($0.list) }
        case .start(.release(let generations)):
            try expect(publication == nil && release == nil && removal == nil, "an eviction meets another one")
            try expect(plan.evictionStatus.state != "suspended", "something is evicted while lists are in doubt")
            try checkGrace(of: generations)
            release = generations
        case .start(.remove(let plan)):
            try expect(publication == nil && release == nil && removal == nil, "an eviction meets another one")
            try checkRemoval(plan)
            removal = (plan, false)
        case .start(.measureSpace):
            try expect(!isMeasuring, "the disk is looked at twice at once")
            isMeasuring = true
        case .background(.remember(let changes)): store(changes)
        case .look: isScanWanted = true
        case .start(.inspect(let expected)): inspection = expected
        case .start(.poll): break
        case .start(.render(let order)):
            try expect(rendering == nil, "two orders are rendered at once")
            rendering = order
        case .start(.nameRenditions(let new)):
            try expect(publication == nil && release == nil && removal == nil, "names meet a publication")
            naming = new
        }
    }

    mutating func store(_ changes: MemoChanges) {
        memory.store(changes)
        for url in changes.forgotten { fresh[url] = nil }
    }
}

extension IconURL {
    /// The URL as it is requested: without its fragment.
    var requested: String { withoutFragment.text }
}
