// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
package import HTTPRules

/// The state that an earlier run left: in the cache folder, and in the database.
package struct RestoredState: Sendable {
    /// The valid generations on disk, oldest first; the last one is current.
    package var manifests: [Manifest] = []
    /// Whether the current generation names damaged files and must be replaced.
    package var isDamaged = false
    /// The documents of these generations; empty after ``buildCatalog()``.
    package var documents: [Digest: AppListDocument] = [:]
    /// Missing or damaged images of the current generation.
    package var missing: Set<Digest> = []
    /// Higher than every generation that is or was in the cache folder.
    package var nextGeneration = 1
    package var memory = Remembered()
    /// Partial images whose downloads can be resumed.
    package var partials: [PartialDownload] = []
    /// Whether the cache folder has names of renditions.
    package var hasRenditionNames = false
    /// Identifies the machine that starts; `nil` if it has no ID.
    package var machine: String?

    /// The catalog, once ``buildCatalog()`` has built it.
    fileprivate var catalog: RestoredCatalog?

    package init() {}

    /// Builds the catalog from the generations; does not need ``memory``.
    package mutating func buildCatalog() {
        if catalog == nil { catalog = RestoredCatalog(manifests, documents: &documents, missing: missing) }
        documents = [:]
    }

    /// Moves everything out: with two owners the catalog would be copied when it changes.
    package mutating func moveOut() -> RestoredState { exchange(&self, with: RestoredState()) }

    /// Moves the catalog out, for the same reason.
    mutating func moveCatalog() -> RestoredCatalog {
        buildCatalog()
        let purged = knownPurge
        catalog?.finish(purged: purged)
        defer { catalog = nil }
        return catalog ?? RestoredCatalog([], documents: &documents, missing: [])
    }

    /// The held changes; their generations are limited to those that can be on disk, because a failed publication may
    /// have had a higher number, and ascend.
    var knownHolds: [EvictionBrake.Hold] {
        var next = Int.max
        return memory.values.holds.reversed().compactMap { hold in
            var hold = hold
            hold.generation = min(hold.generation, newestGeneration)
            guard hold.generation < next else { return nil }
            next = hold.generation
            return hold
        }.reversed()
    }

    /// Whether another machine may have stored the state: this one can be a copy of it.
    fileprivate var isCopied: Bool { machine != nil && machine != memory.values.machine }

    /// Whether a purge was to replace the generation in force.
    var isPurgeUnpublished: Bool {
        memory.values.purging.map { $0 == manifests.last?.generation } ?? false
    }

    /// The private origins whose icons the cache may contain.
    ///
    /// The manifest says that there are some, also if the database was lost, or the cache is that of another agent.
    var privateOrigins: [String] {
        let known = memory.values.privateOrigins ?? []
        let isKnown = !known.isEmpty && memory.values.knownCaches?.contain(manifests) ?? true
        let isPrivate = manifests.filter { $0.generation > knownPurge ?? 0 }.hasPrivate
        return isPrivate && !isKnown ? known + [Credentials.unknownOrigin] : known
    }

    /// The newest purged generation; `nil` if the cache folder has no later one.
    private var knownPurge: Int? {
        memory.values.purged.flatMap { $0 < manifests.last?.generation ?? 0 ? $0 : nil }
    }

    /// The highest generation number ever given, even if the cache folder is an older copy, or new.
    var newestGeneration: Int { max(nextGeneration - 1, memory.values.newestGeneration) }
}

extension [Manifest] {
    /// Whether the newest one with a list says that the cache has private icons.
    package var hasPrivate: Bool { last { !$0.lists.isEmpty }?.isPrivate ?? false }
}

extension AppEntries {
    package init(of document: AppListDocument) { self.init(document.apps.map(AppEntry.init)) }
}

extension AppEntry {
    init(_ app: AppListDocument.App) {
        self.init(name: app.name, id: app.id, icon: app.icon, download: app.download, expected: app.expected)
    }
}

extension Reconciler {
    /// Restores the state that an earlier run stored outside the cache folder.
    mutating func restore(_ state: consuming RestoredState) {
        book.downloads.restore(state.memory.origins, in: &turn)
        let isCopied = state.isCopied
        for memo in state.memory.icons { book.restore(memo, isCopied: isCopied, in: &turn) }
        book.setMissingFreshness(since: min(state.manifests.first?.published ?? turn.now, turn.now), in: &turn)
        for memo in state.memory.lists {
            guard memo.rules == folder.rules, book.catalog.lists[memo.list]?.source?.sha256 == memo.sha256 else {
                turn.memos.mark(.list(memo.list), at: turn.now)
                continue
            }
            book.catalog.updateList(memo.list) { $0.isRead = true }
        }
        for memo in state.memory.rejections { rejections[memo.list] = memo }
        for id in book.catalog.icons.ids where !book.catalog.icons[id].icon.isReferenced { book.decide(id, in: &turn) }
        book.groupKeys()
        if state.isDamaged { book.publishing.window.markChanged(at: turn.now) }
        let known = Set(state.memory.superseded.keys).union(book.retention.ledger.supersessions.keys)
        turn.memos.recordStart(values: remembered, generations: known)
    }
}

extension IconBook {
    /// Sets the freshness of images without a memo, as if they had arrived with the oldest generation.
    fileprivate mutating func setMissingFreshness(since published: Timestamp, in turn: inout Turn) {
        for id in catalog.icons.ids where catalog.icons[id].icon.freshUntil == .distantPast {
            let freshUntil = published + settings.refresh.default.jittered(using: &turn.generator)
            guard catalog.icons[id].icon.hasImage else { continue }
            catalog.apply(.expires(freshUntil), to: id)
        }
    }

    /// Restores an icon's memo; if another machine stored it (`isCopied`), plans a new time for the next check.
    ///
    /// All copies of a machine would otherwise request the icon at the same time.
    fileprivate mutating func restore(_ memo: IconMemo, isCopied: Bool, in turn: inout Turn) {
        let now = turn.now
        var known: (response: PackedResponse?, freshUntil: Timestamp)?
        let id = catalog.id(of: memo.url)
        // Validators stand for the bytes of an image: without it they must not be sent.
        if let image = catalog.images.digest(catalog.icons[id].icon.image), image == memo.image {
            // Times further ahead than the rules allow were set by a wrong clock.
            let latest = now + RefreshPolicy().maximum + RefreshPolicy().longestDelay
            let isAhead = memo.packedResponse.map { NextCheck.isAhead($0.responseTime, of: now) } ?? false
            known = (memo.packedResponse, isAhead || memo.freshUntil > latest ? now : memo.freshUntil)
        }
        if isCopied, let last = known, last.freshUntil > now, let response = last.response,
            !sources.gave(responseFrom: response.url)
        {
            known?.freshUntil = NextCheck(for: response.unpacked, under: refreshPolicy, using: &turn.generator).time
            turn.memos.mark(icon: id, at: now)
        }
        var failure = memo.failure
        if let last = memo.failure {
            let latest = now + downloads.backoff.longest(after: last.code)
            // Failures that depend on settings are retried now, because the settings may have changed; also those of a
            // network's login, because it is not stored which icons wait for it.
            let dependsOnSettings = settings.credentials.mayDepend(last.code, of: memo.url)
            if dependsOnSettings { probeOrigin(of: memo.url, after: last.code, in: &turn) }
            let isOpen = dependsOnSettings || last.attempts == 0 || last.code == .fetch(.networkLogin)
            failure?.nextAttempt = isOpen ? now : last.nextAttempt.map { $0 > latest ? now : $0 }
        }
        let trail = catalog.share(memo.trail)
        catalog.apply(.remembered(known?.response, freshUntil: known?.freshUntil, failure, trail), to: id)
    }
}
