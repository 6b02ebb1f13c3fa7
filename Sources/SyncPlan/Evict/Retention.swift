// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat

/// The images, documents and generations that are retained on disk although no list needs them, and the eviction under
/// way.
///
/// One eviction or release runs at a time, and never during a publication.
struct Retention: Sendable {
    private enum State {
        case idle
        case releasing
        case removing(RetirementPlan)
    }

    /// When to retry the release of a generation, and the delay since the last try.
    private struct Retry {
        var time: Timestamp
        var delay: Duration
        /// Why the generation could not be removed; `nil` if a reader held it.
        var failure: String?

        init(after delay: Duration, now: Timestamp, failure: String? = nil) {
            (time, self.delay, self.failure) = (now + delay, delay, failure)
        }
    }

    private static let removalRetry: Duration = .seconds(60)
    /// The first and the longest delay before a leased generation is tested again.
    private static let leaseRetry: (first: Duration, longest: Duration) = (.seconds(2), .seconds(30))

    private var settings: Settings.Cache
    var ledger: RetirementLedger
    /// Holds the eviction of what changes of the lists retired, if that is much.
    private(set) var brake: EvictionBrake
    /// Unreferenced icons whose apps have a new icon URL; they do not count as lost.
    private var replaced: Set<IconURL>
    private var hasBrakedAtStart = false
    private var state = State.idle
    /// Damaged image files that are still on disk.
    private var damaged: Set<AppListDocument.Image> = []
    private var stuck: (plan: RetirementPlan, until: Timestamp)?
    /// The generations that readers held at the last try, or that could not be removed.
    private var unreleased: [Int: Retry] = [:]

    init(
        _ settings: Settings, ledger: RetirementLedger = RetirementLedger(), replaced: Set<IconURL> = [],
        holds: [EvictionBrake.Hold] = [], peak: Int = 0
    ) {
        (self.settings, brake) = (settings.cache, EvictionBrake(settings.eviction, holds: holds, peak: peak))
        (self.ledger, self.replaced) = (ledger, replaced)
    }

    mutating func configure(_ settings: Settings) {
        self.settings = settings.cache
        brake.configure(settings.eviction)
    }

    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    // MARK: Files on disk

    /// Records that the file of an image is damaged.
    mutating func recordDamage(of image: AppListDocument.Image) {
        damaged.insert(image)
    }

    /// Adopts another cache folder at the path; the state of the old folder no longer applies.
    mutating func adopt(_ ledger: RetirementLedger) {
        self.ledger = ledger
        (unreleased, stuck, damaged) = ([:], nil, [])
    }

    // MARK: Time

    /// Extends grace periods and the hold by a sleep of the system.
    mutating func recordSleep(_ time: Duration) {
        ledger.recordSleep(time)
        brake.recordSleep(time)
    }

    mutating func advance(to now: Timestamp) {
        brake.advance(to: now)
        if let stuck, stuck.until <= now { self.stuck = nil }
    }

    /// When a file or generation may become removable, if nothing happens before.
    var nextStep: Timestamp? {
        let retry = unreleased.values.lazy.map(\.time).min()
        let expiry = ledger.nextExpiry(under: rule, except: { unreleased[$0] != nil })
        return [brake.end, stuck?.until, retry, expiry].compactMap(\.self).min()
    }

    private var rule: RetentionRule {
        RetentionRule(grace: settings.grace, leaseMax: settings.leaseMax, held: brake.held)
    }

    // MARK: Eviction

    /// Begins the next step: evict what no generation names, or else release generations whose grace period is over.
    mutating func begin(in catalog: Catalog, now: Timestamp) -> Reconciler.Job? {
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
            // Drop generations that are no longer expired: they are held, or the system slept.
            unreleased = unreleased.filter { $0.value.time > now || tried.contains($0.key) }
        }
        guard !expired.isEmpty else { return nil }
        state = .releasing
        return .release(expired)
    }

    /// Begins to remove damaged files that were not replaced, once the newest manifest no longer names them.
    ///
    /// The files are read again first: the report may be outdated, and generations in their grace period name the images.
    /// `isPublished` tells that no list waits to be published.
    mutating func beginDamaged(in catalog: Catalog, isPublished: Bool) -> RetirementPlan? {
        damaged = damaged.filter { !catalog.images.isOnDisk($0.sha256) }
        guard isPublished else { return nil }
        var plan = RetirementPlan(images: damaged, urls: catalog.names.damaged(in: catalog))
        plan.isOfDamage = true
        if let stuck { plan.subtract(stuck.plan) }
        guard !plan.isEmpty else { return nil }
        state = .removing(plan)
        return plan
    }

    /// The files that no generation names, except those that recently could not be removed.
    private func removable(in catalog: Catalog) -> RetirementPlan {
        var plan = ledger.removable(in: catalog)
        if let stuck { plan.subtract(stuck.plan) }
        return plan
    }

    private func hasRemovable(in catalog: Catalog) -> Bool {
        stuck == nil ? ledger.hasRemovable(in: catalog) : !removable(in: catalog).isEmpty
    }

    /// Whether everything that can be removed now is gone.
    func isSettled(in catalog: Catalog, at now: Timestamp) -> Bool {
        !hasRemovable(in: catalog) && !ledger.isWaiving(under: rule, except: Set(unreleased.keys))
            && nextStep.map { $0 > now } ?? true
    }

    /// How many files could not be removed at the last try, and one of the reasons.
    var unremoved: (files: Int, reason: String?) {
        let generations = unreleased.values.compactMap(\.failure)
        return ((stuck?.plan.count ?? 0) + generations.count, stuck?.plan.failure ?? generations.first)
    }

    mutating func end(_ result: ReleaseResult, in catalog: inout Catalog, at now: Timestamp) {
        for generation in result.removed {
            ledger.release(generation, in: &catalog)
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

    /// Ends an eviction; `failed` has the files that could not be removed.
    mutating func end(failed: RetirementPlan, in catalog: inout Catalog, at now: Timestamp) {
        guard case .removing(var gone) = state else { preconditionFailure("nothing was being removed") }
        state = .idle
        gone.subtract(failed)
        // Files that turned out intact were kept; they go with the last document that names them.
        if !gone.isOfDamage { ledger.remove(gone, from: &catalog) }
        damaged.subtract(gone.images)
        if !replaced.isEmpty { replaced.subtract(gone.urls) }
        if !failed.isEmpty {
            var plan = stuck?.plan ?? RetirementPlan()
            plan.formUnion(failed)
            stuck = (plan, until: min(stuck?.until ?? now + Self.removalRetry, now + Self.removalRetry))
        }
        reviewHolds(in: catalog, at: now)
        if gone.isOfDamage { for url in failed.urls { catalog.names.recordDamage(of: url, in: &catalog.images) } }
    }

    /// Waives the grace period of retired images, except for its last seconds, at a user's request.
    ///
    /// `isConfirmed` also confirms a held eviction.
    mutating func waiveGrace(isConfirmed: Bool, in catalog: Catalog) {
        if isConfirmed { brake.confirm() }
        ledger.waiveGrace(in: catalog)
        (unreleased, stuck) = ([:], nil)
    }

    // MARK: The brake

    /// Checks how much a change of the lists retired, alone or with the changes before it whose images are on disk.
    ///
    /// - Parameters:
    ///   - lost: URLs that a list no longer names, without a replacement.
    ///   - kept: Last images that apps showed, without a replacement.
    ///   - replaced: URLs that a list no longer names because their apps have new ones.
    ///   - shown: How many images icons showed before.
    ///   - newest: The newest generation.
    ///   - catalog: The lists and icons.
    ///   - now: The current time.
    mutating func recordLoss(
        of lost: Set<IconURL>, _ kept: [App.LastImage], replacing replaced: Set<IconURL>, shown: Int, newest: Int,
        in catalog: Catalog, at now: Timestamp
    ) {
        self.replaced.subtract(lost)
        self.replaced.subtract(kept.lazy.map(\.url))
        self.replaced.formUnion(replaced.subtracting(lost).filter { catalog.icons.id(named: $0) != nil })
        var orphans = Set(
            lost.compactMap { url in
                catalog.icons[url].flatMap { $0.isReferenced ? nil : $0.image }
            })
        orphans.formUnion(kept.lazy.map(\.image))
        let retired = orphans.count { !catalog.images[$0].isShown }
        reviewHolds(in: catalog, at: now)
        let (left, published) = (catalog.images.shown, ledger.current)
        guard retired > 0,
            !brake.recordChange(
                retiring: retired, of: shown, leaving: left, generation: newest, published: published, at: now)
        else { return }
        brake.recordDecline(
            from: shown, to: left, retired: lossesOnDisk(in: catalog), generation: newest, published: published,
            at: now)
    }

    /// Checks once what an earlier run retired, because that run may have ended before its check.
    mutating func recordStart(newest: Int, in catalog: Catalog, at now: Timestamp) {
        guard !hasBrakedAtStart else { return }
        hasBrakedAtStart = true
        guard brake.holds.isEmpty else { return }
        let (retired, shown) = (lossesOnDisk(in: catalog), catalog.images.shown)
        brake.recordChange(retiring: retired, of: retired + shown, leaving: shown, generation: newest, at: now)
    }

    /// Records that a user unpinned an icon; `before` is how many images were shown until then.
    mutating func recordUnpinning(from before: Int, in catalog: Catalog) {
        let shown = catalog.images.shown
        guard shown < before else { return }
        brake.recordUnpinned(before - shown, shown: shown, retired: lossesOnDisk(in: catalog))
    }

    /// How many images are on disk that apps lost without a replacement; O(*n*) in the number of retired icons.
    private func lossesOnDisk(in catalog: Catalog) -> Int {
        let lost = catalog.retired.filter { !replaced.contains($0.key) }
        return Set(lost.values).union(ledger.retiredLastImages(except: replaced, in: catalog))
            .count { !catalog.images[$0].isShown }
    }

    /// Ends the holds whose icons have come back or are gone.
    ///
    /// A user who puts lists back one by one has put back most of them by then: the time of the hold does not count for
    /// the grace of the others.
    private mutating func reviewHolds(in catalog: Catalog, at now: Timestamp) {
        let limit = brake.settings.holdAbove.images
        let ended = brake.review { !ledger.retires(moreThan: limit, in: $0, except: replaced, in: catalog) }
        for (generations, since) in ended { ledger.extendGrace(of: generations, by: now - since, at: now) }
    }
}
