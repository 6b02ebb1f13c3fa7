// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import Reports

/// The images that icons show in other sizes, and which are to be rendered next.
///
/// A rendition follows from its original, its size, and the rules. It is published and evicted like an image; missing
/// renditions are made again.
struct Renditions: Sendable {
    /// The longest time until an image is rendered again after its renderer was killed or took too long, or the cache
    /// folder had no place for a rendition.
    private static let interruptionDelay: Duration = .seconds(3600)
    /// How long renditions wait for others before documents name them.
    private static let gathering: Duration = .seconds(10)

    private var settings: Settings.Render
    private var maxPixels: Int
    /// The sizes to render, in ascending order.
    private(set) var sizes: [RenditionSize]
    private(set) var pixels: [Int]
    var records = RenditionRecords()
    var queue = RenditionQueue()
    var staged = StagedRenditions()
    var renderer = RendererState()
    private var rules: Rules
    /// The rules by which all renditions that documents name were made, as far as known.
    private var rulesOnDisk: Rules?
    /// When interrupted images are rendered again; `nil` if there are none.
    private var interruptionEnd: Timestamp?
    var copyRefusals = CopyRefusals()
    /// Whether all shown images are looked through for what is missing.
    var isSweepDue = true
    /// The lists whose documents lack new renditions.
    var lagging: Set<ListName> = []
    /// Since when there have been any.
    private var laggingSince: Timestamp?

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
        if settings != old { queue.invalidateOrder() }
        if (old.fit, old.enlarge) != (settings.fit, settings.enlarge) {
            (rules.fit, rules.enlarges) = (settings.fit.rawValue, settings.enlarge)
            outdate()
        }
        // A failed image may have been too large.
        if maxPixels != oldMaxPixels { forgetFailures { $0 == .failed } }
        interruptionEnd = nil
        forgetFailures { $0 == .interrupted }
        // Whoever reloads may just have installed the renderer.
        renderer.askAgain()
        if !isOn { queue.removeWaiting() }
    }

    /// Records that other rules apply, and requests a sweep for missing renditions.
    private mutating func outdate() {
        records.outdate()
        isSweepDue = true
    }

    private mutating func forgetFailures(where isForgotten: (RenderFailure.Code) -> Bool) {
        records.forgetFailures(where: isForgotten)
        isSweepDue = true
    }

    // MARK: The state of an earlier run

    /// Records renditions that the newest generation names.
    mutating func restore(_ found: [AppListDocument.Rendition], of original: Digest) {
        for rendition in found { records.add(rendition.image, of: original, pixels: rendition.size.pixels) }
    }

    /// Restores the rules by which the renditions were made, and the failures.
    mutating func restore(_ known: Rules?, failures: [RenderMemo]) {
        for memo in failures { records.restore(memo.failure, of: memo.image) }
        guard let known else { return }
        (rules.version, rules.programs, rulesOnDisk) = (known.version, known.programs, known)
        if known != rules { outdate() }
    }

    /// The rules to remember: the present ones when all documents name renditions by them, and mixed ones before.
    ///
    /// `areDocumentsWritten` tells whether no document waits to be published.
    mutating func settledRules(areDocumentsWritten: Bool) -> Rules? {
        guard isOn || rulesOnDisk != nil else { return nil }
        if areDocumentsWritten, lagging.isEmpty, staged.isEmpty, !records.hasOutdated {
            rulesOnDisk = rules
        } else {
            rulesOnDisk = rulesOnDisk?.mixed(with: rules)
        }
        return rulesOnDisk
    }

    // MARK: Failures

    /// The failure that a restart keeps.
    func memo(of original: Digest) -> RenderMemo? {
        guard let failure = records.failure(of: original), failure.code.known != .interrupted else { return nil }
        return RenderMemo(image: original, failure: failure)
    }

    /// Retries images whose rendering failed, at a user's request.
    mutating func retry(_ originals: Set<Digest>) {
        for original in originals { records.forgetFailure(of: original) }
        isSweepDue = true
        renderer.askAgain()
    }

    /// Retries images whose renderer was killed or took too long, once ``interruptionEnd`` has come.
    mutating func retryInterrupted(at now: Timestamp) {
        guard let end = interruptionEnd, end <= now else { return }
        interruptionEnd = nil
        forgetFailures { $0 == .interrupted }
    }

    // MARK: Documents

    /// The renditions of an image, smallest first.
    func renditions(of original: Digest) -> [AppListDocument.Rendition] {
        guard isOn, case let made = records.made(of: original), !made.isEmpty else { return [] }
        return sizes.compactMap { size in
            made[size.pixels].map { AppListDocument.Rendition(size: size, image: $0) }
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

    /// The subset of `images` that are renditions on disk.
    func made(among images: Set<Digest>) -> Set<AppListDocument.Image> {
        Set(records.all.lazy.filter { images.contains($0.sha256) && !staged.contains($0.sha256) })
    }

    // MARK: Publication

    /// Forgets the renditions of a failed publication; returns what else was staged, and is no longer wanted.
    mutating func failPublication() -> [StagedImage] { forget(staged.failPublication()).staged }

    /// Forgets the renditions of a failed publication that are in these files; returns their originals, and what was
    /// staged.
    mutating func failPublication(losing files: Set<String>) -> (originals: Set<Digest>, staged: [StagedImage]) {
        let lost = staged.failPublication(losing: files)
        let forgotten = forget(Set(lost.map(\.image.sha256)))
        return (forgotten.originals, lost + forgotten.staged)
    }

    /// Records that the cache folder has no place for renditions of a publication, which are tried again later; returns
    /// their originals, and what was staged.
    mutating func refusePublication(
        of files: Set<String>, with failure: RenderFailure, at now: Timestamp
    ) -> (originals: Set<Digest>, staged: [StagedImage]) {
        let refused = failPublication(losing: files)
        for original in refused.originals { fail(original, with: failure, at: now) }
        return refused
    }

    private mutating func fail(_ original: Digest, with failure: RenderFailure, at now: Timestamp) {
        records.fail(original, with: failure)
        if failure.code.known == .interrupted, interruptionEnd == nil { interruptionEnd = now + Self.interruptionDelay }
    }

    /// Stages the renditions of an aborted publication again; returns those that are no longer wanted.
    mutating func abortPublication() -> [StagedImage] {
        staged.abortPublication()
        return staged.removeWaiting(besides: records.all)
    }

    /// Forgets all renditions that are not on disk, which are made again; returns what was staged.
    ///
    /// What the order under way brings is lost as well.
    mutating func dropStaged() -> [StagedImage] {
        queue.invalidateOrder()
        return forget(Set(staged.waitingImages.map(\.image.sha256))).staged
    }

    // MARK: Removal

    /// Forgets everything: another cache folder is at the path, or all is purged.
    mutating func reset() -> [StagedImage] {
        records.reset()
        queue.reset()
        isSweepDue = true
        return staged.removeWaiting(besides: records.all)
    }

    /// Forgets images, as renditions and as originals: they are to be removed, damaged, or were never written.
    ///
    /// Renditions that are still wanted are made again. Returns the originals whose renditions are among the images, and
    /// staged renditions that are no longer wanted.
    mutating func forget(_ images: Set<Digest>) -> (originals: Set<Digest>, staged: [StagedImage]) {
        guard !images.isEmpty else { return ([], []) }
        queue.remove(images)
        let originals = records.forget(images)
        if !originals.isEmpty { isSweepDue = true }
        return (originals, staged.removeWaiting(besides: records.all))
    }

    // MARK: Copies

    /// Takes no copies for an original from now on; the renditions that it has may be copies (`mayBeCopied`), or not.
    mutating func refuseCopies(of original: Digest, mayBeCopied: Bool) {
        guard copyRefusals.insert(original), mayBeCopied else { return }
        if !records.made(of: original).isEmpty { copyRefusals.doubt(original) }
        if queue.isOrdered(original) { queue.invalidateOrder() }
    }

    // MARK: Orders

    /// The sizes in pixels in which an image must still be rendered.
    private func missing(of original: Digest) -> [Int] { records.missing(of: original, among: pixels) }

    private func isWanted(_ original: Digest) -> Bool { isOn && !missing(of: original).isEmpty }

    /// Queues an image that a document shows for rendering, unless it has all renditions.
    mutating func want(_ image: AppListDocument.Image, for url: IconURL, in list: ListName) {
        guard isWanted(image.sha256) else { return }
        queue.add(RenditionQueue.Original(image: image, url: url, lists: [list]))
    }

    /// Queues all images that lists show and that lack renditions, if a sweep is due; O(*n*) in the number of entries.
    mutating func sweep(_ catalog: Catalog) {
        guard isOn, isSweepDue else { return }
        isSweepDue = false
        for (name, list) in catalog.lists {
            for (index, icon) in list.icons.enumerated() {
                let image = catalog.icons[icon].icon.image ?? list.apps[past: index].last?.image
                guard let image, isWanted(catalog.images[image].key) else { continue }
                want(catalog.images.image(image), for: catalog.icons.url(of: icon), in: name)
            }
        }
    }

    /// Begins the next order, if there is something to render and a renderer for it, or a copy of what it would make.
    mutating func begin(
        at now: Timestamp, copyOf copy: (_ original: Digest, _ pixels: Int) -> UpstreamRequest? = { _, _ in nil }
    ) -> RenderOrder? {
        guard isOn, !queue.isUnderWay else { return nil }
        var order = RenderOrder(maxPixels: maxPixels)
        (order.fit, order.enlarges) = (settings.fit, settings.enlarge)
        order.mayRender = !renderer.isWaiting(at: now)
        // The version of the renderer is not known yet.
        let isQuestion = !renderer.isReady && order.mayRender
        return queue.begin(
            order, isQuestion: isQuestion,
            missing: { [records, pixels] in records.missing(of: $0, among: pixels) },
            copyOf: { [copyRefusals] in copyRefusals.contains($0) ? nil : copy($0, $1) })
    }

    /// When an order may begin; `nil` if none waits for time to pass.
    var nextWake: Timestamp? {
        guard isOn, !queue.isUnderWay else { return nil }
        return [renderer.retry, interruptionEnd].compactMap(\.self).min()
    }

    /// Whether no order is under way, and none can begin now.
    func isIdle(at now: Timestamp) -> Bool {
        if queue.isUnderWay { return false }
        guard isOn, !renderer.isWaiting(at: now) else { return true }
        return renderer.isReady && !queue.hasWaiting && !isSweepDue
    }

    // MARK: Results

    /// The consequences of an order.
    struct Outcome {
        var staged: [StagedImage] = []
        /// Renditions that are no longer wanted, or are on disk.
        var unused: [StagedImage] = []
        var failures: [(url: IconURL, failure: RenderFailure)] = []
        /// Originals that are missing or damaged.
        var damaged: Set<Digest> = []
    }

    /// Applies the end of an order; `isOnDisk` tells whether an image is in `icons/` and stays there.
    mutating func apply(_ report: RenderReport, isOnDisk: (Digest) -> Bool, at now: Timestamp) -> Outcome {
        var outcome = Outcome()
        recordRenderer(report, at: now)
        let order = queue.end(missed: report.missed)
        for (digest, result) in report.results {
            let isUsed = order.isValid && order.originals[digest] != nil
            if case .rendered(let images) = result, !isUsed { outcome.unused += images.values }
        }
        var replaces = false
        for (digest, original) in order.originals {
            switch report.results[digest] {
            case _ where !order.isValid, nil: if isWanted(digest) { queue.add(original) }
            case .rendered(let images):
                if records.removeOutdated(of: digest) { replaces = true }
                for (pixels, image) in images {
                    let rendition = image.image.sha256
                    records.add(image.image, of: digest, pixels: pixels)
                    // It may be shown already, as a rendition of another image.
                    if staged.contains(rendition) || isOnDisk(rendition) {
                        outcome.unused.append(image)
                    } else {
                        staged.add(image)
                        outcome.staged.append(image)
                    }
                }
                lagging.formUnion(original.lists)
            case .failed(let failure):
                // Otherwise renditions by other rules would stay for ever.
                if records.removeOutdated(of: digest) {
                    lagging.formUnion(original.lists)
                    replaces = true
                }
                fail(digest, with: failure, at: now)
                outcome.failures.append((original.url, failure))
            case .damaged: outcome.damaged.insert(digest)
            }
        }
        if replaces { outcome.unused += staged.removeWaiting(besides: records.all) }
        return outcome
    }

    private mutating func recordRenderer(_ report: RenderReport, at now: Timestamp) {
        if let trouble = report.trouble {
            renderer.recordFailure(trouble, at: now)
        } else if report.version != nil {
            renderer.recordSuccess()
        }
        if let found = report.version, found != rules.version {
            let isOther = rules.version != nil
            rules.version = found
            // The results of this order are by the new version, and are recorded next.
            if isOther { outdate() }
        }
        if let found = report.programs, found != rules.programs {
            rules.programs = found
            // One of the programs may support formats that were unsupported before.
            forgetFailures { $0 == .unsupported }
        }
    }

    // MARK: Lists with new renditions

    /// Removes and returns the lists whose documents are to be written again.
    ///
    /// Lists wait for more renditions, up to ``gathering``, so that documents are not written after every order.
    mutating func drainLagging(at now: Timestamp) -> Set<ListName> {
        guard !lagging.isEmpty else { return [] }
        let begun = laggingSince ?? now
        laggingSince = begun
        let moreComes = (queue.hasWaiting || queue.isUnderWay) && !renderer.isWaiting(at: now)
        guard !moreComes || now - begun >= Self.gathering else { return [] }
        defer { (lagging, laggingSince) = ([], nil) }
        return lagging
    }

    /// When the documents of ``lagging`` lists must be written; `nil` if there are none.
    var laggingDue: Timestamp? { laggingSince.map { $0 + Self.gathering } }

    // MARK: State

    /// Why waiting images cannot be rendered, as a clause; `nil` if no reason is known.
    var trouble: String? {
        isOn && queue.isInUse ? renderer.trouble : nil
    }

    enum Standing { case ready, pending, failed }

    func standing(of original: Digest) -> Standing {
        if records.failure(of: original) != nil { return .failed }
        return missing(of: original).isEmpty ? .ready : .pending
    }
}
