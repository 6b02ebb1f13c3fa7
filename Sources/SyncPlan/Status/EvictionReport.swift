// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// What goes and what stays, and why, as `syncagent evict --dry-run` tells it.
package struct EvictionReport: Codable, Equatable, Sendable {
    /// An icon with an image on disk.
    package struct Icon: Codable, Equatable, Sendable {
        package var url: String
        /// The image, relative to the cache folder.
        package var path: String
        package var bytes: Int
        /// Whether `syncagent evict` removes it.
        package var goes: Bool
        /// Why it stays, or when it would go by itself.
        package var reason: String
        /// The newest superseded generation that names it.
        package var generation: Int?
    }

    /// A superseded generation that readers hold.
    package struct Lease: Codable, Equatable, Sendable {
        package var generation: Int
        /// The processes that hold it.
        package var pids: [Int]

        package init(generation: Int, pids: [Int]) {
            self.generation = generation
            self.pids = pids
        }
    }

    package var state: String
    /// Why nothing is removed at the moment.
    package var reason: String?
    /// The icons that no list names, or the one that was asked for.
    package var icons: [Icon]
    package var leases: [Lease] = []
    /// Whether all that can go now has gone.
    package var isSettled: Bool

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        let icons = icons.map { icon -> JSON in
            [
                "url": .string(icon.url), "path": .string(icon.path), "bytes": .number(icon.bytes),
                "goes": .bool(icon.goes), "reason": .string(icon.reason),
                "generation": icon.generation.map(JSON.number) ?? .null,
            ]
        }
        let leases = leases.map { lease -> JSON in
            ["generation": .number(lease.generation), "pids": .array(lease.pids.map(JSON.number))]
        }
        return [
            "format": 1, "state": .string(state), "reason": .string(orNull: reason), "icons": .lines(.array(icons)),
            "leases": .array(leases), "isSettled": .bool(isSettled),
        ]
    }
}

extension Reconciler {
    /// What goes and what stays.
    ///
    /// - Parameters:
    ///   - url: The icon to tell of; `nil` for all that no list names.
    ///   - now: The present time.
    /// - Returns: No icon, if there is no image of the one that was asked for.
    package func evictionReport(on url: String? = nil, now: Timestamp) -> EvictionReport {
        let urls = url.map { [$0] } ?? catalog.icons.filter { !$0.value.isReferenced }.keys.sorted()
        let eviction = evictionStatus
        return EvictionReport(
            state: eviction.state, reason: eviction.reason, icons: urls.compactMap { fate(of: $0, now: now) },
            isSettled: isEvictionSettled(at: now))
    }

    private func fate(of url: String, now: Timestamp) -> EvictionReport.Icon? {
        guard let icon = catalog.icons[url], let image = icon.image else { return nil }
        var fate = EvictionReport.Icon(
            url: url, path: image.path, bytes: image.bytes, goes: false, reason: "",
            generation: ledger.lastGeneration(naming: url))
        if icon.isReferenced {
            let files = icon.lists.filter { $0 != Self.pinList }.sorted()
            fate.reason = [
                icon.lists.contains(Self.pinList) ? "it is pinned" : nil,
                files.isEmpty ? nil : "it is named by \(files.joined(separator: ", "))",
            ].compactMap(\.self).joined(separator: ", and ")
        } else if let doubt = evictionDoubt {
            fate.reason = "evictions are suspended: \(doubt)"
        } else if let generation = fate.generation, let held = brake.heldNow, generation <= held.generation {
            fate.reason = "its eviction is held until \(held.since + settings.eviction.holdFor), unless it is confirmed"
        } else if let generation = fate.generation,
            let end = ledger.expiry(of: generation, grace: settings.cache.grace)
        {
            fate.goes = true
            fate.reason =
                end > now
                ? "its grace ends at \(end): generation \(generation) names it"
                : "its grace is over: a reader may still hold a lease on generation \(generation)"
        } else {
            fate.goes = true
            fate.reason = "nothing keeps it any more"
        }
        return fate
    }

    /// Whether all that can go now has gone.
    package func isEvictionSettled(at now: Timestamp) -> Bool {
        guard publishing == nil, case .idle = eviction else { return false }
        guard mayEvict else { return true }
        return removable.isEmpty
            && (leaseRetry != nil || !ledger.isWaiving(under: retention) && nextEviction.map { $0 > now } ?? true)
    }
}
