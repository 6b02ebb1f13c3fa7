// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import HeapModule
import SyncPlan

/// A fleet in virtual time: the first machine is the seeder, which has no upstream.
struct World {
    static let zero = Timestamp(sinceEpoch: .seconds(1_800_000_000))
    private static let folder = ListedFolder(
        path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))
    private static let space = DiskSpace(folder: "/cache", bytes: DiskSpace.Amount(free: 1 << 40, total: 1 << 41))
    private static let list: ListName = "apps.plist"
    /// How long a machine waits for a silent server.
    private static let patience: Duration = .seconds(5)

    let run: Run
    private var scenario: Scenario { run.scenario }
    private let upstream: UpstreamURL
    let icons: [IconURL]
    private let numbers: [IconURL: Int]
    /// The image of each icon: all machines share it.
    private var images: [AppListDocument.Image]
    private let reading: ListReading
    private(set) var machines: [Machine] = []
    /// The looks at the upstream that are under way.
    private var polls: [Int: Poll] = [:]
    private(set) var server: Server
    private var edges: [Edge]
    /// What a machine learns that knew one copy and comes upon another one.
    private var contents: [[Int?]: UpstreamContents] = [:]
    /// The documents of the seeder's newest generation.
    private var documents: [Digest: AppListDocument] = [:]
    private var queue = Heap<Happening>()
    private var count = 0
    private var generator: SeededGenerator
    private(set) var figures: Figures

    init(_ run: Run) throws(SimulationError) {
        guard let upstream = UpstreamURL("https://icons.example/fleet/") else { throw .unusable }
        self.run = run
        self.upstream = upstream
        icons = (0..<run.icons).map { IconURL("https://origin\($0).example/icon-\($0).png") }
        numbers = Dictionary(uniqueKeysWithValues: icons.enumerated().map { ($1, $0) })
        images = icons.map { Self.image("\($0)") }
        let source = AppListDocument.Source(sha256: .of("list"), bytes: 1000, modified: Self.zero)
        reading = ListReading(
            source: source, verdict: .success(AppList(entries: icons.map { AppEntry(name: "App", icon: $0) })))
        server = Server(run.scenario, from: Self.zero)
        edges = Array(repeating: Edge(run.scenario), count: run.scenario.edges)
        generator = SeededGenerator(seed: run.seed)
        figures = Figures(run, from: Self.zero)
        addMachines()
    }

    private mutating func addMachines() {
        let start = Self.zero + (.zero - run.scenario.before)
        var settings = Settings()
        settings.upstream.fallback = run.fallback
        settings.upstream.poll /= scenario.pace
        settings.upstream.wait /= scenario.pace
        settings.upstream.spread /= scenario.pace
        settings.upstream.missTTL /= scenario.pace
        settings.upstream.breakFor /= scenario.pace
        settings.upstream.breakMax /= scenario.pace
        machines.reserveCapacity(run.machines + 1)
        for number in 0...run.machines {
            // The list reaches the seeder when half of the machines have it.
            let share = number == 0 ? 0.5 : random()
            // In milliseconds: times have no more than microseconds.
            let clock: Duration = .milliseconds(Int((scenario.clockError / .milliseconds(1)) * (2 * random() - 1)))
            if number == 1 { settings.upstream.urls = [upstream] }
            if number == 1, scenario.takesLists { settings.upstream.lists = ListPattern("*.plist").map { [$0] } ?? [] }
            machines.append(
                Machine(
                    plan: Reconciler(settings: settings, seed: generator.next(), now: start + clock), clock: clock,
                    landing: Self.zero + scenario.landing * share))
            if number == 0 || !scenario.takesLists {
                schedule(.landing, of: number, at: machines[number].landing)
            }
        }
        for number in machines.indices {
            handle(.scanned(.listed(Self.folder, present: [], changed: [:])), number, start)
        }
        if let change = scenario.change { schedule(.change, of: 0, at: Self.zero + change) }
    }

    private mutating func random() -> Double { Double.random(in: 0..<1, using: &generator) }

    private mutating func schedule(_ kind: Happening.Kind, of machine: Int, at time: Timestamp) {
        count += 1
        queue.insert(Happening(time: time, number: count, machine: machine, kind: kind))
    }

    // MARK: Time

    /// Lets time pass until the end.
    mutating func pass() {
        let end = Self.zero + scenario.end
        let seederEnd = scenario.seederEnd.map { Self.zero + $0 }
        while let next = queue.popMin(), next.time <= end {
            if next.machine == 0, let seederEnd, next.time >= seederEnd { continue }
            happen(next)
        }
    }

    private mutating func happen(_ next: Happening) {
        let (number, now) = (next.machine, next.time)
        switch next.kind {
        case .wake:
            guard machines[number].wake == now else { return }
            machines[number].wake = nil
            handle(.tick, number, now)
        case .landing: takeList(number, now)
        case .manifest(let copy): read(copy, number, now)
        case .polled:
            guard let poll = polls.removeValue(forKey: number), let outcome = poll.outcome else { return }
            if case .accepted = outcome, scenario.takesLists, !machines[number].hasList,
                let copy = machines[number].copy, !server.copies[copy].documents.isEmpty
            {
                takeList(number, now)
            }
            handle(.polled(UpstreamAnswer(url: upstream, epoch: poll.request.epoch, outcome)), number, now)
        case .fetched(let icon, let source): endFetch(icon, source, number, now)
        case .change:
            images = icons.map { Self.image("\($0) changed") }
            figures.restart(at: now)
            handle(.request(icons, isRefresh: true), number, now)
        }
    }

    /// A machine finds the list in its folder, or beside it.
    private mutating func takeList(_ number: Int, _ now: Timestamp) {
        machines[number].hasList = true
        var folder = Self.folder
        if number > 0, scenario.takesLists { folder.adopted = [Self.list] }
        handle(.scanned(.listed(folder, present: [Self.list], changed: [Self.list: reading])), number, now)
    }

    /// Has a machine's plan decide, and does what it decides; what is done on disk takes no time.
    private mutating func handle(_ event: Reconciler.Event, _ number: Int, _ now: Timestamp) {
        let local = now + machines[number].clock
        var events = [event]
        while !events.isEmpty {
            let actions = machines[number].plan.handle(events, now: local)
            events = []
            for action in actions {
                switch action {
                case .fetch(let request): fetch(request, number, now)
                case .start(.poll(let poll)): startPoll(poll, number, now)
                case .start(.render), .start(.nameRenditions): break
                case .start(.publish(let publication)):
                    events.append(.published(publish(publication, number, now)))
                case .start(.release(let releases)):
                    events.append(.released(ReleaseResult(removed: releases.map(\.generation))))
                case .start(.remove): events.append(.removed())
                case .start(.measureSpace): events.append(.space(.success(Self.space)))
                case .start(.inspect): events.append(.inspected(CacheInspection()))
                case .look:
                    let present: Set<ListName> = machines[number].hasList ? [Self.list] : []
                    events.append(.scanned(.listed(Self.folder, present: present, changed: [:])))
                case .cancel, .writeAhead, .background: break
                }
            }
        }
        guard let wake = machines[number].plan.nextWake.map({ max(now, $0 + (.zero - machines[number].clock)) }),
            machines[number].wake != wake
        else { return }
        machines[number].wake = wake
        schedule(.wake, of: number, at: wake)
    }

    // MARK: The seeder

    private mutating func publish(_ publication: Publication, _ number: Int, _ now: Timestamp) -> PublicationResult {
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        var documents: [Digest: AppListDocument] = [:]
        for document in publication.documents {
            // Nobody reads those of other machines.
            let digest = number == 0 ? Digest.of(document.text) : Digest.of("\(publication.generation)")
            manifest.lists[document.list] = Manifest.List(
                sha256: digest, apps: document.apps.count, ready: 0, pending: 0, failed: 0)
            documents[digest] = document
        }
        if number == 0 {
            for list in publication.kept.values { documents[list.sha256] = self.documents[list.sha256] }
            self.documents = documents
            // What was there before the list is there in time.
            let delay = now < Self.zero ? .zero : scenario.copyDelay
            server.add(Copy(manifest, documents: documents, since: now + delay))
        }
        return .published(manifest, written: WrittenBytes())
    }

    // MARK: Requests

    private mutating func startPoll(_ poll: UpstreamPoll, _ number: Int, _ now: Timestamp) {
        figures.count(poll, at: now)
        polls[number] = Poll(request: poll)
        let reply = ask(number, now) { edge, server in
            edge?.manifest(bypassing: poll.bypassesCaches, of: &server, at: now) ?? server.manifest(at: now)
        }
        if let fault = reply.fault {
            polls[number]?.outcome = .failed(UpstreamFailure(fault.failure))
            schedule(.polled, of: number, at: reply.end)
        } else {
            schedule(.manifest(copy: reply.copy), of: number, at: reply.end)
        }
    }

    /// A machine reads a manifest that came, and asks for the documents that it does not know.
    private mutating func read(_ copy: Int, _ number: Int, _ now: Timestamp) {
        guard let poll = polls[number]?.request else { return }
        var end = now
        var outcome = UpstreamAnswer.Outcome.unchanged()
        let found = server.copies[copy]
        do throws(UpstreamFailure) {
            if poll.validators?.etag != "\"\(copy)\"", !poll.isKnown(found.digest) {
                let (manifest, memo) = try poll.validate(
                    found.bytes, digest: found.digest, now: now + machines[number].clock)
                for digest in found.documents.keys where poll.index?.documents[digest] == nil {
                    let reply = ask(number, now) { edge, server in
                        edge?.file(digest, of: &server, at: now) ?? server.file(digest, at: now)
                    }
                    end = max(end, reply.end)
                    if reply.fault == .missing { throw UpstreamFailure(.incomplete, "a document is missing") }
                    if let fault = reply.fault { throw UpstreamFailure(fault.failure) }
                }
                outcome = .accepted(try learn(manifest, memo, copy, poll, number))
            }
        } catch {
            outcome = .failed(error)
        }
        polls[number]?.outcome = outcome
        schedule(.polled, of: number, at: end)
    }

    /// What a machine learns from a copy: all that knew the same one before share it.
    private mutating func learn(
        _ manifest: Manifest, _ memo: UpstreamMemo, _ copy: Int, _ poll: UpstreamPoll, _ number: Int
    ) throws(UpstreamFailure) -> UpstreamContents {
        let old = poll.index == nil ? nil : machines[number].copy
        machines[number].copy = copy
        if let known = contents[[old, copy]] { return known }
        var new: [Digest: UpstreamDocument] = [:]
        for list in manifest.lists.values where poll.index?.documents[list.sha256] == nil {
            new[list.sha256] = try server.copies[copy].documents[list.sha256].map { document throws(UpstreamFailure) in
                try poll.document(document.text, of: list)
            }
        }
        let learnt = UpstreamContents(memo, Validators(etag: "\"\(copy)\""), manifest, new: new, old: poll.index)
        contents[[old, copy]] = learnt
        return learnt
    }

    private mutating func fetch(_ request: FetchRequest, _ number: Int, _ now: Timestamp) {
        guard let icon = numbers[request.url] else { return }
        guard let file = request.copy else {
            figures.countOrigin(icon, at: now)
            schedule(.fetched(icon: icon, .origin), of: number, at: now + .milliseconds(100) * (1 + random()))
            return
        }
        let reply = ask(number, now) { edge, server in
            edge?.file(file.sha256, of: &server, at: now) ?? server.file(file.sha256, at: now)
        }
        schedule(.fetched(icon: icon, .upstream(reply.fault)), of: number, at: reply.end)
    }

    /// A machine asks its cache, or the server itself if there are none.
    private mutating func ask(
        _ number: Int, _ now: Timestamp, _ request: (inout Edge?, inout Server) -> Reply
    ) -> Reply {
        figures.requests.count(at: now)
        var reply: Reply
        if edges.isEmpty {
            var none: Edge?
            reply = request(&none, &server)
        } else {
            let place = number % edges.count
            var edge: Edge? = edges[place]
            reply = request(&edge, &server)
            if let edge { edges[place] = edge }
        }
        if reply.end > now + Self.patience { reply = Reply(end: now + Self.patience, fault: .silence) }
        // The way from the machine and back.
        reply.end = reply.end + .milliseconds(50) * random()
        return reply
    }

    private mutating func endFetch(_ icon: Int, _ source: Happening.Source, _ number: Int, _ now: Timestamp) {
        let outcome: FetchOutcome
        if case .upstream(let fault?) = source {
            outcome = .failed(fault.failure)
        } else {
            let local = now + machines[number].clock
            let response = StoredResponse(
                url: icons[icon].text, fields: Self.fields, requestTime: local, responseTime: local)
            outcome = .image(StagedImage(name: "1", image: images[icon]), response)
            if number > 0 { figures.recordArrival(of: icon, on: number, at: now, since: machines[number].landing) }
        }
        handle(.fetched(EndedDownload(url: icons[icon], outcome)), number, now)
    }

    private static func image(_ contents: String) -> AppListDocument.Image {
        let digest = Digest.of(contents)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: 12_288, type: "image/png",
            width: 256, height: 256)
    }

    private static let fields = HTTPFields([("ETag", "\"1\""), ("Cache-Control", "max-age=86400")])
}

enum SimulationError: Error { case unusable }
