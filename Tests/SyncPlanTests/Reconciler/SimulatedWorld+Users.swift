// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

@testable import SyncPlan

extension SimulatedWorld {
    /// Loses an image while the agent runs, which is told of it.
    mutating func damage() throws(Violation) {
        let images = disk.images.sorted { $0.hex < $1.hex }
        guard hasScanned, let image = images.randomElement(using: &generator) else { return }
        record("\(image) is lost")
        disk.lose(image)
        allowAllLosses()
        departed.before.formUnion(departed.now)
        fresh = fresh.filter { $0.value.image != image }
        if publication != nil { lostInFlight.insert(image) }
        try handle(.damaged([image]))
    }

    /// Lets a user want icons now, perhaps also fresh ones, perhaps without conditions.
    mutating func request() throws(Violation) {
        let urls = Self.urls.filter { _ in chance(20) }
        let isRefresh = chance(60)
        let isFull = isRefresh && chance(50)
        record("\(isFull ? "a full " : "a ")\(isRefresh ? "refresh" : "retry") of \(urls.map(\.text))")
        for url in urls {
            guard let target = try? FetchTarget(url.text) else { continue }
            servers.forgive(target.origin)
            // The newest URL with the same key is requested in place of this one.
            if isRefresh { fresh = fresh.filter { source(of: $0.key) != source(of: url) } }
        }
        try handle(.request(urls, isRefresh: isRefresh, isFull: isFull))
    }

    mutating func pin() throws(Violation) {
        guard let url = Self.urls.filter({ $0 != Self.refused }).randomElement(using: &generator) else { return }
        let isPinned = !plan.pins.contains(url)
        record("\(url) is \(isPinned ? "" : "un")pinned")
        try handle(.pin(url: url, isPinned: isPinned))
    }

    mutating func purge() throws(Violation) {
        let isRefused = plan.lastingDoubt != nil
        record("everything is \(isRefused ? "not " : "")purged")
        guard !isRefused else { return try handle(.purge) }
        isPaused = false
        try handle(.purge)
    }

    /// Notes that everything is forgotten now; `inFlight` is the publication that was under way.
    mutating func recordPurge(beside inFlight: Publication?) {
        record("the purge begins")
        let staged = (inFlight?.moves ?? []) + (inFlight?.discards ?? [])
        let newest = max(disk.current?.generation ?? 0, inFlight?.generation ?? 0)
        lastPurge = (Set(staged.map(\.image.sha256)), newest)
        allowAllLosses()
        departed.before.formUnion(departed.now)
        fresh = [:]
        servers.forget()
    }

    /// Fails if a publication shows an image that a purge took.
    func checkPurge(_ publication: Publication) throws(Violation) {
        guard let lastPurge, publication.generation > lastPurge.generation else { return }
        for document in publication.documents {
            for image in document.readyImages {
                try expect(lastPurge.received.contains(image.sha256), "\(image.path) was purged, and is shown again")
            }
        }
    }
}
