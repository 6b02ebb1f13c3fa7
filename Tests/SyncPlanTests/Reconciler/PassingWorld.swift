import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan

/// An agent whose lists name other URLs every minute: ten lists, one of which is replaced each time.
///
/// Disk and servers are simulated; some servers fail, and some answers stay fresh for years.
struct PassingWorld {
    private static let listCount = 10

    private let listSize: Int
    private let origins: Int
    private var lists: Set<ListName> = []
    private var events: [Reconciler.Event] = []
    private var lastURL = 0
    private(set) var plan: Reconciler
    private(set) var now = Sample.start
    private(set) var requests = 0
    /// Files that the actions so far have left in `staging/`, `icons/` and `by-url/`.
    private(set) var files: Set<String> = []

    init(icons: Int, origins: Int) {
        listSize = icons / Self.listCount
        self.origins = origins
        var settings = Settings.withoutHeartbeat
        settings.cache.grace = .seconds(120)
        plan = Reconciler(settings: settings, seed: 1, now: now)
    }

    /// How many URLs the lists have named so far.
    var urls: Int { lastURL }

    /// Replaces the URLs of one list, and lets a minute pass.
    mutating func step() {
        let name: ListName = "\(lastURL / listSize % Self.listCount).plist"
        let urls = (0..<listSize).map { _ -> IconURL in
            lastURL += 1
            return "https://o\(lastURL % origins).example/\(lastURL).png?signature=\(lastURL &* 0x9E37_79B9)"
        }
        lists.insert(name)
        handle(.scanned(.listed(Sample.folder, present: lists, changed: [name: Sample.reading(urls)])))
        let end = now + .seconds(60)
        while true {
            if !events.isEmpty {
                now = now + .milliseconds(1)
                let due = events
                events = []
                for event in due { handle(event) }
            } else if let wake = plan.nextWake, wake <= end {
                now = max(now, wake)
                handle(.tick)
            } else {
                now = end
                return handle(.tick)
            }
        }
    }

    private mutating func handle(_ event: Reconciler.Event) {
        for action in plan.handle(event, now: now) {
            switch action {
            case .fetch(let request):
                requests += 1
                events.append(.fetched(url: request.url, answer(to: request), isMultiplexed: false))
            case .start(.publish(let publication)): events.append(.published(publish(publication)))
            case .start(.release(let releases)):
                events.append(.released(ReleaseResult(removed: releases.map(\.generation))))
            case .start(.remove(let plan)):
                for image in plan.images { files.remove(image.path) }
                for url in plan.urls { files.remove(url.text) }
                events.append(.removed())
            case .start(.render), .start(.nameRenditions): break
            case .background(.discard(let names)): files.subtract(names)
            case .start(.measureSpace): events.append(.space(.success(SimulatedDisk.space(free: 1 << 19))))
            case .start(.inspect): events.append(.inspected(CacheInspection()))
            case .start(.poll): break
            case .cancel, .writeAhead, .background(.discardPartials), .background(.remember), .look: break
            }
        }
    }

    /// What becomes of a request: an image in most cases; every 13th origin is dead, every 17th URL is gone.
    private mutating func answer(to request: FetchRequest) -> FetchOutcome {
        let number = Int(request.url.text.split(separator: "/").last?.prefix { $0 != "." } ?? "") ?? 0
        if number % origins % 13 == 0 { return .failed(FetchFailure(.connect, "no connection")) }
        if number % 17 == 0 { return .failed(.status(404)) }
        let age = number % 3 == 0 ? "max-age=31536000" : "max-age=86400"
        files.insert("staging/\(request.url)")
        return .image(
            StagedImage(name: "staging/\(request.url)", image: Sample.image(request.url.text)),
            StoredResponse(fields: HTTPFields([("Cache-Control", age)]), requestTime: now, responseTime: now))
    }

    private mutating func publish(_ publication: Publication) -> PublicationResult {
        for move in publication.moves {
            files.remove(move.name)
            files.insert(move.image.path)
        }
        files.subtract(publication.discards.map(\.name))
        for link in publication.links { files.insert(link.url.text) }
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        for document in publication.documents {
            manifest.lists[document.list] = Manifest.List(
                sha256: .of("\(publication.generation) \(document.list)"), apps: document.apps.count, ready: 0,
                pending: 0, failed: 0)
        }
        var written = WrittenBytes()
        for document in publication.documents { written.documents[document.list] = 300 }
        return .published(manifest, written: written)
    }
}
