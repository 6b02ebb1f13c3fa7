// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import Reports

@testable import SyncPlan

extension SimulatedWorld {
    /// Fails if an app that had an image in one generation, and has been in its list since, has none in the next one.
    mutating func checkImagesKept(
        from old: Manifest?, _ images: Set<Digest>, by publication: Publication
    ) throws(Violation) {
        let lists = Set(publication.documents.map(\.list))
        let excused = departed.before.union(departed.now)
        departed.before = departed.before.filter { !lists.contains($0.list) }
        guard let old, let new = disk.current else { return }
        for (name, list) in new.lists where name != Reconciler.pinList {
            guard let before = old.lists[name].flatMap({ disk.documents[$0.sha256] }),
                let after = disk.documents[list.sha256]
            else { continue }
            // An entry without a usable icon takes no app away.
            let present = Set(after.apps.map(\.id))
            for app in before.apps where !excused.contains(ListedApp(list: name, id: app.id)) {
                guard case .ready = app.state else { continue }
                try expect(present.contains(app.id), "the app \(app.id ?? "") of \(name) had an image, and is gone")
            }
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

    func checkFetch(_ request: FetchRequest) throws(Violation) {
        try expect(downloads[request.url] == nil, "\(request.url) is being downloaded, and is again")
        if request.shared != nil { return }
        try expect(
            !downloads.contains { $0.key.requested == request.url.requested && $0.value.shared == nil },
            "\(request.url) is requested, and the same URL with another fragment is in flight")
        try checkKey(of: request)
        try expect(!isPaused && !plan.isStopping, "\(request.url) is downloaded although nothing is to be")
        try expect(!isShut, "\(request.url) is downloaded although there is no room")
        try servers.check(request, beside: downloads.values.filter { $0.shared == nil }, at: now)
        let isGoing = removal?.plan.urls.contains(request.url) ?? false
        if let (until, image) = fresh[request.url], until > now, disk.names[request.url] == image, !isGoing,
            disk.images.contains(image)
        {
            throw Violation("\(request.url) is fresh, and is downloaded again")
        }
        guard let etag = request.condition?.validators.etag else { return }
        let image = plan.image(of: request.url)?.sha256
        try expect(image == Sample.image(etag).sha256, "the validators sent for \(request.url) are of another image")
    }

    /// Fails if a URL is requested for want of an image, and another one of its key has a fresh one.
    private func checkKey(of request: FetchRequest) throws(Violation) {
        guard request.reason == .notCached, let key = settings.keys.key(of: request.url) else { return }
        for other in Self.urls where other != request.url && settings.keys.key(of: other) == key {
            guard let icon = plan.icon(other), icon.isReferenced, icon.freshUntil > now,
                let image = plan.image(of: other), disk.images.contains(image.sha256)
            else { continue }
            throw Violation("\(request.url) is requested, and \(other) of the same key has a fresh image")
        }
    }

    /// Fails if readers would refuse a generation: its time is before that of the last one, or ahead of the clock.
    func checkTime(of publication: Publication) throws(Violation) {
        let latest = now + clockOffset + UpstreamMemo.tolerance
        try expect(publication.published <= latest, "generation \(publication.generation) is ahead of the clock")
        guard let last = disk.current?.published, last <= latest else { return }
        try expect(publication.published >= last, "generation \(publication.generation) is older than the last one")
    }

    func checkGrace(of releases: [GenerationRelease]) throws(Violation) {
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

    func checkRemoval(_ removed: RetirementPlan) throws(Violation) {
        try disk.check(removed)
        let images = Set(removed.images.map(\.sha256))
        for url in Self.urls {
            guard let icon = plan.icon(url), icon.isReferenced, let image = plan.image(of: url) else { continue }
            try expect(!images.contains(image.sha256), "the image of \(url) would be removed, and a list names it")
        }
    }

    func check() throws(Violation) {
        try disk.check()
        var staged: Set<String> = []
        for url in Self.urls {
            guard let icon = plan.icon(url) else { continue }
            if let name = icon.staged?.name { staged.insert(name) }
            guard removal == nil, icon.isReferenced, let image = plan.image(of: url),
                !disk.images.contains(image.sha256)
            else { continue }
            throw Violation("\(url) shows \(image.path), which is not on disk")
        }
        staged.formUnion(plan.stagedRenditions)
        for move in publication?.moves ?? [] { staged.insert(move.name) }
        staged.formUnion(publication?.discards.map(\.name) ?? [])
        let areListsKnown = plan.folder.isRead && plan.folder.doubt == nil
        for url in disk.partials where areListsKnown && downloads[url] == nil {
            try expect(plan.icon(url)?.isReferenced ?? false, "a part of \(url) is kept, and no list names it")
        }
        try expect(disk.staging == staged, "staging/ has \(disk.staging.sorted()), and not \(staged.sorted())")
        let status = plan.status
        let waiting = Self.urls.filter { plan.icon($0)?.phase == .fetching && downloads[$0] == nil }
        for url in waiting {
            try expect(
                downloads.keys.contains { $0.requested == url.requested }, "\(url) waits for a download that is over")
        }
        try expect(
            status.downloads.active == downloads.count + waiting.count, "the agent has lost count of its downloads")
        try expect(status.state == (isPaused ? .paused : .running), "the agent does not know whether it is paused")
        let isHeld = isPaused || plan.isStopping || plan.isPurging || status.downloads.reason != nil
        let mayStart = downloads.isEmpty && !isHeld
        try expect(!mayStart || status.downloads.queued == 0, "\(status.downloads.queued) icons wait for nothing")
        if let wake = plan.nextWake { try expect(wake > now, "what is due at \(wake) was not done at \(now)") }
        if let miscount = plan.miscount { throw Violation(miscount) }
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
        try disk.expect(condition, message())
    }
}
