// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import Reports

/// The images that icons show in other sizes, and which are to be rendered next.
///
/// A rendition follows from its original, its size, and the rules. It is published like an image, and goes like one;
/// what is missing is made again.
struct Renditions: Sendable {
    /// The longest time until images are tried again during which the renderer was killed or took too long.
    private static let interruptionDelay: Duration = .seconds(3600)
    /// How long renditions wait for others before documents name them.
    private static let gathering: Duration = .seconds(10)

    private(set) var settings: Settings.Render
    private var maxPixels: Int
    /// In ascending order.
    private(set) var sizes: [RenditionSize]
    private(set) var pixels: [Int]
    private var records = RenditionRecords()
    private var queue = RenditionQueue()
    private var staged = StagedRenditions()
    private var renderer = RendererState()
    private var rules: Rules
    /// The rules by which all renditions that documents name were made, as far as known.
    private var rulesOnDisk: Rules?
    /// When interrupted images are rendered again; `nil` if there are none.
    private var interruptionEnd: Timestamp?
    /// Whether all shown images are looked through for what is missing.
    private var isSweepDue = true
    /// The lists whose documents lack new renditions.
    private var lagging: Set<ListName> = []
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
        // It may have been too large.
        if maxPixels != oldMaxPixels { forgetFailures { $0 == .failed } }
        interruptionEnd = nil
        forgetFailures { $0 == .interrupted }
        // Whoever reloads may just have installed the renderer.
        askAgain()
        isSweepDue = true
        if !isOn { queue.removeWaiting() }
    }

    /// Records that other rules apply, and lets a sweep look for what is missing.
    private mutating func outdate() {
        records.outdate()
        isSweepDue = true
    }

    /// Lets the renderer be asked at once: what kept it from working may be gone.
    mutating func askAgain() { renderer.askAgain() }

    private mutating func forgetFailures(where isForgotten: (RenderFailure.Code) -> Bool) {
        records.forgetFailures(where: isForgotten)
        isSweepDue = true
    }

    // MARK: What an earlier run left

    /// Records renditions that the newest generation names.
    mutating func restore(_ found: [AppListDocument.Rendition], of original: Digest) {
        for rendition in found { records.add(rendition.image, of: original, pixels: rendition.size.pixels) }
    }

    /// Records by which rules the renditions were made, and what could not be rendered.
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

    func failure(of original: Digest) -> RenderFailure? { records.failure(of: original) }

    /// The failure that a restart keeps.
    func memo(of original: Digest) -> RenderMemo? {
        guard let failure = failure(of: original), failure.code.known != .interrupted else { return nil }
        return RenderMemo(image: original, failure: failure)
    }

    /// Lets images be rendered again that failed: a user asks for it.
    mutating func retry(_ originals: Set<Digest>) {
        for original in originals { records.forgetFailure(of: original) }
        isSweepDue = true
        askAgain()
    }

    /// Lets images be rendered again during which the renderer was killed, or took too long, if it is time.
    mutating func retryInterrupted(at now: Timestamp) {
        guard let end = interruptionEnd, end <= now else { return }
        interruptionEnd = nil
        forgetFailures { $0 == .interrupted }
    }

    /// Removes and returns the originals whose failures came or went.
    mutating func drainChangedFailures() -> Set<Digest> { records.drainChangedFailures() }

    var originals: some Sequence<Digest> { records.originals }

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

    /// Those of these images that are renditions on disk.
    func made(among images: Set<Digest>) -> Set<AppListDocument.Image> {
        Set(records.all.lazy.filter { images.contains($0.sha256) && !isStaged($0.sha256) })
    }

    // MARK: Publication

    /// The staged renditions that documents name.
    func staged(in documents: [AppListDocument]) -> [StagedImage] { staged.waiting(in: documents) }

    /// The names of the staged files.
    var stagedNames: Set<String> { Set(staged.waitingImages.map(\.name)) }

    /// Whether a rendition waits to be published, or is being.
    func isStaged(_ rendition: Digest) -> Bool { staged.contains(rendition) }

    /// Records that a publication has these staged renditions.
    mutating func beginPublication(_ images: [StagedImage]) { staged.beginPublication(of: images) }

    /// Records that they are on disk.
    mutating func endPublication() { staged.endPublication() }

    /// Forgets them, since they are lost; returns what else was staged, and is no longer wanted.
    mutating func failPublication() -> [StagedImage] { forget(staged.failPublication()).staged }

    /// Stages them again; returns those that are no longer wanted.
    mutating func abortPublication() -> [StagedImage] {
        staged.abortPublication()
        return staged.removeWaiting(besides: records.all)
    }

    /// Forgets all renditions that are not on disk; returns what was staged.
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
        return staged.removeWaiting()
    }

    /// Forgets images, as renditions and as originals: they are to be removed, damaged, or were never written.
    ///
    /// Renditions that are still wanted are made again. Returns the originals whose renditions are among them, and what
    /// was staged of them.
    mutating func forget(_ images: Set<Digest>) -> (originals: Set<Digest>, staged: [StagedImage]) {
        guard !images.isEmpty else { return ([], []) }
        queue.remove(images)
        let originals = records.forget(images)
        if !originals.isEmpty { isSweepDue = true }
        return (originals, staged.removeWaiting(besides: records.all))
    }

    // MARK: What to render

    /// The sizes in pixels in which an image must still be rendered.
    private func missing(of original: Digest) -> [Int] { records.missing(of: original, among: pixels) }

    private func isWanted(_ original: Digest) -> Bool { isOn && !missing(of: original).isEmpty }

    /// Lets an image that a document shows be rendered, unless it is.
    mutating func want(_ image: AppListDocument.Image, for url: IconURL, in list: ListName) {
        guard isWanted(image.sha256) else { return }
        queue.add(RenditionQueue.Original(image: image, url: url, lists: [list]))
    }

    /// Lets all images on disk that lists show be rendered, if something may be missing; O(*n*) in the number of entries.
    mutating func sweep(_ catalog: Catalog) {
        guard isOn, isSweepDue else { return }
        isSweepDue = false
        for (name, list) in catalog.lists {
            for (index, icon) in list.entries.icons.enumerated() {
                let image = catalog.icons[icon]?.image ?? list.apps[past: index].last?.image
                if let image { want(catalog.images.image(image), for: icon, in: name) }
            }
        }
    }

    mutating func sweepAgain() { isSweepDue = true }

    /// Lets copies be taken that an upstream did not have.
    mutating func forgetMisses() { queue.forgetMisses() }

    /// Begins the next order, if there is something to render and a renderer for it, or a copy of what it would make.
    mutating func begin(
        at now: Timestamp, copyOf copy: (_ original: Digest, _ pixels: Int) -> UpstreamRequest? = { _, _ in nil }
    ) -> RenderOrder? {
        guard isOn, !queue.isUnderWay else { return nil }
        var order = RenderOrder(maxPixels: maxPixels)
        (order.fit, order.enlarges) = (settings.fit, settings.enlarge)
        order.mayRender = !renderer.isWaiting(at: now)
        // Nobody has asked which renderer there is.
        let isQuestion = !renderer.isReady && order.mayRender
        return queue.begin(
            order, isQuestion: isQuestion,
            missing: { [records, pixels] in records.missing(of: $0, among: pixels) }, copyOf: copy)
    }

    /// When an order may begin; `nil` if none waits for time to pass.
    var nextWake: Timestamp? {
        guard isOn, !queue.isUnderWay else { return nil }
        return [renderer.retry, interruptionEnd].compactMap(\.self).min()
    }

    /// Whether nothing is being rendered, and nothing can be now.
    func isIdle(at now: Timestamp) -> Bool {
        if queue.isUnderWay { return false }
        guard isOn, !renderer.isWaiting(at: now) else { return true }
        return renderer.isReady && !queue.hasWaiting && !isSweepDue
    }

    // MARK: What was rendered

    /// What an order changed.
    struct Outcome {
        var staged: [StagedImage] = []
        /// Renditions that are no longer wanted, or are on disk.
        var unused: [StagedImage] = []
        var failures: [(url: IconURL, failure: RenderFailure)] = []
        /// Originals that are missing or damaged.
        var damaged: Set<Digest> = []
    }

    /// Applies the end of an order; `isOnDisk` tells of an image whether it is in `icons/` and stays there.
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
                    if isStaged(rendition) || isOnDisk(rendition) {
                        outcome.unused.append(image)
                    } else {
                        staged.add(image)
                        outcome.staged.append(image)
                    }
                }
                lagging.formUnion(original.lists)
            case .failed(let failure):
                // Renditions by other rules would stay for ever.
                if records.removeOutdated(of: digest) {
                    lagging.formUnion(original.lists)
                    replaces = true
                }
                records.fail(digest, with: failure)
                if failure.code.known == .interrupted, interruptionEnd == nil {
                    interruptionEnd = now + Self.interruptionDelay
                }
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
            // What this order brought is by the new one.
            if isOther { outdate() }
        }
        if let found = report.programs, found != rules.programs {
            rules.programs = found
            // What no program read may be read by one of them now.
            forgetFailures { $0 == .unsupported }
        }
    }

    // MARK: Lists with new renditions

    /// Records that renditions were made which the document of a list lacks.
    mutating func recordLagging(_ list: ListName) { lagging.insert(list) }

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

    /// When they are to be written at the latest; `nil` if there are none.
    var laggingDue: Timestamp? { laggingSince.map { $0 + Self.gathering } }

    // MARK: State

    /// Why what waits cannot be rendered, as a clause; `nil` if nothing is known to be wrong.
    var trouble: String? {
        isOn && queue.isInUse ? renderer.trouble : nil
    }

    enum Standing { case ready, pending, failed }

    func standing(of original: Digest) -> Standing {
        if failure(of: original) != nil { return .failed }
        return missing(of: original).isEmpty ? .ready : .pending
    }
}
