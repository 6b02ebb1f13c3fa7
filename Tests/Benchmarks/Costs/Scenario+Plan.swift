// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ListParse
import Reports
import SyncPlan

extension Scenario {
    /// Downloads that end, one after the other, and the publications between them: 20 lists on 20 origins.
    static let outcomes = Scenario(name: "outcomes", size: 10_000, result: 10_000) { count in
        var world = PlannedWorld(writesDocuments: false)
        let size = count / 20
        for list in 0..<20 {
            let urls = (0..<size).map { Fixed.url(list * size + $0, origin: list) }
            world.lists["\(list).plist"] = Fixed.reading(urls)
            for url in urls { world.outcomes[url] = Fixed.outcome(of: url) }
        }
        world.scan(Array(world.lists.keys))
        return {
            while world.step() {}
            return world.plan.status.icons.ready
        }
    }

    /// A list of which one entry is another: it is parsed, compared with its last version, and its document written.
    static let list = Scenario(name: "list", size: 1000, result: 1000) { count in
        let urls = (0..<count).map { Fixed.url($0, origin: $0 % 7) }
        let before = Fixed.propertyList(urls)
        let after = Fixed.propertyList(urls.dropLast() + [Fixed.url(count, origin: 1)])
        var world = PlannedWorld(writesDocuments: true)
        for url in urls { world.outcomes[url] = Fixed.outcome(of: url) }
        world.lists["apps.plist"] = Fixed.parsed(before)
        world.scan(["apps.plist"])
        while world.step() {}
        return {
            world.lists["apps.plist"] = Fixed.parsed(after)
            world.scan(["apps.plist"])
            let written = world.documentBytes
            while world.documentBytes == written, world.step() {}
            return world.documents["apps.plist"]?.apps.count ?? 0
        }
    }
}

/// A plan whose downloads and disk answer at once, and always well.
struct PlannedWorld {
    private(set) var plan = Reconciler(settings: Settings(), seed: 1, now: Fixed.start)
    var lists: [ListName: ListReading] = [:]
    /// What becomes of downloads; there is no more to those that are not here.
    var outcomes: [IconURL: FetchOutcome] = [:]
    /// Whether documents are written, or only taken to be.
    let writesDocuments: Bool
    /// The newest documents.
    private(set) var documents: [ListName: AppListDocument] = [:]
    /// How many bytes of documents were published.
    private(set) var documentBytes = 0
    private var now = Fixed.start
    private var events: [Reconciler.Event] = []
    private var next = 0

    init(writesDocuments: Bool) { self.writesDocuments = writesDocuments }

    /// Has the plan see lists that are new or changed.
    mutating func scan(_ changed: [ListName]) {
        let readings = lists.filter { changed.contains($0.key) }
        handle(.scanned(.listed(Fixed.folder, present: Set(lists.keys), changed: readings)))
    }

    /// Lets the next thing end, or time pass.
    ///
    /// - Returns: Whether there was anything to do within five minutes of the start.
    mutating func step() -> Bool {
        if next < events.count {
            now = now + .microseconds(200)
            next += 1
            handle(events[next - 1])
        } else {
            (events, next) = ([], 0)
            guard let wake = plan.nextWake, wake < Fixed.start + .seconds(300) else { return false }
            now = max(now, wake)
            handle(.tick)
        }
        return true
    }

    private mutating func handle(_ event: Reconciler.Event) {
        for action in plan.handle([event], now: now) {
            switch action {
            case .fetch(let request):
                guard let outcome = outcomes[request.url] else { continue }
                events.append(.fetched(EndedDownload(url: request.url, outcome, isMultiplexed: false)))
            case .start(.publish(let publication)): events.append(.published(publish(publication)))
            case .start(.release(let releases)):
                events.append(.released(ReleaseResult(removed: releases.map(\.generation))))
            case .start(.remove): events.append(.removed())
            case .start(.measureSpace): events.append(.space(.success(Fixed.space)))
            case .start(.inspect): events.append(.inspected(CacheInspection()))
            case .start(.poll), .start(.render), .start(.nameRenditions): break
            case .cancel, .writeAhead, .look, .background: break
            }
        }
    }

    private mutating func publish(_ publication: Publication) -> PublicationResult {
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        var written = WrittenBytes()
        for document in publication.documents {
            let json = writesDocuments ? document.json : "\(document.list) \(publication.generation)"
            manifest.lists[document.list] = Manifest.List(
                sha256: .of(json), apps: document.apps.count, ready: 0, pending: 0, failed: 0)
            written.documents[document.list] = json.utf8.count
            documents[document.list] = document
            documentBytes += json.utf8.count
        }
        return .published(manifest, written: written)
    }
}
