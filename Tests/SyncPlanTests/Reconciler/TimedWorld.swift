// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan

/// An agent whose servers and whose disk take their time, all of it simulated.
struct TimedWorld {
    /// What becomes of a request to a host, and after what time.
    typealias Server = (FetchRequest) -> (after: Duration, outcome: FetchOutcome)

    private let servers: [String: Server]
    private let start = Sample.start
    private var plan: Reconciler
    /// What is on its way; no more than the downloads that may run at once, and a publication.
    private var happenings: [(time: Timestamp, event: Reconciler.Event)] = []
    private(set) var now: Timestamp
    /// How many requests each host had, and how many it has in flight, at most and now.
    private(set) var requests: [String: Int] = [:]
    private(set) var inFlight: [String: Int] = [:]
    private(set) var most: [String: Int] = [:]
    /// How long after the start each host's last image came.
    private(set) var finished: [String: Duration] = [:]
    /// How long after the start each list's document first had all of its images, and how large all its documents are.
    private(set) var whole: [ListName: Duration] = [:]
    private(set) var documentBytes: [ListName: Int] = [:]
    /// When each generation was published, and which lists it names.
    private(set) var generations: [(time: Duration, lists: Set<ListName>)] = []
    /// How often the plan was woken although nothing had happened.
    private(set) var ticks = 0

    init(_ servers: [String: Server], triesOnce: Bool = false) {
        self.servers = servers
        now = start
        plan = Reconciler(settings: .withoutHeartbeat, seed: 1, triesOnce: triesOnce, now: now)
    }

    var status: StatusReport { plan.status }
    var elapsed: Duration { now - start }

    /// A server that has every image, and sends it after the given time.
    static func healthy(_ time: Duration) -> Server {
        { request in
            let image = StagedImage(name: request.url.text, image: Sample.image(request.url.text))
            return (time, .image(image, Sample.response(etag: request.url.text)))
        }
    }

    /// A server that does not answer before the agent loses patience.
    static let dead: @Sendable (FetchRequest) -> (after: Duration, outcome: FetchOutcome) = { _ in
        (.seconds(60), .failed(.timeout("60 s")))
    }

    mutating func drop(_ name: ListName, _ urls: [IconURL], beside names: Set<ListName> = []) {
        handle(.scanned(.listed(Sample.folder, present: names.union([name]), changed: [name: Sample.reading(urls)])))
    }

    /// Takes a list away, which has been missing for long; the others of these names stay.
    mutating func remove(_ name: ListName, beside names: Set<ListName>) {
        var earlier = Sample.folder
        earlier.listed = now + .seconds(-3600)
        handle(.scanned(.listed(earlier, present: names.subtracting([name]), changed: [:])))
        handle(.scanned(.listed(Sample.folder, present: names.subtracting([name]), changed: [:])))
    }

    mutating func pin(_ url: IconURL) {
        handle(.pin(url: url, isPinned: true))
    }

    func syncReport(of lists: [ListName]) -> SyncReport { plan.syncReport(of: lists) }

    /// Lets things happen until all that can be done now has been done, or until a time has passed.
    mutating func run(for limit: Duration? = nil) {
        let end = limit.map { now + $0 }
        while end != nil || !plan.isSettled {
            let next = happenings.indices.min { happenings[$0].time < happenings[$1].time }
            let wake = plan.nextWake
            guard let time = [next.map { happenings[$0].time }, wake].compactMap(\.self).min(), time <= end ?? time
            else { break }
            now = max(now, time)
            if let next, happenings[next].time <= now {
                handle(happenings.remove(at: next).event)
            } else {
                ticks += 1
                handle(.tick)
            }
        }
        if let end { now = end }
    }

    private mutating func handle(_ event: Reconciler.Event) {
        if case .fetched(let url, let outcome, _, _) = event {
            let host = Self.host(url)
            inFlight[host, default: 0] -= 1
            if case .image = outcome { finished[host] = elapsed }
        }
        for action in plan.handle(event, now: now) {
            switch action {
            case .fetch(let request): send(request)
            case .start(.publish(let publication)):
                after(.milliseconds(20), .published(publish(publication)))
            case .start(.release(let releases)):
                after(.milliseconds(1), .released(ReleaseResult(removed: releases.map(\.generation))))
            case .start(.remove): after(.milliseconds(1), .removed())
            case .start(.inspect): after(.microseconds(200), .inspected(CacheInspection()))
            case .cancel, .writeAhead, .start(.measureSpace), .start(.poll), .start(.render),
                .start(.nameRenditions), .look, .background:
                break
            }
        }
    }

    private mutating func send(_ request: FetchRequest) {
        let host = Self.host(request.url)
        requests[host, default: 0] += 1
        inFlight[host, default: 0] += 1
        most[host] = max(most[host] ?? 0, inFlight[host] ?? 0)
        guard let server = servers[host] else { preconditionFailure("there is no server for \(request.url)") }
        let (time, outcome) = server(request)
        after(time, .fetched(url: request.url, outcome))
    }

    private mutating func after(_ time: Duration, _ event: Reconciler.Event) {
        happenings.append((now + time, event))
    }

    private mutating func publish(_ publication: Publication) -> PublicationResult {
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        var written = WrittenBytes()
        for document in publication.documents {
            let digest = Digest.of("\(publication.generation) \(document.list)")
            manifest.lists[document.list] = Manifest.List(
                sha256: digest, apps: document.apps.count, ready: 0, pending: 0, failed: 0)
            written.documents[document.list] = 300 * document.apps.count
            documentBytes[document.list, default: 0] += 300 * document.apps.count
            let isWhole = document.readyImages.count == document.apps.count
            if isWhole, whole[document.list] == nil { whole[document.list] = elapsed + .milliseconds(20) }
        }
        generations.append((elapsed + .milliseconds(20), Set(manifest.lists.keys)))
        return .published(manifest, written: written)
    }

    static func host(_ url: IconURL) -> String { (try? FetchTarget(url.text).host) ?? "" }
}
