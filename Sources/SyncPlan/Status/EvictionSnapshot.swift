// SPDX-License-Identifier: Apache-2.0
import AgentSettings
package import CacheFormat
package import Reports

/// The part of the plan's state from which an ``EvictionReport`` is made.
///
/// Taking a snapshot is cheap, whatever its size. Making the report is not, so do that outside the agent's loop.
package struct EvictionSnapshot: Sendable {
    var icons: [IconURL: AppListDocument.Image]
    /// The lists that name the icon, if a single one is reported.
    var lists: [ListName] = []
    /// Whether apps show the icon's image for another URL.
    var isShown = false
    var namings: RetirementLedger.Namings
    /// The number of the current generation; 0 if there is none.
    var current: Int
    /// When the grace period of each superseded generation ends.
    var expiries: [Int: Timestamp]
    var status: StatusReport.Eviction
    /// Why eviction is suspended; `nil` if it is not.
    var doubt: String?
    var brake: EvictionBrake
    var isSettled: Bool
    /// The numbers of retired images that icons had before, and of retired renditions.
    var others = (replaced: 0, renditions: 0)
    /// Why the generation that drops the icons cannot be published; `nil` if nothing keeps it from being.
    var obstacle: String?
    var clock: WallClock
    var now: Timestamp

    package var superseded: [Int] { expiries.keys.sorted() }

    /// The report, with icons sorted by URL; O(*n* log *n*) in the number of icons, O(*n*) in that of document entries.
    package func report(leases: [EvictionReport.Lease] = []) -> EvictionReport {
        let generations = namings.newest()
        let held = leases.isEmpty ? [:] : namings.newest(among: Set(leases.map(\.generation)))
        let currentEnd = brake.end(of: current)
        let named = obstacle != nil || currentEnd != nil ? namings.current() : []
        let braked = brake.held.map { namings.newest(among: Set(superseded.filter($0.contains))) } ?? [:]
        let rows = icons.sorted { $0.key < $1.key }.map { url, image in
            fate(
                of: url, image, generations[url], held: held[url],
                heldUntil: (named.contains(url) ? currentEnd : nil) ?? braked[url].flatMap(brake.end),
                isNamed: named.contains(url))
        }
        var report = EvictionReport(
            state: status.state, reason: status.reason, icons: rows, leases: leases, isSettled: isSettled)
        report.replaced = others.replaced
        report.renditions = others.renditions
        return report
    }

    private func fate(
        of url: IconURL, _ image: AppListDocument.Image, _ generation: Int?, held: Int?, heldUntil: Timestamp?,
        isNamed: Bool
    ) -> EvictionReport.Icon {
        var fate = EvictionReport.Icon(
            url: url, path: image.path, bytes: image.bytes, goes: false, reason: "", generation: generation)
        if !lists.isEmpty {
            let files = lists.filter { $0 != Reconciler.pinList }.sorted()
            fate.reason = [
                lists.contains(Reconciler.pinList) ? "pinned" : nil,
                files.isEmpty ? nil : "named by \(files.map(\.text).joined(separator: ", "))",
            ].compactMap(\.self).joined(separator: ", ")
        } else if isShown {
            fate.reason = EvictionReport.shownReason
        } else if let doubt {
            fate.reason = "eviction is suspended: \(doubt)"
        } else if isNamed, let obstacle {
            fate.reason = "the generation without it cannot be published: \(obstacle)"
        } else if let heldUntil {
            let end = clock.time(of: heldUntil)
            fate.reason = "held until \(end), or until you run syncagent evict --confirm"
        } else if let held {
            fate.generation = held
            fate.reason = "a reader holds a lease on generation \(held)"
        } else if let generation, let end = expiries[generation] {
            fate.goes = true
            fate.reason =
                end > now
                ? "the grace period of generation \(generation) ends at \(clock.time(of: end))"
                : "the grace period is over; a reader may hold a lease on generation \(generation)"
        } else {
            fate.goes = true
            fate.reason = "no longer referenced"
        }
        return fate
    }
}

extension Reconciler {
    /// Takes a snapshot for an eviction report on one icon, or on all retired ones.
    ///
    /// The snapshot has no icons if the requested one has no image. O(*n*) in the number of superseded generations and
    /// retired icons.
    package func evictionSnapshot(of url: IconURL? = nil, now: Timestamp) -> EvictionSnapshot {
        let icon = url.flatMap { book.catalog.icons[$0] }
        let icons: [IconURL: ImageID]
        if let url {
            let catalog = book.catalog
            let image = catalog.shownImage(for: url) ?? catalog.lastImage(from: url) ?? catalog.orphan(of: url)
            icons = image.map { [url: $0] } ?? [:]
        } else {
            icons = book.catalog.retiredImages
        }
        return EvictionSnapshot(
            icons: icons.mapValues(book.catalog.images.image), lists: icon?.lists ?? [],
            isShown: url != nil && icons.values.first.map { book.catalog.images[$0].isShown } == true,
            namings: book.retention.ledger.namings(of: icons.keys, in: book.catalog),
            current: book.retention.ledger.current ?? 0,
            expiries: book.retention.ledger.expiries(grace: book.settings.cache.grace),
            status: evictionStatus, doubt: evictionDoubt, brake: book.retention.brake,
            isSettled: isEvictionSettled(at: now),
            others: url == nil
                ? book.retention.ledger.retiredImages(besides: icons.values, in: book.catalog) : (0, 0),
            obstacle: publicationObstacle, clock: turn.wallClock, now: now)
    }

    /// Why the newest lists cannot be published, as a clause; `nil` if they can be.
    private var publicationObstacle: String? {
        book.publishing.trouble ?? (book.publishing.window.deferred.isEmpty ? nil : book.space.reason)
    }

    /// Whether everything that can be evicted now has been removed.
    package func isEvictionSettled(at now: Timestamp) -> Bool {
        guard isStoreIdle else { return false }
        return !mayEvict || book.retention.isSettled(in: book.catalog, at: now)
    }
}
