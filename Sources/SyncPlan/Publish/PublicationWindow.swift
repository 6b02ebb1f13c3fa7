// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The pending changes, and when to publish them: at once while no other downloads run, otherwise in groups.
///
/// A publication costs about the same for one image as for a thousand. So while downloads run, changes are gathered for
/// a moment, and publishing takes at most a tenth of the time. The space of superseded documents is limited too: they
/// stay for the grace period, and all lists together write no more than 1 MiB per second in the long run.
///
/// The cost of a document is charged to its list: a large list that changes all the time is written seldom, and others
/// do not wait for it.
///
/// If all remaining downloads may hang, or there are none, gathering is pointless: one publication may then come early,
/// and the next one is delayed by as much.
struct PublicationWindow: Sendable {
    enum Traffic: Int, CaseIterable, Sendable {
        /// No download is running or queued.
        case none
        /// All downloads are from origins that are not known to answer.
        case doubtful
        case flowing
        /// The agent is shutting down: later changes will not be published.
        case ending
    }

    /// How long the first change waits for others while downloads run.
    private static let gathering: Duration = .milliseconds(50)
    /// The time between publications, as a multiple of the last one's cost.
    private static let pace = 10
    /// The document size that costs as much time as all other work of a publication, in bytes.
    private static let footing = 64 << 10
    /// For how long unused bytes are saved.
    private static let savings: Duration = .seconds(2)
    /// The limit of a publication's cost: a disk that hung for minutes is no reason to wait for an hour.
    private static let highestCost: Duration = .seconds(30)
    /// The first and the longest delay after a failed publication.
    private static let retry: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))

    /// The changed lists, each with the earliest time to publish it.
    private var changes: [ListName: Timestamp] = [:]
    /// Since when the manifest itself is outdated, damaged or missing.
    private var manifestChange: Timestamp?
    /// When the first changed list is due, by traffic; may be too early if that list was published or removed.
    private var firstDue: [Timestamp?] = Array(repeating: nil, count: Traffic.allCases.count)
    /// The recent cost of each list's documents.
    private var paces: [ListName: PublicationPace] = [:]
    /// The cost of publications in time, apart from that of long documents.
    private var time = PublicationPace()
    /// The cost of the bytes of manifests.
    private var manifests = PublicationPace()
    private(set) var deferred: Set<ListName> = []
    private var notBefore = Timestamp.distantPast
    private(set) var failures = 0

    // MARK: Changes

    mutating func markChanged(_ list: ListName, at now: Timestamp) {
        guard changes[list].map({ $0 > now }) ?? true else { return }
        changes[list] = now
        for traffic in Traffic.allCases { trackDue(of: list, since: now, during: traffic) }
    }

    mutating func markChanged(at now: Timestamp) {
        if manifestChange == nil { manifestChange = now }
    }

    mutating func forget(_ list: ListName) {
        changes[list] = nil
        deferred.remove(list)
        paces[list] = nil
        if changes.isEmpty { findFirstDue() }
    }

    /// Publishes lists next regardless of cost, because the newest manifest is wrong about them.
    mutating func prioritize(_ lists: Set<ListName>) {
        let known = paces.count
        for list in lists { paces[list] = nil }
        if paces.count < known { findFirstDue() }
    }

    var isEmpty: Bool { changes.isEmpty && manifestChange == nil }
    /// Whether the manifest must change even if no document does.
    var isManifestChanged: Bool { manifestChange != nil }
    var hasNoChangedList: Bool { changes.isEmpty }
    func isChanged(_ list: ListName) -> Bool { changes[list] != nil }
    /// Whether a list has nothing to publish now: no change, or one that is due later.
    func isWaiting(_ list: ListName, at now: Timestamp) -> Bool { changes[list].map { $0 > now } ?? true }

    // MARK: Timing

    /// When to publish if nothing else happens; `nil` if there is nothing to publish, or no room for it.
    func due(during traffic: Traffic) -> Timestamp? {
        let first = [manifestChange.map { $0 + Self.gathering(during: traffic) }, firstDue[traffic.rawValue]]
        guard let first = first.compactMap(\.self).min() else { return nil }
        return switch traffic {
        case .none: max(first, manifests.loan, notBefore)
        case .doubtful: max(first, manifests.loan, time.loan, notBefore)
        case .flowing: max(first, manifests.paid, time.paid, notBefore)
        case .ending: max(first, notBefore)
        }
    }

    func lists(dueAt now: Timestamp, during traffic: Traffic) -> Set<ListName> {
        Set(
            changes.filter {
                ($0.value <= now || traffic == .ending) && mayPublish($0.key, at: now, during: traffic)
            }.keys)
    }

    /// Whether a list's past cost is paid, and its document has room.
    func mayPublish(_ list: ListName, at now: Timestamp, during traffic: Traffic) -> Bool {
        !deferred.contains(list) && nextDue(of: list, during: traffic) <= now
    }

    func nextDue(of list: ListName, during traffic: Traffic) -> Timestamp {
        guard let pace = paces[list] else { return .distantPast }
        return switch traffic {
        case .none, .doubtful: pace.loan
        case .flowing: pace.paid
        case .ending: .distantPast
        }
    }

    private static func gathering(during traffic: Traffic) -> Duration {
        switch traffic {
        case .none, .ending: .zero
        case .doubtful, .flowing: gathering
        }
    }

    private mutating func trackDue(of list: ListName, since: Timestamp, during traffic: Traffic) {
        guard !deferred.contains(list) else { return }
        // During a shutdown there is nothing left to gather.
        let start = traffic == .ending ? .distantPast : since + Self.gathering(during: traffic)
        let due = max(start, nextDue(of: list, during: traffic))
        firstDue[traffic.rawValue] = min(firstDue[traffic.rawValue] ?? due, due)
    }

    private mutating func findFirstDue() {
        for traffic in Traffic.allCases {
            firstDue[traffic.rawValue] = nil
            for (list, since) in changes { trackDue(of: list, since: since, during: traffic) }
        }
    }

    // MARK: Publications

    mutating func begin(_ lists: some Sequence<ListName>) {
        for list in lists { changes[list] = nil }
        if changes.isEmpty { changes = [:] }
        manifestChange = nil
        findFirstDue()
    }

    /// Handles a successful publication; `documents` has the bytes written for each list, `manifestBytes` those of the
    /// manifest.
    ///
    /// Only a durable publication resets the failure count.
    mutating func finish(
        at now: Timestamp, cost: Duration, documents: [ListName: Int], manifestBytes: Int = 0, isDurable: Bool = true
    ) {
        if isDurable { failures = 0 }
        let cost = min(cost, Self.highestCost)
        let bytes = documents.values.reduce(0, +)
        let begun = now + (.zero - cost)
        time.charge(cost * Self.pace / max(1, Double(bytes) / Double(Self.footing)), at: begun)
        manifests.charge(bytes: manifestBytes, at: now, saving: Self.savings)
        paces = paces.filter { $0.value.paid + Self.savings > now }
        // The lists that have used up their savings share the allowed rate.
        let written = documents.filter { $0.value > 0 }
        let busy = paces.count { $0.value.paid > now && written[$0.key] == nil } + written.count
        for (list, count) in written {
            let isLong = bytes > Self.footing
            let timeCost = isLong ? cost * Self.pace * (Double(count) / Double(bytes)) : .zero
            paces[list, default: PublicationPace()]
                .charge(bytes: count, sharedBy: busy, atLeast: timeCost, at: now, saving: Self.savings)
        }
        findFirstDue()
    }

    /// Handles a failed publication: the changes of its lists are pending again.
    mutating func fail(_ lists: some Sequence<ListName>, at now: Timestamp) {
        failures += 1
        notBefore = now + min(Self.retry.first * (1 << min(failures - 1, 10)), Self.retry.longest)
        for list in lists { markChanged(list, at: now) }
        markChanged(at: now)
    }

    /// Ends the delay after failures, because their cause may be gone.
    mutating func retry(at now: Timestamp) {
        notBefore = min(notBefore, now)
    }

    // MARK: Room

    mutating func deferLists(_ lists: Set<ListName>) {
        guard deferred != lists else { return }
        deferred = lists
        findFirstDue()
    }
}
