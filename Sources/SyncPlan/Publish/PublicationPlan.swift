// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet

/// The state of publications: what is published, in flight, and to be published next.
struct PublicationPlan: Sendable {
    struct InFlight: Sendable {
        var publication: Publication
        /// The icons whose staged images it has; they keep these until it ends.
        var staged: [IconID]
        let stagedIcons: Set<IconID>
        /// Its lists whose published documents name images that are not on disk.
        var mended: Set<ListName>
        /// Whether the manifest changes even without a new document.
        var changesManifest: Bool
        var begun: Timestamp

        var lists: [ListName] { publication.documents.map(\.list) }
    }

    private var settings: Settings.Publish
    /// When the newest manifest was published, by the agent's clock.
    private var lastBeat: Timestamp
    private var clockOffset: Duration = .zero
    private(set) var manifest: Manifest?
    /// The highest generation number used; 0 if there was no generation.
    private(set) var newest: Int
    /// The changes that wait.
    var window = PublicationWindow()
    /// Lists whose published version is outdated and may name URLs that they no longer name.
    private(set) var rewritten: Set<ListName> = []
    /// Lists whose published documents name images that are not on disk.
    private var damaged: Set<ListName> = []
    /// The icons whose staged images wait; they keep these until they are published or unstaged.
    var staged: Set<IconID> = []
    /// The waiting icons whose images the cache folder refused; they do not hold up the others.
    private(set) var unplaced: Set<IconID> = []
    /// When the refused images are tried again.
    private(set) var nextPlacing = Timestamp.distantPast
    /// Whether a publication without the refused images ended well, or would have changed nothing, since the last refusal.
    private var hasLeftOut = true
    /// Why the cache folder refused the ``unplaced`` images.
    private(set) var refusal: String?
    private var refusals = 0
    private(set) var inFlight: InFlight?
    /// The reason why the last publication failed or may not be durable; `nil` if it is durable.
    private(set) var trouble: String?
    /// Whether a power failure may lose the newest manifest; until it is durable, nothing that older ones name is
    /// evicted.
    private(set) var isInDoubt = false

    /// `newest` is the highest generation number used; `outdated` lists have documents that name missing images.
    init(
        _ settings: Settings.Publish = Settings.Publish(), _ manifest: Manifest? = nil, newest: Int = 0,
        outdated: Set<ListName> = [], at now: Timestamp
    ) {
        self.settings = settings
        // Readers refuse a manifest with a time in the future, so a new one is due at once.
        lastBeat = manifest.map { $0.published > now + UpstreamMemo.tolerance ? .distantPast : $0.published } ?? now
        self.manifest = manifest
        self.newest = newest
        damaged = outdated
        for list in outdated { window.markChanged(list, at: now) }
    }

    mutating func configure(_ settings: Settings.Publish) { self.settings = settings }

    // MARK: Changes

    /// When to publish a generation without changes; `nil` while a publication is running or due.
    var heartbeat: Timestamp? {
        guard inFlight == nil, manifest != nil, !window.isManifestChanged else { return nil }
        return lastBeat + settings.heartbeat
    }

    /// Records that a list changed: its published document is outdated until the next publication.
    mutating func prioritize(_ list: ListName) { rewritten.insert(list) }

    /// Removes the pending changes of a list that was removed; returns whether its document was waiting for room.
    mutating func forget(_ list: ListName) -> Bool {
        let wasDeferred = window.deferred.contains(list)
        window.forget(list)
        rewritten.remove(list)
        damaged.remove(list)
        return wasDeferred
    }

    mutating func unstage(_ id: IconID) {
        staged.remove(id)
        unplaced.remove(id)
    }

    /// Removes and returns all icons whose staged images wait.
    mutating func unstageAll() -> Set<IconID> {
        defer { (staged, unplaced) = ([], []) }
        return staged
    }

    /// Whether an icon's staged image is being published.
    func isInFlight(_ id: IconID) -> Bool { inFlight?.stagedIcons.contains(id) ?? false }

    func isInFlight(_ list: ListName) -> Bool {
        inFlight?.publication.documents.contains { $0.list == list } == true
    }

    func isToBePublished(_ list: ListName) -> Bool { window.isChanged(list) || isInFlight(list) }

    var isSettled: Bool { inFlight == nil && staged.isEmpty && window.isEmpty && failure == nil }

    /// Whether a durable manifest has the current documents of all lists.
    var areDocumentsWritten: Bool {
        inFlight == nil && !isInDoubt && window.hasNoChangedList && window.deferred.isEmpty
    }

    /// Whether the newest manifest has a list's current state, or the list waits for room.
    func isUpToDate(_ list: ListName, in catalog: Catalog) -> Bool {
        if window.deferred.contains(list) { return true }
        guard catalog.lists[list]?.source != nil else { return manifest?.lists[list] == nil }
        return !isToBePublished(list)
    }

    // MARK: Failures

    /// Why not all that waits is published durably: the ``trouble``, or the ``refusal`` of some images.
    var failure: String? { trouble ?? refusal }

    /// Why an icon's staged image is not published; `nil` if nothing is wrong.
    func failure(of id: IconID?) -> String? { trouble ?? (id.map(unplaced.contains) == true ? refusal : nil) }

    // MARK: Damage

    /// Records missing or damaged images, which no manifest may name until they are back.
    ///
    /// `lists` are the lists that name icons with such an image. Returns the lists to publish regardless of cost.
    mutating func recordDamage(
        of images: Set<ImageID>, shownBy lists: Set<ListName>, in catalog: Catalog, _ ledger: RetirementLedger,
        at now: Timestamp
    ) -> Set<ListName> {
        var lists = lists
        let underWay = Dictionary((inFlight?.publication.documents ?? []).map { ($0.list, $0) }) { a, _ in a }
        // A document may also name images of earlier versions of its list, and renditions of earlier sizes.
        for (list, record) in catalog.lists where record.source != nil {
            let published = record.published.flatMap { ledger.documents[$0.sha256]?.images }
            var isNaming = published.map { !$0.isDisjoint(with: images) } ?? false
            if let new = underWay[list] {
                // If the publication in flight fails, the published document still names the missing images.
                if isNaming { inFlight?.mended.insert(list) }
                isNaming = new.apps.contains { app in
                    app.images.contains { catalog.images.id(of: $0.sha256).map(images.contains) ?? false }
                }
            }
            guard isNaming else { continue }
            window.markChanged(list, at: now)
            lists.insert(list)
        }
        // A list is published once, however many of its images were lost.
        window.prioritize(lists)
        damaged.formUnion(lists)
        return lists
    }

    /// Whether the published document of a list names images that are not on disk.
    func isDamaged(_ list: ListName) -> Bool { damaged.contains(list) }

    /// Makes a list's document the next to be written, regardless of cost, because the manifest in the folder has
    /// another version of it.
    mutating func renew(_ list: ListName, at now: Timestamp) {
        window.prioritize([list])
        damaged.insert(list)
        window.markChanged(list, at: now)
    }

    /// Adopts another cache folder with this manifest; `nil` if it has none.
    mutating func adopt(_ manifest: Manifest?, at now: Timestamp) {
        self.manifest = manifest
        window.markChanged(at: now)
    }

    mutating func raiseNewest(to generation: Int) { newest = max(newest, generation) }

    // MARK: Room and time

    /// The time for the next manifest, by the wall clock, but never before the last manifest's.
    ///
    /// Readers refuse manifests older than the one they have, and those too far ahead.
    private func publicationTime(at now: Timestamp) -> Timestamp {
        let time = now + clockOffset
        guard let last = manifest?.published, !isAhead(last, at: now) else { return time }
        return max(time, last)
    }

    /// Whether readers refuse a manifest with this time, because it is too far ahead of the wall clock.
    private func isAhead(_ published: Timestamp, at now: Timestamp) -> Bool {
        published > now + clockOffset + UpstreamMemo.tolerance
    }

    /// Handles a change of the wall clock; `offset` is how far it is ahead of the agent's clock.
    ///
    /// Upstream followers would refuse a manifest with a wrong time, or treat it as stale, so a new one is published.
    mutating func setClock(_ offset: Duration, at now: Timestamp) {
        let jump = offset - clockOffset
        clockOffset = offset
        guard let last = manifest?.published else { return }
        if jump >= UpstreamMemo.tolerance || isAhead(last, at: now) { window.markChanged(at: now) }
    }

    /// Ends the delays after failures, because their cause may be gone.
    mutating func retry(at now: Timestamp) {
        window.retry(at: now)
        nextPlacing = min(nextPlacing, now)
        hasLeftOut = true
    }

    /// Records a sleep of the system, which does not count as time spent publishing.
    mutating func recordSleep(_ time: Duration) {
        if let begun = inFlight?.begun { inFlight?.begun = begun + time }
    }

    // MARK: A publication

    /// Begins a publication of the changes that are due; `nil` if nothing can be published now.
    mutating func begin(
        _ catalog: inout Catalog, _ ledger: RetirementLedger, _ renditions: Renditions,
        during traffic: PublicationWindow.Traffic, at now: Timestamp
    ) -> Publication? {
        let contents = PublicationContents(self, catalog, ledger, during: traffic, at: now)
        let lists = contents.lists
        let changesManifest = window.isManifestChanged
        window.begin(lists)
        guard changesManifest || !lists.isEmpty else { return nil }
        for (list, time) in contents.changesToHold(self, catalog, ledger, during: traffic) {
            window.markChanged(list, at: time)
        }
        let mended = damaged.intersection(lists)
        // Damage that is found from now on is for the next publication.
        damaged.subtract(mended)
        var publication = contents.publication(newest + 1, catalog, ledger, renditions)
        // Moved out of `self`: with two owners the table would be copied.
        var names = NameTable()
        swap(&names, &catalog.names)
        publication.links += names.begin(with: contents, beside: self, ledger, in: &catalog)
        catalog.names = names
        rewritten.subtract(lists)
        // Not each refusal is worth a generation.
        if contents.leavesOut || !hasLeftOut, trouble == nil, mended.isEmpty, !changesManifest,
            publication.isEmpty(in: catalog)
        {
            hasLeftOut = true
            return nil
        }
        newest += 1
        publication.published = publicationTime(at: now)
        publication.ignoresRoom = !mended.isEmpty
        // All of them, usually.
        if contents.staged.count == staged.count { staged = [] } else { staged.subtract(contents.stagedIcons) }
        unplaced.formIntersection(staged)
        inFlight = InFlight(
            publication: publication, staged: contents.staged, stagedIcons: contents.stagedIcons, mended: mended,
            changesManifest: changesManifest, begun: now)
        return publication
    }

    mutating func endInFlight() -> InFlight {
        guard let done = inFlight else { preconditionFailure("nothing was being published") }
        inFlight = nil
        return done
    }

    mutating func finish(
        _ done: InFlight, _ manifest: Manifest, written: WrittenBytes, doubt: String?, at now: Timestamp
    ) {
        lastBeat = now
        hasLeftOut = true
        if unplaced.isEmpty { (refusal, refusals) = (nil, 0) }
        trouble = doubt
        isInDoubt = doubt != nil
        window.finish(
            at: now, cost: now - done.begun, documents: written.documents, manifestBytes: written.manifest,
            isDurable: doubt == nil)
        if doubt != nil { window.fail([], at: now) }
        // What was found damaged meanwhile is published next, whatever this publication has cost its list.
        window.prioritize(damaged)
        self.manifest = manifest
        // The clock was set back meanwhile.
        if isAhead(manifest.published, at: now) { window.markChanged(at: now) }
    }

    /// Handles a failed publication, which left nothing on disk.
    mutating func fail(_ done: InFlight, because reason: String, in catalog: Catalog, at now: Timestamp) {
        trouble = reason
        rewritten.formUnion(done.lists)
        damaged.formUnion(done.mended.filter { catalog.lists[$0] != nil })
        window.fail(done.lists.filter { catalog.lists[$0] != nil }, at: now)
    }

    /// Leaves icons out of the next publication, and for 5 s, or up to a minute if their images are refused again.
    mutating func leaveOut(_ icons: Set<IconID>, because reason: String, at now: Timestamp) {
        hasLeftOut = false
        guard !icons.isEmpty else { return }
        // Always the same one of several reasons.
        refusal = min(refusal ?? reason, reason)
        let time = now + min(.seconds(5) * (1 << min(refusals, 4)), .seconds(60))
        nextPlacing = nextPlacing > now ? min(nextPlacing, time) : time
        refusals += 1
        unplaced.formUnion(icons)
    }

    /// Whether a publication tries the refused images again.
    func isPlacing(at now: Timestamp) -> Bool { nextPlacing <= now && hasLeftOut }

    mutating func fail(because reason: String, at now: Timestamp) {
        trouble = reason
        window.fail([], at: now)
    }

    /// Returns an aborted publication's changes to pending.
    mutating func restore(_ done: InFlight, in catalog: Catalog, at now: Timestamp) {
        for list in done.lists where catalog.lists[list] != nil {
            window.markChanged(list, at: now)
            rewritten.insert(list)
        }
        damaged.formUnion(done.mended.filter { catalog.lists[$0] != nil })
        if done.changesManifest { window.markChanged(at: now) }
    }
}
