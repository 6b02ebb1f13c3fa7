// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat

/// What is kept on disk beyond what lists name, and what is being removed.
///
/// One thing at a time is removed, and not while anything is published.
struct Retention: Sendable {
    /// What follows next.
    enum Step {
        /// Remove what no generation names.
        case remove(RetirementPlan)
        /// Take the files of generations away whose grace is over.
        case release([GenerationRelease])
    }

    private enum State {
        case idle
        case releasing
        case removing(RetirementPlan)
    }

    /// When the release of a generation is tried again, and how long after the last try.
    private struct Retry {
        var time: Timestamp
        var delay: Duration
        /// Why it could not be removed; `nil` if a reader held it.
        var failure: String?

        init(after delay: Duration, now: Timestamp, failure: String? = nil) {
            time = now + delay
            self.delay = delay
            self.failure = failure
        }
    }

    /// How long what could not be removed is left alone.
    private static let removalRetry: Duration = .seconds(60)
    /// The first and the longest time until a reader is asked again for a generation that it holds.
    private static let leaseRetry: (first: Duration, longest: Duration) = (.seconds(2), .seconds(30))

    private var grace: Duration
    private var leaseMax: Duration
    /// How many images a change retires at least for its eviction to be held.
    private var holdLimit: Int
    /// What generations name.
    private(set) var ledger = RetirementLedger()
    /// Holds what one change of the lists retires, if that is much.
    private(set) var brake: EvictionBrake
    /// The icons that no list names because their apps have others now: they are not lost.
    private var replaced: Set<IconURL> = []
    /// Whether what earlier runs left is held against lists that could be read.
    private var hasBrakedAtStart = false
    private var state = State.idle
    /// Files of images that are not what they were, and are still there.
    private var damaged: Set<RetirementPlan.Image> = []
    /// The URLs whose `by-url/` names are links to them.
    private var damagedURLs: Set<IconURL> = []
    /// What could not be removed, and when it is tried again.
    private var stuck: (plan: RetirementPlan, until: Timestamp)?
    /// The generations that readers held at the last try, or that could not be removed.
    private var unreleased: [Int: Retry] = [:]

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - ledger: What the generations on disk name.
    ///   - replaced: The icons that no list names because their apps have others now.
    ///   - hold: What an earlier run held; `nil` if nothing.
    init(
        _ settings: Settings, ledger: RetirementLedger = RetirementLedger(), replaced: Set<IconURL> = [],
        hold: EvictionBrake.Hold? = nil
    ) {
        self.replaced = replaced
        grace = settings.cache.grace
        leaseMax = settings.cache.leaseMax
        holdLimit = settings.eviction.holdAbove.images
        brake = EvictionBrake(
            threshold: settings.eviction.holdAbove, holdFor: settings.eviction.holdFor, hold: hold)
        self.ledger = ledger
    }

    /// Goes on with other settings: also what is retired or held already is kept for as long as they say.
    mutating func configure(_ settings: Settings) {
        grace = settings.cache.grace
        leaseMax = settings.cache.leaseMax
        holdLimit = settings.eviction.holdAbove.images
        brake.configure(threshold: settings.eviction.holdAbove, holdFor: settings.eviction.holdFor)
    }

    /// Whether nothing is being removed.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    // MARK: What is on disk

    /// A generation is in force; see ``RetirementLedger/publish(_:newDocuments:moved:at:)``.
    mutating func publish(
        _ manifest: Manifest, newDocuments: [Digest: AppListDocument], moved: Set<Digest> = [], at now: Timestamp
    ) {
        ledger.publish(manifest, newDocuments: newDocuments, moved: moved, at: now)
    }

    /// Images are not on disk, or not as they should be.
    mutating func noteMissing(_ images: Set<Digest>) {
        ledger.noteMissing(images)
    }

    /// The file of an image is not what it was, or what the name of a URL leads to.
    mutating func noteDamage(of image: AppListDocument.Image, shownBy url: IconURL) {
        damaged.insert(RetirementPlan.Image(sha256: image.sha256, path: image.path))
        damagedURLs.insert(url)
    }

    /// Another folder is at the path of the cache: what is known of this one holds no longer.
    mutating func take(_ ledger: RetirementLedger) {
        self.ledger = ledger
        (unreleased, stuck, damaged, damagedURLs) = ([:], nil, [], [])
    }

    // MARK: Time

    /// The system slept for so long: it counts for no grace, and for no hold.
    mutating func noteSleep(_ time: Duration) {
        ledger.noteSleep(time)
        brake.noteSleep(time)
    }

    mutating func note(time now: Timestamp) {
        brake.noteTime(now)
        if let stuck, stuck.until <= now { self.stuck = nil }
    }

    /// When there may be something to remove, if nothing happens before.
    var nextStep: Timestamp? {
        let retry = unreleased.values.lazy.map(\.time).min()
        let expiry = ledger.nextExpiry(under: rule, except: { unreleased[$0] != nil })
        return [brake.end, stuck?.until, retry, expiry].compactMap(\.self).min()
    }

    /// How long generations are kept as things are.
    private var rule: RetentionRule {
        RetentionRule(grace: grace, leaseMax: leaseMax, heldThrough: brake.heldNow?.generation)
    }

    // MARK: What goes

    /// Takes up what is to be removed now: what no generation names, or else the generations whose grace is over.
    mutating func begin(in catalog: Catalog, now: Timestamp) -> Step? {
        if hasRemovable(in: catalog) {
            let plan = removable(in: catalog)
            state = .removing(plan)
            return .remove(plan)
        }
        let expired = ledger.expired(under: rule, now: now).filter { release in
            unreleased[release.generation].map { $0.time <= now } ?? true
        }
        if !unreleased.isEmpty {
            let tried = Set(expired.map(\.generation))
            // Some are not to go any more: they are held, or the system slept.
            unreleased = unreleased.filter { $0.value.time > now || tried.contains($0.key) }
        }
        guard !expired.isEmpty else { return nil }
        state = .releasing
        return .release(expired)
    }

    /// Takes up damaged files that no new image has replaced, once the newest manifest does not name them any more.
    ///
    /// They are read once more before: what was told may be out of date, and generations in their grace name the images.
    ///
    /// - Parameters:
    ///   - catalog: The lists and icons.
    ///   - isPublished: Whether no list waits to be published.
    /// - Returns: `nil` if there are none.
    mutating func beginDamaged(in catalog: Catalog, isPublished: Bool) -> RetirementPlan? {
        guard !damaged.isEmpty || !damagedURLs.isEmpty else { return nil }
        damaged = damaged.filter { !ledger.isOnDisk($0.sha256) }
        damagedURLs = damagedURLs.filter { catalog.icons[$0]?.image == nil && !catalog.previous.has($0) }
        guard isPublished else { return nil }
        var plan = RetirementPlan()
        (plan.images, plan.urls, plan.isOfDamage) = (damaged, damagedURLs, true)
        if let stuck { plan.subtract(stuck.plan) }
        guard !plan.isEmpty else { return nil }
        state = .removing(plan)
        return plan
    }

    /// What no generation names, but for what could not be removed a moment ago.
    private func removable(in catalog: Catalog) -> RetirementPlan {
        var plan = ledger.removable(in: catalog)
        if let stuck { plan.subtract(stuck.plan) }
        return plan
    }

    private func hasRemovable(in catalog: Catalog) -> Bool {
        stuck == nil ? ledger.hasRemovable(in: catalog) : !removable(in: catalog).isEmpty
    }

    /// Whether all that can go now has gone.
    func isSettled(in catalog: Catalog, at now: Timestamp) -> Bool {
        !hasRemovable(in: catalog) && !ledger.isWaiving(under: rule, except: Set(unreleased.keys))
            && nextStep.map { $0 > now } ?? true
    }

    /// How many files could not be removed at the last try, and why one of them could not.
    var unremoved: (files: Int, reason: String?) {
        let generations = unreleased.values.compactMap(\.failure)
        return ((stuck?.plan.count ?? 0) + generations.count, stuck?.plan.failure ?? generations.first)
    }

    /// The release of generations ended: some are gone, readers hold some, and some could not be removed.
    mutating func end(_ result: ReleaseResult, at now: Timestamp) {
        for generation in result.removed {
            ledger.release(generation)
            unreleased[generation] = nil
        }
        for generation in result.kept {
            let delay = unreleased[generation].map { min($0.delay * 2, Self.leaseRetry.longest) }
            unreleased[generation] = Retry(after: delay ?? Self.leaseRetry.first, now: now)
        }
        for generation in result.failed {
            unreleased[generation] = Retry(
                after: Self.removalRetry, now: now, failure: result.failure ?? "the reason is not known")
        }
        state = .idle
    }

    /// A removal ended, but for what it could not remove.
    mutating func end(failed: RetirementPlan, in catalog: Catalog, at now: Timestamp) {
        guard case .removing(var gone) = state else { preconditionFailure("nothing was being removed") }
        state = .idle
        gone.subtract(failed)
        // What is whole was not removed: it goes with the last document that names it.
        if !gone.isOfDamage { ledger.remove(gone) }
        damaged.subtract(gone.images)
        damagedURLs.subtract(gone.urls)
        if !replaced.isEmpty { replaced.subtract(gone.urls) }
        if !failed.isEmpty {
            var plan = stuck?.plan ?? RetirementPlan()
            plan.formUnion(failed)
            stuck = (plan, until: min(stuck?.until ?? now + Self.removalRetry, now + Self.removalRetry))
        }
        reviewHold(in: catalog)
    }

    /// Ends the grace of what is retired, but for its last seconds, as somebody asked.
    ///
    /// - Parameters:
    ///   - isConfirmed: Whether an eviction that is held goes on too.
    ///   - catalog: The lists and icons.
    mutating func waiveGrace(isConfirmed: Bool, in catalog: Catalog) {
        if isConfirmed { brake.confirm() }
        ledger.waiveGrace(in: catalog)
        (unreleased, stuck) = ([:], nil)
    }

    // MARK: The brake

    /// Looks at what a change of the lists has retired.
    ///
    /// - Parameters:
    ///   - lost: The URLs that a list names no more, and that no other URL takes the place of.
    ///   - kept: The images that apps showed in place of their icons, and that none has taken the place of.
    ///   - replaced: The other URLs that a list names no more: their apps have others now.
    ///   - shown: How many images icons showed before.
    ///   - newest: The newest generation.
    ///   - catalog: The lists and icons.
    ///   - now: The present time.
    mutating func noteChange(
        losing lost: Set<IconURL>, _ kept: [PreviousImage], replacing replaced: Set<IconURL>, shown: Int, newest: Int,
        in catalog: Catalog, at now: Timestamp
    ) {
        self.replaced.subtract(lost)
        self.replaced.subtract(kept.lazy.map(\.url))
        self.replaced.formUnion(replaced.subtracting(lost).filter { ledger.urls.index(of: $0) != nil })
        var orphans = Set(
            lost.compactMap { url in
                catalog.icons[url].flatMap { $0.isReferenced ? nil : $0.image?.sha256 }
            })
        orphans.formUnion(kept.compactMap(\.image.digest))
        let retired = orphans.count { !catalog.needs($0) }
        reviewHold(in: catalog)
        brake.noteChange(retiring: retired, of: shown, generation: newest, at: now)
    }

    /// Looks once at what an earlier run retired, of which it may not have had the time to tell.
    mutating func noteStart(newest: Int, in catalog: Catalog, at now: Timestamp) {
        guard !hasBrakedAtStart else { return }
        hasBrakedAtStart = true
        guard brake.hold == nil else { return }
        let lost = catalog.retired.filter { !replaced.contains($0.key) }
        let images = Set(lost.compactMap { $0.value.wrappedValue?.sha256 })
            .union(ledger.retiredPrevious(except: replaced, in: catalog))
        let retired = images.count { !catalog.needs($0) }
        brake.noteChange(retiring: retired, of: retired + catalog.shownImages, generation: newest, at: now)
    }

    /// Ends a hold if what it is about has come back, or has gone.
    private mutating func reviewHold(in catalog: Catalog) {
        guard let hold = brake.hold else { return }
        guard !ledger.retires(moreThan: holdLimit, through: hold.generation, except: replaced, in: catalog) else {
            return
        }
        brake.lift()
    }
}
