// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import DequeModule
import Fleet
import HTTPRules
import Reports

/// The images that icons show in other sizes, and which are to be rendered next.
///
/// A rendition follows from its original, its size, and the rules. It is published like an image, and goes like one;
/// what is missing is made again.
struct Renditions: Sendable {
    /// What renditions follow from besides their originals and sizes; renditions by other rules are made anew.
    struct Rules: Codable, Equatable, Sendable {
        /// `nil` if no renderer was ever asked.
        var version: Int?
        /// How many programs read images: what none of them read may be read by another one.
        var programs: Int
        var fit: String
        var enlarges: Bool
    }

    private struct Record {
        /// By size in pixels: on disk, or staged.
        var made: [Int: AppListDocument.Image] = [:]
        /// Whether they were made by other rules; they are shown until they are replaced.
        var isOutdated = false
        var failure: RenderFailure?
    }

    /// An image that is to be rendered.
    private struct Original {
        var image: AppListDocument.Image
        /// One of the URLs that it is shown for.
        var url: IconURL
        /// The lists whose documents show it.
        var lists: Set<ListName>
    }

    private enum Renderer {
        /// Nobody has asked it yet.
        case unknown
        case ready
        case failing(reason: String, until: Timestamp)
    }

    private struct Copy: Hashable {
        var original: Digest
        var pixels: Int
    }

    /// The most images of an order, and bytes of them and of what may be made of them.
    private static let most = (images: 32, bytes: 8 << 20, made: 64 << 20)
    /// How long nothing is rendered after the renderer could not work.
    private static let retryDelay: Duration = .seconds(60)
    /// How long renditions wait for others before documents name them.
    private static let gathering: Duration = .seconds(10)

    private(set) var settings: Settings.Render
    private var maxPixels: Int
    /// In ascending order.
    private(set) var sizes: [RenditionSize]
    private(set) var pixels: [Int]
    /// By the digest of the original.
    private var records: [Digest: Record] = [:]
    private var outdated = 0
    /// The originals whose failures changed since they were stored.
    private var changedFailures: Set<Digest> = []
    private var waiting: [Digest: Original] = [:]
    private var queue: Deque<Digest> = []
    /// Those of them that wait for a renderer.
    private var postponed: [Digest] = []
    private var ordered: [Digest: Original] = [:]
    private var isUnderWay = false
    /// Whether what the order under way brings counts: by now, other rules may apply, or a flush may have lost it.
    private var isOrderValid = true
    private var renderer = Renderer.unknown
    private var rules: Rules
    /// The rules by which all renditions on disk were made, as far as known.
    private var rulesOnDisk: Rules?
    private var staged: [Digest: StagedImage] = [:]
    /// Those that are being published.
    private var inFlight: [Digest: StagedImage] = [:]
    /// Copies that upstreams turned out not to have.
    private var misses: Set<Copy> = []
    /// Whether all shown images are looked through for what is missing.
    private var isSweepDue = true
    /// The lists whose next documents have new renditions.
    private var unmarked: Set<ListName> = []
    /// Since when there have been any.
    private var unmarkedSince: Timestamp?

    init(_ settings: Settings) {
        self.settings = settings.render
        maxPixels = settings.images.maxPixels
        sizes = Set(settings.render.sizes).sorted()
        pixels = Set(sizes.map(\.pixels)).sorted()
        rules = Rules(programs: 1, fit: settings.render.fit.rawValue, enlarges: settings.render.enlarge)
    }

    var isOn: Bool { !sizes.isEmpty }

    mutating func configure(_ new: Settings) {
        let (old, oldMaxPixels) = (settings, maxPixels)
        settings = new.render
        maxPixels = new.images.maxPixels
        sizes = Set(settings.sizes).sorted()
        pixels = Set(sizes.map(\.pixels)).sorted()
        if settings != old { isOrderValid = false }
        if (old.fit, old.enlarge) != (settings.fit, settings.enlarge) {
            (rules.fit, rules.enlarges) = (settings.fit.rawValue, settings.enlarge)
            outdate()
        }
        // It may have been too large.
        if maxPixels != oldMaxPixels { forgetFailures { $0 == .failed } }
        // Whoever reloads may just have installed the renderer.
        renderer = .unknown
        isSweepDue = true
        if !isOn { (waiting, queue, postponed) = ([:], [], []) }
    }

    private mutating func outdate() {
        for original in records.keys { records[original]?.isOutdated = true }
        outdated = records.count
        forgetFailures { _ in true }
    }

    // MARK: What an earlier run left

    /// Records renditions that the newest generation names.
    mutating func restore(_ found: [AppListDocument.Rendition], of original: Digest) {
        for rendition in found { records[original, default: Record()].made[rendition.size.pixels] = rendition.image }
    }

    /// Records by which rules the renditions were made, and what could not be rendered.
    mutating func restore(_ known: Rules?, failures: [RenderMemo]) {
        for memo in failures { records[memo.image, default: Record()].failure = memo.failure }
        guard let known else { return }
        (rules.version, rules.programs, rulesOnDisk) = (known.version, known.programs, known)
        if known != rules { outdate() }
    }

    /// The rules to remember: those of before, until all renditions on disk are by the present ones.
    mutating func settledRules() -> Rules? {
        guard isOn || rulesOnDisk != nil else { return nil }
        if outdated == 0, staged.isEmpty, inFlight.isEmpty { rulesOnDisk = rules }
        return rulesOnDisk
    }

    // MARK: Failures

    func failure(of original: Digest) -> RenderFailure? { records[original]?.failure }

    private mutating func forgetFailures(where isForgotten: (RenderFailure.Code) -> Bool) {
        for (original, record) in records {
            guard let failure = record.failure, failure.code.known.map(isForgotten) ?? true else { continue }
            records[original]?.failure = nil
            changedFailures.insert(original)
        }
        isSweepDue = true
    }

    /// Removes and returns the originals whose failures came or went.
    mutating func drainChangedFailures() -> Set<Digest> {
        defer { changedFailures = [] }
        return changedFailures
    }

    /// The failure that a restart keeps.
    func memo(of original: Digest) -> RenderMemo? {
        records[original]?.failure.map { RenderMemo(image: original, failure: $0) }
    }

    var originals: some Sequence<Digest> { records.keys }

    // MARK: Documents

    /// The renditions of an image, smallest first.
    func renditions(of original: Digest) -> [AppListDocument.Rendition] {
        guard isOn, let record = records[original], !record.made.isEmpty else { return [] }
        return sizes.compactMap { size in
            record.made[size.pixels].map { AppListDocument.Rendition(size: size, image: $0) }
        }
    }

    /// Adds the renditions to the entries of a document.
    func add(to document: inout AppListDocument) {
        guard isOn, !records.isEmpty else { return }
        for index in document.apps.indices {
            guard case .ready(let image) = document.apps[index].state else { continue }
            document.apps[index].renditions = renditions(of: image.sha256)
        }
    }

    /// The staged renditions that documents name.
    func staged(in documents: [AppListDocument]) -> [StagedImage] {
        guard !staged.isEmpty else { return [] }
        let named = Set(documents.lazy.flatMap(\.apps).flatMap(\.renditions).map(\.image.sha256))
        return named.compactMap { staged[$0] }
    }

    /// The names of the staged files.
    var stagedNames: Set<String> { Set(staged.values.map(\.name)) }

    /// Whether a rendition waits to be published, or is being.
    func isStaged(_ rendition: Digest) -> Bool { staged[rendition] != nil || inFlight[rendition] != nil }

    /// Records that a publication has these staged renditions.
    mutating func beginPublication(_ images: [StagedImage]) {
        for image in images { inFlight[image.image.sha256] = staged.removeValue(forKey: image.image.sha256) }
    }

    /// Records that they are on disk.
    mutating func endPublication() { inFlight = [:] }

    /// Forgets them, since they are lost; returns what else was staged, and is not wanted any more.
    mutating func failPublication() -> [StagedImage] {
        let lost = Set(inFlight.keys)
        inFlight = [:]
        return forget(lost).staged
    }

    /// Stages them again; returns those that are not wanted any more.
    mutating func abortPublication() -> [StagedImage] {
        staged.merge(inFlight) { $1 }
        inFlight = [:]
        return removeUnwanted()
    }

    /// Those of these images that are renditions on disk.
    func made(among images: Set<Digest>) -> Set<AppListDocument.Image> {
        Set(
            records.values.lazy.flatMap(\.made.values).filter { images.contains($0.sha256) && !isStaged($0.sha256) })
    }

    /// Forgets all renditions that are not on disk; returns what was staged.
    ///
    /// What the order under way brings is lost as well.
    mutating func dropStaged() -> [StagedImage] {
        isOrderValid = false
        return forget(Set(staged.keys)).staged
    }

    /// Forgets everything: another cache folder is at the path, or all is purged.
    mutating func reset() -> [StagedImage] {
        changedFailures.formUnion(records.lazy.filter { $0.value.failure != nil }.map(\.key))
        isOrderValid = false
        defer {
            (records, outdated, staged, misses) = ([:], 0, [:], [])
            (waiting, queue, postponed, ordered, isSweepDue) = ([:], [], [], [:], true)
        }
        return Array(staged.values)
    }

    /// Forgets images, as renditions and as originals: they are to be removed, damaged, or were never written.
    ///
    /// Renditions that are still wanted are made again. Returns the originals whose renditions are among them, and what
    /// was staged of them.
    mutating func forget(_ images: Set<Digest>) -> (originals: Set<Digest>, staged: [StagedImage]) {
        guard !images.isEmpty else { return ([], []) }
        for image in images {
            (waiting[image], ordered[image]) = (nil, nil)
            if removeRecord(of: image)?.failure != nil { changedFailures.insert(image) }
        }
        var originals: Set<Digest> = []
        for (original, record) in records where record.made.values.contains(where: { images.contains($0.sha256) }) {
            originals.insert(original)
            records[original]?.made = record.made.filter { !images.contains($0.value.sha256) }
        }
        if !originals.isEmpty { isSweepDue = true }
        return (originals, removeUnwanted())
    }

    /// Forgets what is known of an original, and returns it.
    @discardableResult
    private mutating func removeRecord(of original: Digest) -> Record? {
        let record = records.removeValue(forKey: original)
        if record?.isOutdated == true { outdated -= 1 }
        return record
    }

    /// Removes and returns what is staged, and a rendition of no image.
    private mutating func removeUnwanted() -> [StagedImage] {
        guard !staged.isEmpty else { return [] }
        let wanted = Set(records.values.lazy.flatMap(\.made.values).map(\.sha256))
        let unwanted = staged.filter { !wanted.contains($0.key) }
        for digest in unwanted.keys { staged[digest] = nil }
        return Array(unwanted.values)
    }

    // MARK: What to render

    /// The pixels of sizes that an image is to be rendered in.
    private func missing(of original: Digest) -> [Int] {
        guard let record = records[original] else { return pixels }
        if record.failure != nil { return [] }
        return record.isOutdated ? pixels : pixels.filter { record.made[$0] == nil }
    }

    /// Lets an image that a document shows be rendered, unless it is.
    mutating func want(_ image: AppListDocument.Image, for url: IconURL, in list: ListName) {
        guard isOn, !missing(of: image.sha256).isEmpty else { return }
        if ordered[image.sha256] != nil {
            ordered[image.sha256]?.lists.insert(list)
        } else if waiting[image.sha256] != nil {
            waiting[image.sha256]?.lists.insert(list)
        } else {
            waiting[image.sha256] = Original(image: image, url: url, lists: [list])
            queue.append(image.sha256)
        }
    }

    /// Lets all images on disk that lists show be rendered, if something may be missing; O(*n*) in the number of entries.
    mutating func sweep(_ catalog: Catalog) {
        guard isOn, isSweepDue else { return }
        isSweepDue = false
        for (name, list) in catalog.lists {
            for entry in list.entries {
                let own = catalog.icons[entry.icon]?.image
                let image = own ?? catalog.previous.shown(for: entry.icon)?.image.wrappedValue
                if let image { want(image, for: entry.icon, in: name) }
            }
        }
    }

    mutating func sweepAgain() { isSweepDue = true }

    /// Lets copies be taken that an upstream did not have.
    mutating func forgetMisses() { misses = [] }

    /// Begins the next order, if there is something to render and a renderer for it, or a copy of what it would make.
    mutating func begin(
        at now: Timestamp, copyOf copy: (_ original: Digest, _ pixels: Int) -> UpstreamRequest? = { _, _ in nil }
    ) -> RenderOrder? {
        guard isOn, !isUnderWay else { return nil }
        var order = RenderOrder(maxPixels: maxPixels)
        (order.fit, order.enlarges) = (settings.fit, settings.enlarge)
        order.mayRender = !isWaiting(at: now)
        if order.mayRender {
            queue.append(contentsOf: postponed)
            postponed = []
        }
        var (bytes, made) = (0, 0)
        while order.items.count < Self.most.images, bytes < Self.most.bytes, made < Self.most.made,
            let digest = queue.popFirst()
        {
            guard let original = waiting[digest], case let pixels = missing(of: digest), !pixels.isEmpty else {
                waiting[digest] = nil
                continue
            }
            var item = RenderOrder.Item(original.image, pixels: pixels)
            for size in pixels where !misses.contains(Copy(original: digest, pixels: size)) {
                item.copies[size] = copy(digest, size)
            }
            guard order.mayRender || item.copies.count == pixels.count else {
                postponed.append(digest)
                continue
            }
            waiting[digest] = nil
            ordered[digest] = original
            order.items.append(item)
            bytes += original.image.bytes
            made += pixels.reduce(0) { $0 + 4 * $1 * $1 }
        }
        // Nobody has asked which renderer there is.
        let isQuestion = if case .ready = renderer { false } else { order.mayRender }
        guard !order.items.isEmpty || isQuestion else { return nil }
        (isUnderWay, isOrderValid) = (true, true)
        return order
    }

    private func isWaiting(at now: Timestamp) -> Bool {
        if case .failing(_, let until) = renderer { until > now } else { false }
    }

    /// When an order may begin; `nil` if none waits for time to pass.
    var nextWake: Timestamp? {
        guard isOn, !isUnderWay, case .failing(_, let until) = renderer else { return nil }
        return until
    }

    /// Whether nothing is being rendered, and nothing can be now.
    func isIdle(at now: Timestamp) -> Bool {
        if isUnderWay { return false }
        guard isOn, !isWaiting(at: now) else { return true }
        guard case .ready = renderer else { return false }
        return queue.isEmpty && postponed.isEmpty && !isSweepDue
    }

    /// What an order changed.
    struct Outcome {
        /// The lists whose documents are to be written again.
        var lists: Set<ListName> = []
        var staged: [StagedImage] = []
        /// Renditions that are not wanted any more, or are on disk.
        var unused: [StagedImage] = []
        var failures: [(url: IconURL, failure: RenderFailure)] = []
        /// Originals that are missing or damaged.
        var damaged: Set<Digest> = []
    }

    /// Applies the end of an order; `isOnDisk` tells of an image whether it is in `icons/` and stays there.
    mutating func apply(_ report: RenderReport, isOnDisk: (Digest) -> Bool, at now: Timestamp) -> Outcome {
        isUnderWay = false
        var outcome = Outcome()
        let results = report.results
        recordRenderer(report, at: now)
        for (original, pixels) in report.missed {
            misses.formUnion(pixels.map { Copy(original: original, pixels: $0) })
        }
        for (digest, result) in results {
            guard case .rendered(let images) = result, !isOrderValid || ordered[digest] == nil else { continue }
            outcome.unused += images.values
        }
        var replaces = false
        for (digest, original) in ordered {
            let isOutdated = records[digest]?.isOutdated == true
            switch results[digest] {
            case _ where !isOrderValid, nil: requeue(original)
            case .rendered(let images):
                if isOutdated {
                    removeRecord(of: digest)
                    replaces = true
                }
                for (pixels, image) in images {
                    let rendition = image.image.sha256
                    records[digest, default: Record()].made[pixels] = image.image
                    // It may be shown already, as a rendition of another image.
                    if isStaged(rendition) || isOnDisk(rendition) {
                        outcome.unused.append(image)
                    } else {
                        staged[rendition] = image
                        outcome.staged.append(image)
                    }
                }
                unmarked.formUnion(original.lists)
            case .failed(let failure):
                // Renditions by other rules would stay for ever.
                if isOutdated {
                    removeRecord(of: digest)
                    unmarked.formUnion(original.lists)
                    replaces = true
                }
                records[digest, default: Record()].failure = failure
                changedFailures.insert(digest)
                outcome.failures.append((original.url, failure))
            case .damaged: outcome.damaged.insert(digest)
            }
        }
        ordered = [:]
        if replaces { outcome.unused += removeUnwanted() }
        outcome.lists = listsToMark(at: now)
        return outcome
    }

    private mutating func recordRenderer(_ report: RenderReport, at now: Timestamp) {
        if let trouble = report.trouble {
            renderer = .failing(reason: trouble, until: now + Self.retryDelay)
        } else if report.version != nil {
            renderer = .ready
        }
        if let found = report.version, found != rules.version {
            let isOther = rules.version != nil
            rules.version = found
            // What this order brought is by the new one.
            if isOther { outdate() }
        }
        if let found = report.programs, found != rules.programs {
            rules.programs = found
            // What no program read may be read by one of them now.
            forgetFailures { $0 == .unsupported }
        }
    }

    /// Few documents with many renditions each, rather than one for each order.
    private mutating func listsToMark(at now: Timestamp) -> Set<ListName> {
        guard !unmarked.isEmpty else { return [] }
        let begun = unmarkedSince ?? now
        unmarkedSince = begun
        guard waiting.isEmpty || isWaiting(at: now) || now - begun >= Self.gathering else { return [] }
        defer { (unmarked, unmarkedSince) = ([], nil) }
        return unmarked
    }

    private mutating func requeue(_ original: Original) {
        let digest = original.image.sha256
        guard isOn, !missing(of: digest).isEmpty else { return }
        if waiting[digest] == nil { queue.append(digest) }
        waiting[digest, default: original].lists.formUnion(original.lists)
    }

    // MARK: State

    /// Why what waits cannot be rendered, as a clause; `nil` if nothing is known to be wrong.
    var trouble: String? {
        guard isOn, !waiting.isEmpty, case .failing(let reason, _) = renderer else { return nil }
        return reason
    }

    enum Standing { case ready, pending, failed }

    func standing(of original: Digest) -> Standing {
        if records[original]?.failure != nil { return .failed }
        return missing(of: original).isEmpty ? .ready : .pending
    }
}
