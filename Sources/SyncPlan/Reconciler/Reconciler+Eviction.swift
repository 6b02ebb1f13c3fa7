// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension Reconciler {
    /// Why nothing is removed at the moment, in words; `nil` if what is retired goes when its grace is over.
    var evictionDoubt: String? {
        if let unavailable { return unavailable }
        if let publicationFailure, isInDoubt { return "the newest manifest may not be durable (\(publicationFailure))" }
        return listDoubt
    }

    var mayEvict: Bool { hasScanned && isCacheSearched && evictionDoubt == nil && !isStopping }

    /// How long generations are kept as things are.
    var retention: RetentionRule {
        RetentionRule(
            grace: settings.cache.grace, leaseMax: settings.cache.leaseMax, heldThrough: brake.heldNow?.generation)
    }

    /// When there may be something to evict, if nothing happens before.
    var nextEviction: Timestamp? {
        guard mayEvict else { return nil }
        let retry = unreleased.values.lazy.map(\.time).min()
        let expiry = ledger.nextExpiry(under: retention, except: { unreleased[$0] != nil })
        return [brake.end, stuck?.until, retry, expiry].compactMap(\.self).min()
    }

    /// The generations that readers held at the last try, or that could not be removed, and when one is tried again.
    var leased: (generations: Set<Int>, until: Timestamp)? {
        unreleased.values.lazy.map(\.time).min().map { (Set(unreleased.keys), $0) }
    }

    /// Removes what no generation names, or else takes away the generations whose grace is over.
    mutating func evict(now: Timestamp, to actions: inout [Action]) {
        if hasRemovable {
            let plan = removable
            eviction = .removing(plan)
            retire(plan, now: now)
            actions.append(.remove(plan))
            return
        }
        let expired = ledger.expired(under: retention, now: now).filter { release in
            unreleased[release.generation].map { $0.time <= now } ?? true
        }
        if !unreleased.isEmpty {
            let tried = Set(expired.map(\.generation))
            // Some are not to go any more: they are held, or the system slept.
            unreleased = unreleased.filter { $0.value.time > now || tried.contains($0.key) }
        }
        guard !expired.isEmpty else { return }
        eviction = .releasing
        actions.append(.release(expired))
    }

    /// What no generation names, but for what could not be removed a moment ago.
    var removable: RetirementPlan {
        var plan = ledger.removable(in: catalog)
        if let stuck { plan.subtract(stuck.plan) }
        return plan
    }

    /// Whether there is any of it.
    var hasRemovable: Bool { stuck == nil ? ledger.hasRemovable(in: catalog) : !removable.isEmpty }

    /// Notes that what a plan names is as good as gone: a list that names it again has it fetched anew.
    private mutating func retire(_ plan: RetirementPlan, now: Timestamp) {
        let removed = Set(plan.images.map(\.sha256))
        for url in plan.affected.union(plan.urls) {
            guard let image = catalog.icons[url]?.image, removed.contains(image.sha256) || plan.urls.contains(url)
            else { continue }
            catalog.updateIcon(url) {
                $0.image = nil
                $0.response = nil
            }
            forgetIfDone(url, now: now)
        }
    }

    mutating func applyRelease(_ release: (removed: [Int], kept: [Int]), failed: Set<Int>, now: Timestamp) {
        for generation in release.removed {
            ledger.release(generation)
            unreleased[generation] = nil
        }
        for generation in release.kept {
            let delay = unreleased[generation].map { min($0.delay * 2, Self.leaseRetry.longest) }
            unreleased[generation] = ReleaseRetry(after: delay ?? Self.leaseRetry.first, now: now)
        }
        for generation in failed {
            unreleased[generation] = ReleaseRetry(after: Self.removalRetry, now: now)
        }
        eviction = .idle
        guard !release.removed.isEmpty else { return }
        unrememberedGenerations.formUnion(release.removed)
        rememberSoon(now: now)
    }

    mutating func applyRemoval(failed: RetirementPlan, now: Timestamp) {
        guard case .removing(var gone) = eviction else { preconditionFailure("nothing was being removed") }
        eviction = .idle
        gone.subtract(failed)
        // What is whole was not removed: it goes with the last document that names it.
        if !gone.isOfDamage { ledger.remove(gone) }
        damaged.subtract(gone.images)
        damagedURLs.subtract(gone.urls)
        if !failed.isEmpty {
            var plan = stuck?.plan ?? RetirementPlan()
            plan.formUnion(failed)
            stuck = (plan, until: min(stuck?.until ?? now + Self.removalRetry, now + Self.removalRetry))
        }
        space.hurry(at: now)
        reviewHold(now: now)
    }

    /// How long what could not be removed is left alone.
    private static let removalRetry: Duration = .seconds(60)
    /// The first and the longest time until a reader is asked again for a generation that it holds.
    private static let leaseRetry: (first: Duration, longest: Duration) = (.seconds(2), .seconds(30))

    /// Ends the grace of what is retired, but for its last seconds, as somebody asked.
    ///
    /// - Parameters:
    ///   - isConfirmed: Whether an eviction that is held goes on too.
    ///   - now: The present time.
    mutating func evictNow(isConfirmed: Bool, now: Timestamp) {
        if isConfirmed { changeBrake(now: now) { $0.confirm() } }
        ledger.waiveGrace(in: catalog)
        (unreleased, stuck) = ([:], nil)
    }

    // MARK: The brake

    /// Looks at what a change of the lists has retired.
    ///
    /// - Parameters:
    ///   - removed: The URLs that a list names no more.
    ///   - shown: How many images icons showed before.
    ///   - now: The present time.
    mutating func brake(removed: Set<IconURL>, shown: Int, now: Timestamp) {
        let orphans = Set(
            removed.compactMap { url in
                catalog.icons[url].flatMap { $0.isReferenced ? nil : $0.image?.sha256 }
            })
        let lost = orphans.count { !catalog.needs($0) }
        let newest = nextGeneration - 1
        reviewHold(now: now)
        changeBrake(now: now) { $0.noteChange(retiring: lost, of: shown, generation: newest, at: now) }
    }

    /// Ends a hold if what it is about has come back, or has gone.
    private mutating func reviewHold(now: Timestamp) {
        guard let hold = brake.hold else { return }
        let limit = settings.eviction.holdAbove.images
        guard !ledger.retires(moreThan: limit, through: hold.generation, in: catalog) else { return }
        changeBrake(now: now) { $0.lift() }
    }

    /// Looks at what an earlier run retired, of which it may not have had the time to tell.
    mutating func brakeAtStart(now: Timestamp) {
        guard brake.hold == nil else { return }
        let retired = Set(catalog.retired.values.lazy.compactMap { $0.wrappedValue?.sha256 })
            .count { !catalog.needs($0) }
        let (total, newest) = (retired + catalog.shownImages, nextGeneration - 1)
        changeBrake(now: now) { $0.noteChange(retiring: retired, of: total, generation: newest, at: now) }
    }

    mutating func changeBrake(now: Timestamp, _ change: (inout EvictionBrake) -> Void) {
        var changed = brake
        change(&changed)
        guard changed != brake else { return }
        brake = changed
        isHoldUnremembered = true
        rememberAt = now
    }

    /// What changed of generations and of the hold since this was last asked.
    mutating func takeEvictionChanges(_ changes: inout MemoChanges) {
        let times = ledger.supersessions
        for generation in unrememberedGenerations {
            if let time = times[generation] {
                changes.superseded[generation] = time
            } else {
                changes.released.append(generation)
            }
        }
        if isHoldUnremembered { changes.hold = .some(brake.hold) }
        unrememberedGenerations = []
        isHoldUnremembered = false
    }
}

extension Reconciler.ReleaseRetry {
    fileprivate init(after delay: Duration, now: Timestamp) {
        self.init(time: now + delay, delay: delay)
    }
}
