// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules

/// What is published, what is being published, and what is to be published next.
struct PublicationPlan: Sendable {
    /// A publication that has not ended.
    struct InFlight: Sendable {
        var publication: Publication
        var staged: [IconURL: StagedImage]
        /// The lists in it whose published documents name images that are not on disk.
        var mended: Set<ListName>
        /// Whether it would be of use without a document.
        var changesManifest: Bool
        /// The icons whose names are set although no image of them is staged, each with the image.
        var named: [IconURL: Boxed<AppListDocument.Image>]
        /// The icons whose names were to be set, those of staged images included.
        var unnamed: Set<IconURL>
        /// The entries that have another URL since it began, with the URL before, whose image is in it.
        var heirs: [ListName: [Int: IconURL]] = [:]
        var begun: Timestamp

        /// The lists whose documents are in it.
        var lists: [ListName] { publication.documents.map(\.list) }
    }

    private var settings: Settings.Publish
    /// When the newest manifest was published, by the agent's clock.
    private var lastBeat: Timestamp
    /// How far the wall clock is ahead of the agent's.
    private var clockOffset: Duration = .zero
    /// The newest manifest; `nil` before the first one.
    private(set) var manifest: Manifest?
    /// The highest number that a generation was given; 0 if none was.
    private(set) var newest: Int
    /// What changed, and when it is published.
    private(set) var window = PublicationWindow()
    /// Lists of which an older version is published, which may name what they name no more.
    private(set) var rewritten: Set<ListName> = []
    /// Lists whose published documents name images that are not on disk.
    private var damaged: Set<ListName> = []
    /// Icons with an image that waits to be published.
    private(set) var staged: Set<IconURL> = []
    /// Icons without a staged image whose `by-url/` names are to lead to another image.
    private var unnamed: Set<IconURL> = []
    /// The images that the `by-url/` names of icons lead to that have none of their own.
    private(set) var named: [IconURL: Boxed<AppListDocument.Image>] = [:]
    private(set) var inFlight: InFlight?
    /// Why the last publication failed, or may not be durable; `nil` if it is.
    private(set) var failure: String?
    /// Whether the newest manifest may be lost in a power failure: nothing that only an older one names is removed then.
    private(set) var isInDoubt = false

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - manifest: The newest manifest; `nil` if there is none.
    ///   - newest: The highest number that a generation was given.
    ///   - outdated: The lists whose documents name images that are not on disk.
    ///   - named: The images that the `by-url/` names of icons lead to that have none of their own.
    ///   - now: The present time.
    init(
        _ settings: Settings.Publish = Settings.Publish(), _ manifest: Manifest? = nil, newest: Int = 0,
        outdated: Set<ListName> = [], named: [IconURL: Boxed<AppListDocument.Image>] = [:], at now: Timestamp
    ) {
        self.settings = settings
        // Readers refuse a manifest of the future.
        lastBeat = manifest.map { $0.published > now + SourceMemo.tolerance ? .distantPast : $0.published } ?? now
        self.manifest = manifest
        self.newest = newest
        damaged = outdated
        self.named = named
        for list in outdated { window.noteChange(of: list, at: now) }
    }

    mutating func configure(_ settings: Settings.Publish) { self.settings = settings }

    // MARK: What changed

    /// When a generation is published although nothing changed; `nil` while one is, or is about to be.
    var heartbeat: Timestamp? {
        guard inFlight == nil, manifest != nil, !window.isManifestChanged else { return nil }
        return lastBeat + settings.heartbeat
    }

    /// Something changed that the document of a list tells.
    mutating func noteChange(of list: ListName, at now: Timestamp) {
        window.noteChange(of: list, at: now)
    }

    /// The manifest is to change, and no document.
    mutating func noteChange(at now: Timestamp) {
        window.noteChange(at: now)
    }

    /// A list names no more what it named: its published document does until the next one.
    mutating func noteRewritten(_ list: ListName) {
        rewritten.insert(list)
    }

    /// Forgets what was to be published of a list that is gone.
    ///
    /// - Returns: Whether there was no room for its document.
    mutating func forget(_ list: ListName) -> Bool {
        let wasDeferred = window.deferred.contains(list)
        window.forget(list)
        rewritten.remove(list)
        damaged.remove(list)
        inFlight?.heirs[list] = nil
        return wasDeferred
    }

    /// An icon has an image that waits to be published.
    mutating func stage(_ url: IconURL) {
        staged.insert(url)
    }

    /// The image of an icon does not wait any more.
    mutating func unstage(_ url: IconURL) {
        staged.remove(url)
    }

    /// No image waits any more.
    mutating func unstageAll() {
        staged = []
    }

    /// Icons show an image that is not staged: their names are set with the next generation.
    mutating func noteNames(of icons: Set<IconURL>) {
        unnamed.formUnion(icons)
    }

    /// Entries of a new version of a list had URLs whose images are being published.
    mutating func setHeirs(_ heirs: [Int: IconURL], in list: ListName) {
        if inFlight != nil { inFlight?.heirs[list] = heirs.isEmpty ? nil : heirs }
    }

    /// Whether the `by-url/` name of an icon does not lead yet to what is shown for it.
    func isToBeNamed(_ icon: IconURL) -> Bool { unnamed.contains(icon) || inFlight?.named[icon] != nil }

    /// The `by-url/` names of these icons are gone.
    mutating func forgetNames(of icons: some Sequence<IconURL>) {
        if !named.isEmpty { for icon in icons { named[icon] = nil } }
    }

    /// Whether what changed of a list is not published yet.
    func isToBePublished(_ list: ListName) -> Bool {
        window.isChanged(list) || inFlight?.publication.documents.contains { $0.list == list } == true
    }

    /// Whether everything is published, and lasts.
    var isSettled: Bool { inFlight == nil && staged.isEmpty && window.isEmpty && failure == nil }

    /// Whether the newest manifest tells what is known of a list, or will not before there is room.
    func isUpToDate(_ list: ListName, in catalog: Catalog) -> Bool {
        if window.deferred.contains(list) { return true }
        guard catalog.lists[list]?.source != nil else { return manifest?.lists[list] == nil }
        return !isToBePublished(list)
    }

    // MARK: Damage

    /// Images are not on disk, or not as they should be: until they are, no manifest is to name them.
    ///
    /// - Parameters:
    ///   - images: The images.
    ///   - lists: The lists that name icons with one of them.
    ///   - catalog: The lists and icons.
    ///   - ledger: What generations name.
    ///   - now: The present time.
    /// - Returns: The lists that are to be published whatever it costs.
    mutating func noteDamage(
        of images: Set<Digest>, shownBy lists: Set<ListName>, in catalog: Catalog, _ ledger: RetirementLedger,
        at now: Timestamp
    ) -> Set<ListName> {
        var lists = lists
        for list in rewritten.union(inFlight?.lists ?? []) where catalog.lists[list]?.source != nil {
            guard let published = catalog.lists[list]?.published, let document = ledger.documents[published.sha256],
                !document.images.isDisjoint(with: images)
            else { continue }
            if rewritten.contains(list) {
                noteChange(of: list, at: now)
                lists.insert(list)
            }
            // If that comes to nothing, the published document is still the one that names them.
            if inFlight?.lists.contains(list) == true { inFlight?.mended.insert(list) }
        }
        // Once for each list, however many of its images were lost.
        for list in lists.sorted() { window.prioritize(list) }
        damaged.formUnion(lists)
        return lists
    }

    /// Has a list's document written next whatever it costs: what the manifest in the folder says of it is wrong.
    mutating func renew(_ list: ListName, at now: Timestamp) {
        window.prioritize(list)
        damaged.insert(list)
        noteChange(of: list, at: now)
    }

    /// Another folder is at the path of the cache, with this manifest; `nil` if it has none.
    mutating func take(_ manifest: Manifest?, at now: Timestamp) {
        self.manifest = manifest
        unnamed.formUnion(named.keys)
        named = [:]
        noteChange(at: now)
    }

    /// Generations with numbers up to this one were in the folder.
    mutating func noteNewest(_ generation: Int) {
        newest = max(newest, generation)
    }

    // MARK: Room and time

    /// The time that a manifest has: that of the wall clock, as far as it grows.
    ///
    /// Readers refuse what is older than what they have seen, and what is more than the tolerance ahead.
    private func publicationTime(at now: Timestamp) -> Timestamp {
        let time = now + clockOffset
        guard let last = manifest?.published, last <= time + SourceMemo.tolerance else { return time }
        return max(time, last)
    }

    /// The wall clock was set: it is so far ahead of the agent's now.
    ///
    /// Followers would refuse a manifest of a wrong time, or take it for stale: another one follows.
    mutating func setClock(_ offset: Duration, at now: Timestamp) {
        let jump = offset - clockOffset
        clockOffset = offset
        guard let last = manifest?.published else { return }
        if jump >= SourceMemo.tolerance || last > now + offset + SourceMemo.tolerance { noteChange(at: now) }
    }

    /// Has the documents of these lists wait until there is room, and no others.
    mutating func deferLists(_ lists: Set<ListName>) {
        window.deferLists(lists)
    }

    /// What made publications fail may be over.
    mutating func retry(at now: Timestamp) {
        window.retry(at: now)
    }

    /// The system slept for so long: it is no cost of what is being published.
    mutating func noteSleep(_ time: Duration) {
        if let begun = inFlight?.begun { inFlight?.begun = begun + time }
    }

    // MARK: A publication

    /// Begins to publish what is due.
    ///
    /// - Returns: `nil` if nothing of it can be published now.
    mutating func begin(
        _ catalog: Catalog, _ ledger: RetirementLedger, during traffic: PublicationWindow.Traffic, at now: Timestamp
    ) -> Publication? {
        let contents = PublicationContents(self, catalog, ledger, during: traffic, at: now)
        let lists = contents.lists
        let changesManifest = window.isManifestChanged
        window.begin(lists)
        guard changesManifest || !lists.isEmpty else { return nil }
        for (list, time) in contents.changesToHold(self, catalog, ledger, during: traffic) {
            noteChange(of: list, at: time)
        }
        newest += 1
        let mended = damaged.intersection(lists)
        // What is found damaged from now on is for the next one.
        damaged.subtract(mended)
        var publication = contents.publication(newest, self, catalog, ledger)
        let (names, later) = names(with: contents, in: catalog, ledger)
        for (icon, image) in names {
            guard let path = image.wrappedValue?.path else { continue }
            // A name that a document tells of is not taken away with a publication that fails.
            let own = ledger.urls[icon] == nil ? nil : catalog.icons[icon]?.image
            publication.links.append((icon, path, before: named[icon]?.wrappedValue?.path ?? own?.path))
        }
        publication.published = publicationTime(at: now)
        publication.ignoresRoom = !mended.isEmpty
        staged.subtract(contents.staged.keys)
        // No room is kept for what was published.
        if staged.isEmpty { staged = [] }
        rewritten.subtract(lists)
        inFlight = InFlight(
            publication: publication, staged: contents.staged, mended: mended, changesManifest: changesManifest,
            named: names, unnamed: unnamed.subtracting(later), begun: now)
        unnamed = later
        return publication
    }

    /// The images that icons show which are named next, apart from those that are staged.
    ///
    /// - Returns: The images, and the icons that are named later, with the documents that show something for them: a name
    ///   that no document tells of would never be removed.
    private func names(
        with contents: PublicationContents, in catalog: Catalog, _ ledger: RetirementLedger
    ) -> (now: [IconURL: Boxed<AppListDocument.Image>], later: Set<IconURL>) {
        var names: [IconURL: Boxed<AppListDocument.Image>] = [:]
        var later: Set<IconURL> = []
        for icon in unnamed where contents.staged[icon] == nil {
            guard let record = catalog.icons[icon], record.isReferenced,
                let image = record.hasImage ? record.boxedImage : catalog.previous.shown(for: icon)?.image
            else { continue }
            let lists = record.hasImage ? record.lists : catalog.previous.lists(for: icon)
            if ledger.urls[icon] != nil || lists.contains(where: contents.lists.contains) {
                names[icon] = image
            } else {
                later.insert(icon)
            }
        }
        return (names, later)
    }

    /// Takes what was being published.
    mutating func takeInFlight() -> InFlight {
        guard let done = inFlight else { preconditionFailure("nothing was being published") }
        inFlight = nil
        return done
    }

    /// A publication ended well.
    mutating func finish(
        _ done: InFlight, _ manifest: Manifest, written: WrittenBytes, doubt: String?, at now: Timestamp
    ) {
        lastBeat = now
        failure = doubt
        isInDoubt = doubt != nil
        window.finish(
            at: now, cost: now - done.begun, documents: written.documents, manifestBytes: written.manifest,
            isDurable: doubt == nil)
        if doubt != nil { window.fail([], at: now) }
        self.manifest = manifest
        named.merge(done.named) { $1 }
        forgetNames(of: done.staged.keys)
    }

    /// A publication failed, and nothing of it is on disk.
    mutating func fail(_ done: InFlight, because reason: String, in catalog: Catalog, at now: Timestamp) {
        failure = reason
        rewritten.formUnion(done.lists)
        damaged.formUnion(done.mended.filter { catalog.lists[$0] != nil })
        unnamed.formUnion(done.unnamed)
        window.fail(done.lists.filter { catalog.lists[$0] != nil }, at: now)
    }

    /// Nothing can be published at the moment.
    mutating func fail(because reason: String, at now: Timestamp) {
        failure = reason
        window.fail([], at: now)
    }

    /// Has all that a publication was to bring wait for the next one: nothing was done of it.
    mutating func takeBack(_ done: InFlight, in catalog: Catalog, at now: Timestamp) {
        for list in done.lists where catalog.lists[list] != nil {
            noteChange(of: list, at: now)
            rewritten.insert(list)
        }
        damaged.formUnion(done.mended.filter { catalog.lists[$0] != nil })
        unnamed.formUnion(done.unnamed)
        if done.changesManifest { noteChange(at: now) }
    }
}
