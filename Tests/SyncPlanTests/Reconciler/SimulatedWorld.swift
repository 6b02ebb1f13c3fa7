import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan

/// An agent, its lists folder, its disk and its servers, in which things happen in any order.
///
/// Every step checks the promises of the cache. What happens is determined by the seed, except where the plan follows
/// the order of a set: `SWIFT_DETERMINISTIC_HASHING=1` makes two runs the same.
struct SimulatedWorld {
    static let refused: IconURL = "ftp://a.example/x"
    static let urls =
        ["a", "b", "c"].flatMap { host in (1...4).map { IconURL("https://\(host).example/\($0).png") } } + [refused]
    private static let listNames: [ListName] = ["1.plist", "2.plist", "3.plist", "4.plist"]

    /// A restart that nothing was prepared for.
    private static let crash = "a crash"

    private enum ListFile: Equatable {
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

    private var settings = Settings.withoutHeartbeat
    private var generator: SeededGenerator
    private(set) var now = Sample.start
    private(set) var plan: Reconciler
    private(set) var disk = SimulatedDisk()
    /// What happened, the newest last.
    private(set) var log: [String] = []

    private var files: [ListName: ListFile] = [:]
    /// The lists as they were at the last look.
    private var seen: [ListName: ListFile] = [:]
    private var isFolderThere = true
    /// Whether the agent has seen the lists since its start.
    private var hasLooked = false
    /// Which image each server has at the moment; some have the same.
    private var contents: [IconURL: Int] = [:]

    private var downloads: [IconURL: FetchRequest] = [:]
    private var publication: Publication?
    private var release: [GenerationRelease]?
    /// What is being removed, and whether it is gone already.
    private var removal: (plan: RetirementPlan, isDone: Bool)?
    /// What of it could not be removed.
    private var unremoved = RetirementPlan()
    /// Whether nothing fails from now on.
    private var goesWell = false
    /// Whether somebody looks for room.
    private var isLooking = false
    /// Whether the disk has no room for anything.
    private var isFull = false
    /// Whether the agent was told that there is no room for anything, and not yet that there is.
    private var isShut = false
    private var leases: Set<Int> = []
    private var memory = SimulatedMemory()
    /// When each generation on disk was superseded, had the system not slept since.
    private var superseded: [Int: Timestamp] = [:]
    /// The generations whose grace was ended by hand.
    private var waived: Set<Int> = []
    private var servers = SimulatedServers()
    private var isPaused = false
    /// Whether the agent wants the lists folder to be listed again.
    private var isLookWanted = false
    /// Whether it looks at the cache folder.
    private var inspection: CacheExpectation?
    private var actionCount = 0
    private var lastStaged = 0
    /// Until when a URL's image needs no request, and which one it is.
    private var fresh: [IconURL: (until: Timestamp, image: Digest)] = [:]
    /// When a URL's last answer came.
    private var received: [IconURL: Timestamp] = [:]
    /// The apps that left their lists since the newest documents of these were begun; those of before the one in flight.
    private var departed: (before: Set<ListedApp>, now: Set<ListedApp>) = ([], [])

    /// An app of a list.
    private struct ListedApp: Hashable {
        var list: ListName
        var id: String?
    }

    private static let apps = 0..<8

    /// Whether images are rendered in other sizes.
    private let renders: Bool
    private var rendering: RenderOrder?
    private var rendererVersion = 1
    private var naming: RenditionNaming?
    /// The names of renditions, each with the path of its image.
    private var renditionNames: [RenditionSubject: [RenditionSize: String]] = [:]

    init(seed: UInt64, renders: Bool = false) {
        self.renders = renders
        generator = SeededGenerator(seed: seed)
        settings.cache.grace = .seconds(10)
        settings.cache.leaseMax = .seconds(600)
        settings.eviction.holdAbove = HoldThreshold(percent: 50, images: 2)
        settings.fetch.concurrency = 4
        settings.fetch.perHost = 2
        settings.fetch.retryMax = .seconds(60)
        if renders {
            settings.render.sizes = [RenditionSize("16"), RenditionSize("8@2")].compactMap(\.self)
            settings.desktop.icons = true
        }
        plan = Reconciler(settings: settings, seed: seed, now: now)
        for url in Self.urls { contents[url] = .random(in: 0..<8, using: &generator) }
    }

    // MARK: Steps

    /// Lets one thing happen.
    mutating func step() throws(Violation) {
        if renders {
            if chance(25) { try endRendering() }
            if chance(2) { try changeSizes() }
        }
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<10: changeLists()
        case 10..<25: try look()
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
        default: changeLists(rename: true)
        }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func note(_ what: String) {
        log.append("+\((now - Sample.start).components.seconds) s: \(what)")
    }

    private mutating func changeLists(rename: Bool = false) {
        guard let name = Self.listNames.randomElement(using: &generator) else { return }
        if rename, let other = Self.listNames.randomElement(using: &generator), files[other] == nil {
            files[other] = files.removeValue(forKey: name)
            note("\(name) is renamed to \(other)")
            return
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3: files[name] = nil
        case 3: files[name] = chance(50) ? .broken : .folder
        default:
            files[name] = .good(changed(files[name]))
        }
        note("\(name) becomes \(files[name]?.summary ?? "nothing")")
    }

    /// The next version of a list: apps come, go, and get other URLs; some have the same one.
    private mutating func changed(_ file: ListFile?) -> [AppEntry] {
        var entries: [AppEntry] = []
        if case .good(let old) = file { entries = old.filter { _ in !chance(20) } }
        for index in entries.indices where chance(40) {
            if let url = Self.urls.randomElement(using: &generator) { entries[index].icon = url }
        }
        for app in Self.apps where chance(25) && !entries.contains(where: { $0.id == "\(app)" }) {
            if let url = Self.urls.randomElement(using: &generator) {
                entries.append(AppEntry(name: "App", id: "\(app)", icon: url))
            }
        }
        return chance(30) ? entries.shuffled(using: &generator) : entries
    }

    /// Takes note of the apps that are not in a list now.
    private mutating func noteDeparted() {
        for list in Self.listNames {
            var present: Set<String?> = []
            if case .good(let entries) = files[list] { present = Set(entries.map(\.id)) }
            if files[list] == .broken || files[list] == .folder { continue }
            for app in Self.apps where !present.contains("\(app)") {
                departed.now.insert(ListedApp(list: list, id: "\(app)"))
            }
        }
    }

    /// An image was lost, which the agent notices when it has taken in the lists.
    private mutating func excuseAll() {
        for list in Self.listNames { for app in Self.apps { departed.now.insert(ListedApp(list: list, id: "\(app)")) } }
    }

    /// Fails if an app that had an image in one generation, and has been in its list since, has none in the next one.
    private mutating func checkImagesKept(
        from old: Manifest?, _ images: Set<Digest>, by publication: Publication
    ) throws(Violation) {
        let lists = Set(publication.documents.map(\.list))
        let excused = departed.before.union(departed.now)
        departed.before = departed.before.filter { !lists.contains($0.list) }
        guard let old, let new = disk.current else { return }
        for (name, list) in new.lists {
            guard let before = old.lists[name].flatMap({ disk.documents[$0.sha256] }),
                let after = disk.documents[list.sha256]
            else { continue }
            for app in after.apps where !excused.contains(ListedApp(list: name, id: app.id)) {
                guard app.state.status != .ready else { continue }
                let had = before.apps.contains { old in
                    guard old.id == app.id, case .ready(let image) = old.state else { return false }
                    return images.contains(image.sha256)
                }
                try expect(!had, "the app \(app.id ?? "") of \(name) had an image, and has none")
            }
        }
    }

    private mutating func look() throws(Violation) {
        isLookWanted = false
        if isFolderThere { noteDeparted() }
        guard isFolderThere else {
            note("the folder is looked at, and is not there")
            return try handle(.scanned(.unavailable(reason: "it is not mounted")))
        }
        var changed: [ListName: ListReading] = [:]
        for (name, file) in files where seen[name] != file {
            switch file {
            case .good(let entries): changed[name] = Sample.reading(of: entries)
            case .broken: changed[name] = ListReading(source: nil, verdict: .failure(.emptyFile))
            case .folder: break
            }
        }
        seen = files
        hasLooked = true
        note("the folder is looked at")
        var folder = Sample.folder
        folder.others = Set(files.filter { $0.value == .folder }.keys)
        let present = Set(files.keys).subtracting(folder.others)
        try handle(.scanned(.listed(folder, present: present, changed: changed)))
    }

    /// Lets a download end, or several at once.
    private mutating func endDownloads(succeeds: Bool = false) throws(Violation) {
        var ends: [(url: IconURL, outcome: FetchOutcome)] = []
        repeat {
            guard let end = endDownload(succeeds: succeeds) else { break }
            ends.append(end)
        } while chance(30)
        guard !ends.isEmpty else { return }
        try handle(
            ends.map {
                let isMultiplexed = [true, false, nil].randomElement(using: &generator) ?? nil
                return .fetched(url: $0.url, $0.outcome, isMultiplexed: isMultiplexed)
            })
        for (url, outcome) in ends {
            received[url] = now
            if case .notModified = outcome { noteFresh(url) }
        }
    }

    private mutating func endDownload(succeeds: Bool) -> (url: IconURL, outcome: FetchOutcome)? {
        guard let url = downloads.keys.sorted().randomElement(using: &generator), let content = contents[url],
            let request = downloads.removeValue(forKey: url)
        else { return nil }
        let etag = "\(content)"
        let image = Sample.image(etag)
        let outcome: FetchOutcome
        let isDead = servers.dead.contains(TimedWorld.host(request.url)) && !succeeds
        switch succeeds ? 99 : Int.random(in: 0..<100, using: &generator) {
        case 0..<100 where isFull && !succeeds:
            isShut = true
            outcome = .noRoom(Self.shortage(bytes: chance(50) ? image.bytes : 0))
        case 24..<27: outcome = .noRoom(Self.shortage(bytes: image.bytes, isGeneral: false))
        case 10..<100 where isDead: outcome = .failed(SimulatedServers.failure(using: &generator))
        case 0..<10: outcome = .failed(.timeout("the test's patience"))
        case 10..<14: outcome = .failed(.status([401, 404, 410, 503].randomElement(using: &generator) ?? 404))
        case 14..<17: outcome = .failed(.status(429, retryAfter: .seconds(500)))
        case 17..<24: outcome = .cancelled
        default:
            if request.condition?.validators.etag == etag {
                outcome = .notModified(Sample.response(etag: etag, at: now))
            } else {
                lastStaged += 1
                disk.staging.insert("\(lastStaged)")
                outcome = .image(StagedImage(name: "\(lastStaged)", image: image), Sample.response(etag: etag, at: now))
            }
        }
        note("\(url): \(outcome.summary)")
        leavePart(of: url, after: outcome)
        servers.note(outcome, of: request, at: now)
        return (url, outcome)
    }

    /// Leaves the beginning of an image, or none.
    private mutating func leavePart(of url: IconURL, after outcome: FetchOutcome) {
        let isCut =
            switch outcome {
            case .cancelled: true
            case .failed(let failure): failure.leavesPart
            case .image, .notModified, .noRoom: false
            }
        guard isCut, chance(50) else { return }
        disk.partials.insert(url)
        note("a part of \(url) is left")
    }

    /// Notes that the server vouched for the image on disk just now.
    private mutating func noteFresh(_ url: IconURL) {
        fresh[url] = disk.names[url].map { ((received[url] ?? now) + settings.refresh.default * 0.79, $0) }
    }

    private mutating func endPublication(fails: Bool, isDeferred: Bool = false) throws(Violation) {
        guard let publication else { return }
        self.publication = nil
        if isDeferred, !publication.ignoresRoom, !publication.documents.isEmpty {
            note("there is no room for the documents of generation \(publication.generation)")
            let sizes = Dictionary(publication.documents.map { ($0.list, $0.json.utf8.count) }) { a, _ in a }
            let bytes = sizes.values.reduce(0, +)
            let room = Int.random(in: 0..<bytes, using: &generator)
            let shortage = Self.shortage(bytes: bytes, isGeneral: false)
            return try handle(.published(.noRoom(shortage, room: room, documents: sizes)))
        }
        note("generation \(publication.generation) is \(fails ? "not " : "")published")
        if fails {
            let isFull = isFull || chance(20)
            isShut = isShut || isFull
            return try handle(.published(disk.fail(publication, isFull: isFull)))
        }
        let (last, images) = (disk.current, disk.images)
        let old = last?.generation
        var result = try disk.publish(publication)
        if chance(30), case .published(let manifest, var written, let doubt) = result {
            // Its documents are as long as that of the largest list.
            written.documents = written.documents.mapValues { _ in 8 << 20 }
            result = .published(manifest, written: written, doubt: doubt)
        }
        try checkImagesKept(from: last, images, by: publication)
        if let old { superseded[old] = now }
        // What apps show in place of it says nothing of an icon.
        let staged = Set((publication.moves + publication.discards).map(\.name))
        for (url, _, _) in publication.links where plan.icon(url)?.staged.map({ staged.contains($0.name) }) == true {
            noteFresh(url)
        }
        try handle(.published(result))
    }

    private mutating func endEviction() throws(Violation) {
        if let release {
            self.release = nil
            note("generations \(release.map(\.generation)) are taken away, but for \(leases.sorted())")
            try handle(disk.release(release, leases: leases))
        } else if let (plan, isDone) = removal {
            if !isDone {
                var failed = RetirementPlan()
                if !goesWell, chance(10) {
                    failed.images = plan.images.filter { _ in chance(50) }
                    failed.urls = plan.urls.filter { _ in chance(50) }
                    failed.documents = plan.documents.filter { _ in chance(50) }
                }
                var gone = plan
                gone.subtract(failed)
                note("retired files are removed, but for \(failed.images.count) images")
                try disk.remove(gone)
                // Nothing is known any more of an icon that is evicted, also where its image stays.
                for url in plan.urls { fresh[url] = nil }
                removal?.isDone = true
                unremoved = failed
            } else {
                note("the evictor is done")
                removal = nil
                try handle(.removed(failed: unremoved))
            }
        }
    }

    // MARK: Renditions

    private mutating func endRendering(succeeds: Bool = false) throws(Violation) {
        guard let order = rendering else { return }
        rendering = nil
        if !succeeds, chance(4) { rendererVersion += 1 }
        var report = RenderReport(version: rendererVersion)
        for item in order.items {
            let digest = item.image.sha256
            switch succeeds ? 99 : Int.random(in: 0..<100, using: &generator) {
            case 0..<100 where !disk.images.contains(digest): report.results[digest] = .damaged
            case 0..<5: report.trouble = "it was killed"
            case 5..<8: report.results[digest] = .failed(RenderFailure(.interrupted, "it was killed"))
            case 8..<12: report.results[digest] = .failed(RenderFailure(.failed, "it died"))
            default:
                var images: [Int: StagedImage] = [:]
                for pixels in item.pixels {
                    lastStaged += 1
                    disk.staging.insert("\(lastStaged)")
                    let image = rendition(of: item.image, pixels, order.fit)
                    images[pixels] = StagedImage(name: "\(lastStaged)", image: image)
                }
                report.results[digest] = .rendered(images)
            }
        }
        note("\(report.results.count) of \(order.items.count) images are rendered")
        try handle(.rendered(report))
    }

    /// What the renderer makes of an image; small ones of different images can be the same.
    private func rendition(
        of image: AppListDocument.Image, _ pixels: Int, _ fit: Settings.Render.Fit
    ) -> AppListDocument.Image {
        if pixels == 16 { return Sample.image("small \(image.sha256.hex.utf8.first ?? 0)") }
        return Sample.rendition(of: image, pixels, by: 2 * rendererVersion + (fit == .inside ? 1 : 0))
    }

    private mutating func changeFit() {
        settings.render.fit = settings.render.fit == .inside ? .contain : .inside
    }

    private mutating func changeSizes() throws(Violation) {
        let all = ["16", "8@2", "32", "48"].compactMap { RenditionSize($0) }
        settings.render.sizes = all.filter { _ in chance(50) }
        if chance(30) { changeFit() }
        note("sizes are \(settings.render.sizes), \(settings.render.fit)")
        try handle(.configured(settings))
    }

    private mutating func endNaming() throws(Violation) {
        guard let naming else { return }
        self.naming = nil
        guard goesWell || !chance(10) else { return try handle(.renditionsNamed(trouble: "the disk is slow")) }
        if let all = naming.all { renditionNames = renditionNames.filter { all.contains($0.key) } }
        for subject in naming.removed { renditionNames[subject] = nil }
        for (subject, name) in naming.names {
            for path in name.paths.values {
                try expect(
                    disk.images.contains { path.contains($0.hex) }, "a name would lead to \(path), which is gone")
            }
            let others = name.keepsOthers ? renditionNames[subject] ?? [:] : [:]
            renditionNames[subject] = others.merging(name.paths) { $1 }.filter { naming.sizes.contains($0.key) }
        }
        try handle(.renditionsNamed(trouble: nil))
    }

    private static func shortage(bytes: Int, isGeneral: Bool = true) -> Shortage {
        Shortage(bytes: bytes, isGeneral: isGeneral, reason: "full")
    }

    private mutating func changeSpace() throws(Violation) {
        isFull.toggle()
        note(isFull ? "the disk is full" : "there is room on the disk")
        try endLook()
    }

    private mutating func endLook() throws(Violation) {
        guard isLooking else { return }
        isLooking = false
        note("the disk is looked at")
        guard isFull else {
            isShut = false
            return try handle(.space(.success(SimulatedDisk.space(free: 1 << 20))))
        }
        let isSeen = chance(50)
        try handle(
            .space(isSeen ? .success(SimulatedDisk.space(free: 100)) : .failure(Self.shortage(bytes: 4096))))
    }

    private mutating func passTime() throws(Violation) {
        let limits: [Duration] = [.milliseconds(100), .seconds(5), .seconds(60), .seconds(3600), .seconds(86_400)]
        let limit = limits.randomElement(using: &generator) ?? .seconds(1)
        let next = now + limit * Double.random(in: 0...1, using: &generator)
        now = chance(50) ? max(now, min(next, plan.nextWake ?? next)) : next
        try handle(.tick)
    }

    private mutating func sleep() throws(Violation) {
        let time = Duration.seconds(3600) * Double.random(in: 0...10, using: &generator)
        note("the system sleeps for \(time.components.seconds) s")
        now = now + time
        superseded = superseded.mapValues { $0 + time }
        memory.noteSleep(time)
        try handle(.slept(time))
    }

    private mutating func changeContents() {
        guard let url = Self.urls.randomElement(using: &generator) else { return }
        contents[url] = .random(in: 0..<8, using: &generator)
        note("the server has another image for \(url)")
    }

    private mutating func changeServers() {
        guard let host = ["a.example", "b.example", "c.example"].randomElement(using: &generator) else { return }
        if servers.dead.remove(host) == nil { servers.dead.insert(host) }
        note("\(host) \(servers.dead.contains(host) ? "dies" : "comes back")")
    }

    private mutating func awaitIcons() throws(Violation) {
        let urls = Self.urls.filter { _ in chance(30) }
        note("somebody waits for \(urls.map(\.text).joined(separator: " "))")
        try handle(.awaited(urls))
    }

    private mutating func pause(_ isPaused: Bool) throws(Violation) {
        note(isPaused ? "downloads are paused" : "downloads go on")
        self.isPaused = isPaused
        try handle(isPaused ? .pause(Pause()) : .resume(nil))
    }

    private mutating func evict() throws(Violation) {
        note("what is retired is to go")
        waived.formUnion(disk.generations.keys.filter { $0 != disk.current?.generation })
        try handle(.evict(isConfirmed: chance(50)))
    }

    private mutating func changeLeases() {
        guard let number = disk.generations.keys.sorted().randomElement(using: &generator) else { return }
        if leases.remove(number) == nil { leases.insert(number) }
        note("readers hold generations \(leases.sorted())")
    }

    /// Ends the agent as a person does.
    private mutating func stop() throws(Violation) {
        note("the agent is asked to end")
        try handle(.stopping)
        while !plan.isSettled {
            try expect(hasWork, "the agent waits for nothing, and does not end")
            try finishWork()
        }
        try expect(downloads.isEmpty, "downloads outlive the agent")
        note(plan.drainMemoChanges())
        try restart(after: "its end")
    }

    private mutating func restart(after event: String) throws(Violation) {
        note("the agent starts again after \(event)")
        if let (plan, isDone) = removal, !isDone, chance(50) { try disk.remove(plan) }
        if let publication, chance(50) {
            if let old = disk.current?.generation { superseded[old] = now }
            let (last, images) = (disk.current, disk.images)
            _ = try disk.publish(publication)
            try checkImagesKept(from: last, images, by: publication)
        }
        for url in downloads.keys.sorted() { leavePart(of: url, after: .cancelled) }
        (publication, release, removal, leases, seen, downloads) = (nil, nil, nil, [], [:], [:])
        (isLooking, isShut, isLookWanted, inspection) = (false, false, false, nil)
        (rendering, naming) = (nil, nil)
        hasLooked = false
        if chance(20), let image = disk.images.sorted(by: { $0.hex < $1.hex }).randomElement(using: &generator) {
            note("\(image) was lost")
            disk.images.remove(image)
            excuseAll()
            fresh = fresh.filter { $0.value.image != image }
        }
        if event == Self.crash {
            fresh = [:]
            servers.forget()
        }
        if renders, chance(20) { changeFit() }
        var restored = disk.restore()
        restored.hasRenditionNames = !renditionNames.isEmpty
        memory.restore(to: &restored)
        // What no generation names is not known to be there.
        let named = disk.namedImages
        fresh = fresh.filter { named[$0.key]?.contains($0.value.image) ?? false }
        plan = Reconciler(settings: settings, seed: generator.next(), restored: restored, now: now)
        for (name, known) in plan.knownLists {
            let source = Sample.source(of: known.list.entries)
            try expect(known.sha256 == source.sha256, "\(name) is taken for known, and says something else")
        }
        try look()
    }

    // MARK: The plan

    private mutating func handle(_ event: Reconciler.Event) throws(Violation) { try handle([event]) }

    private mutating func handle(_ events: [Reconciler.Event]) throws(Violation) {
        for action in plan.handle(events, now: now) {
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
            try expect(!isLooking, "the disk is looked at twice at once")
            isLooking = true
        case .background(.remember(let changes)): note(changes)
        case .look: isLookWanted = true
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

    private mutating func note(_ changes: MemoChanges) {
        memory.store(changes)
        for url in changes.forgotten { fresh[url] = nil }
    }

    private func checkFetch(_ request: FetchRequest) throws(Violation) {
        try expect(downloads[request.url] == nil, "\(request.url) is being downloaded, and is again")
        try expect(!isPaused && !plan.isStopping, "\(request.url) is downloaded although nothing is to be")
        try expect(!isShut, "\(request.url) is downloaded although there is no room")
        try servers.check(request, beside: downloads.values, at: now)
        let isGoing = removal?.plan.urls.contains(request.url) ?? false
        if let (until, image) = fresh[request.url], until > now, disk.names[request.url] == image, !isGoing,
            disk.images.contains(image)
        {
            throw Violation("\(request.url) is fresh, and is downloaded again")
        }
        guard let etag = request.condition?.validators.etag else { return }
        let image = plan.icon(request.url)?.image?.sha256
        try expect(image == Sample.image(etag).sha256, "the validators sent for \(request.url) are of another image")
    }

    private func checkGrace(of releases: [GenerationRelease]) throws(Violation) {
        for release in releases {
            guard let time = superseded[release.generation] else { continue }
            let isWaived = waived.contains(release.generation)
            let grace = isWaived ? min(settings.cache.grace, RetentionRule.shortest) : settings.cache.grace
            try expect(time + grace <= now, "generation \(release.generation) is released within its grace")
            try expect(
                !release.ignoresLeases || time + settings.cache.leaseMax <= now,
                "a lease on generation \(release.generation) is ignored before its time")
        }
    }

    private func checkRemoval(_ removed: RetirementPlan) throws(Violation) {
        try disk.check(removed)
        let images = Set(removed.images.map(\.sha256))
        for url in Self.urls {
            guard let icon = plan.icon(url), icon.isReferenced, let image = icon.image else { continue }
            try expect(!images.contains(image.sha256), "the image of \(url) would be removed, and a list names it")
        }
    }

    private func check() throws(Violation) {
        try disk.check()
        var staged: Set<String> = []
        for url in Self.urls {
            guard let icon = plan.icon(url) else { continue }
            if let name = icon.staged?.name { staged.insert(name) }
            guard removal == nil, icon.isReferenced, let image = icon.image, !disk.images.contains(image.sha256)
            else { continue }
            throw Violation("\(url) shows an image that is not on disk")
        }
        staged.formUnion(plan.stagedRenditions)
        for move in publication?.moves ?? [] { staged.insert(move.name) }
        staged.formUnion(publication?.discards.map(\.name) ?? [])
        for url in disk.partials where hasLooked && downloads[url] == nil {
            try expect(plan.icon(url)?.isReferenced ?? false, "a part of \(url) is kept, and no list names it")
        }
        try expect(disk.staging == staged, "staging/ has \(disk.staging.sorted()), and not \(staged.sorted())")
        let status = plan.status
        try expect(status.downloads.active == downloads.count, "the agent has lost count of its downloads")
        try expect(status.state == (isPaused ? .paused : .running), "the agent does not know whether it is paused")
        let mayStart = downloads.isEmpty && !isPaused && !plan.isStopping && status.downloads.reason == nil
        try expect(!mayStart || status.downloads.queued == 0, "\(status.downloads.queued) icons wait for nothing")
        if let wake = plan.nextWake { try expect(wake > now, "what is due at \(wake) was not done at \(now)") }
        if let miscount = plan.miscount { throw Violation(miscount) }
    }

    private func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
        try disk.expect(condition, message())
    }

    // MARK: Rest

    private var hasWork: Bool {
        !downloads.isEmpty || publication != nil || release != nil || removal != nil || isLooking
            || isLookWanted || rendering != nil
    }

    private mutating func finishWork() throws(Violation) {
        try endDownloads(succeeds: true)
        try endPublication(fails: false)
        try endEviction()
        try endLook()
        try endRendering(succeeds: true)
        if isLookWanted { try look() }
    }

    /// Lets everything come to rest, and checks that the disk then holds what the lists name, and nothing else.
    mutating func settle() throws(Violation) {
        note("from here on all goes well")
        goesWell = true
        isFolderThere = true
        isFull = false
        servers.dead = []
        try pause(false)
        leases = []
        if renders {
            // Other rules: what failed by these stays failed. Another version alone lets no document be written again.
            if chance(50) {
                rendererVersion += 1
            } else {
                changeFit()
            }
            try handle(.configured(settings))
        }
        for (name, file) in files where file == .broken { files[name] = .good([]) }
        files = files.filter { $0.value != .folder }
        try look()
        // Ten days are longer than every delay after a failure, and than the time for which an image is fresh.
        let end = now + .seconds(10 * 86_400)
        try advance(until: end)
        // No icon is due in the next seconds, or its refresh changes nothing: the last grace ends.
        try advance(until: end + settings.cache.grace * 3)
        try checkRest()
    }

    private mutating func advance(until end: Timestamp) throws(Violation) {
        var idleWakes = 0
        for _ in 0..<20_000 {
            if hasWork {
                try finishWork()
                idleWakes = 0
                continue
            }
            guard let wake = plan.nextWake, wake <= end else {
                now = end
                return try handle(.tick)
            }
            now = wake
            let before = actionCount
            try handle(.tick)
            idleWakes = actionCount == before ? idleWakes + 1 : 0
            try expect(idleWakes < 100, "the agent wakes up again and again, and does nothing")
        }
        throw Violation("there is no end to what is to be done")
    }

    private func checkRest() throws(Violation) {
        let wanted = files.mapValues { file in
            guard case .good(let entries) = file else { return [IconURL]() }
            return entries.map(\.icon)
        }
        // What apps show whose URLs are refused.
        var kept: Set<IconURL> = []
        var keptImages: Set<Digest> = []
        guard let manifest = disk.current else { throw Violation("there is no manifest") }
        try expect(plan.isSettled && plan.status.inSync, "the agent knows that it is not done")
        try expect(disk.generations.count == 1, "generations \(disk.generations.keys.sorted()) are left")
        try expect(
            Set(manifest.lists.keys) == Set(wanted.keys),
            "the manifest names \(manifest.lists.keys.sorted()), and not \(wanted.keys.sorted())")
        try expect(Set(disk.documents.keys) == Set(manifest.lists.values.map(\.sha256)), "documents are left")
        for (name, list) in manifest.lists {
            let apps = disk.documents[list.sha256]?.apps ?? []
            try expect(apps.map(\.icon) == wanted[name], "the document of \(name) has other icons than the list")
            for app in apps {
                if let previous = app.previous, case .ready(let image) = app.state {
                    try expect(app.icon == Self.refused, "\(app.icon) shows a previous image, and has its own")
                    try expect(previous.error == "scheme-refused", "\(app.icon) failed with \(previous)")
                    kept.insert(app.icon)
                    keptImages.insert(image.sha256)
                    continue
                }
                let state: AppListDocument.State =
                    app.icon == Self.refused
                    ? .failed(error: "scheme-refused") : .ready(Sample.image("\(contents[app.icon] ?? -1)"))
                try expect(app.state == state, "\(app.icon) is \(app.state), and should be \(state)")
            }
        }
        let urls = Set(wanted.values.joined()).subtracting([Self.refused])
        let names = urls.union(kept)
        try expect(Set(disk.names.keys) == names, "by-url/ has \(disk.names.keys.sorted()), and not \(names.sorted())")
        let images = Set(urls.map { Sample.image("\(contents[$0] ?? -1)").sha256 }).union(keptImages)
        try expect(
            disk.images == images.union(try renditions(of: manifest)),
            "\(disk.images.subtracting(images).count) images are left that no list names")
        try expect(disk.staging.isEmpty && disk.partials.isEmpty, "staging/ is not empty")
        try expect(plan.isSettled && plan.status.inSync, "the agent does not know that it is done")
        var nothing = StatusReport(state: .running).downloads
        nothing.origins = []
        nothing.awaitingUpstream = 0
        nothing.pauses = []
        try expect(plan.status.downloads == nothing, "something is still to be downloaded")
    }
}

extension SimulatedWorld {
    /// Checks that all images of a manifest have the renditions that they should, and those their names; returns them.
    private func renditions(of manifest: Manifest) throws(Violation) -> Set<Digest> {
        let sizes = settings.render.sizes.sorted()
        var found: Set<Digest> = []
        var names: [RenditionSubject: [RenditionSize: String]] = [:]
        for (name, list) in manifest.lists.sorted(by: { $0.key < $1.key }) {
            for app in disk.documents[list.sha256]?.apps ?? [] {
                guard case .ready = app.state else {
                    try expect(app.renditions.isEmpty, "\(app.icon) has no image, and renditions")
                    continue
                }
                try expect(
                    app.renditions.map(\.size) == sizes, "\(app.icon) of \(name) has \(app.renditions), not \(sizes)")
                if case .ready(let image) = app.state {
                    let wanted = sizes.map { rendition(of: image, $0.pixels, settings.render.fit) }
                    try expect(app.renditions.map(\.image) == wanted, "\(app.icon) of \(name) has old renditions")
                }
                found.formUnion(app.renditions.map(\.image.sha256))
                let paths = Dictionary(app.renditions.map { ($0.size, $0.image.path) }) { first, _ in first }
                if names[.icon(app.icon)] == nil { names[.icon(app.icon)] = paths }
                if let id = app.id, names[.app(ThemeIcon(id))] == nil { names[.app(ThemeIcon(id))] = paths }
            }
        }
        let named = renditionNames.filter { !$0.value.isEmpty }
        try expect(named == names.filter { !$0.value.isEmpty }, "renditions have the names \(named), and not \(names)")
        return found
    }
}

extension FetchOutcome {
    /// The outcome in a few words.
    fileprivate var summary: String {
        switch self {
        case .image(let staged, _): "image \(staged.image.sha256.hex.prefix(8)) as \(staged.name)"
        case .notModified: "not modified"
        case .failed(let failure): failure.code.rawValue
        case .noRoom(let shortage): shortage.isGeneral ? "no room" : "no room for \(shortage.bytes) bytes"
        case .cancelled: "cancelled"
        }
    }
}
