// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What changed and is not published, and when it is: at once when nothing else is on its way, else in groups.
///
/// A publication costs about the same for one image as for a thousand. So while downloads run, changes are gathered for a
/// moment, and at most a tenth of the time goes to publishing. What superseded documents take on disk is bounded too: they
/// stay for the grace period, and all lists together write no more than `growth` bytes a second in the long run.
///
/// What a document costs is counted against its list: a large list that changes all the time is written now and then,
/// and the others do not wait for it.
///
/// Where all downloads that are left may hang, nobody knows what to gather for, and where there are none, nothing is to be
/// gathered: one publication may then come before its time, and the next one waits the longer.
package struct PublicationWindow: Sendable {
    /// What is downloaded meanwhile.
    package enum Traffic: Int, CaseIterable, Sendable {
        /// No download runs or waits for its turn.
        case none
        /// Only such run or wait as are not known to have a server that answers.
        case doubtful
        case flowing
        /// The agent is about to end: what is not published now is not published.
        case ending
    }

    /// How long the first change waits for others, while downloads run.
    private static let gathering: Duration = .milliseconds(50)
    /// The time from one publication to the next, as a multiple of what the first one cost.
    private static let pace = 10
    /// How many bytes of documents cost as much time as the rest of a publication.
    private static let footing = 64 << 10
    /// For how long what is not used of the bytes is kept.
    private static let savings: Duration = .seconds(2)
    /// The most that a publication is taken to cost: a disk that hung for minutes is no reason to wait for an hour.
    private static let highestCost: Duration = .seconds(30)
    /// The first and the longest delay after a failed publication.
    private static let retry: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))

    /// The lists that changed, each with the time from when on that can be published.
    private var changes: [ListName: Timestamp] = [:]
    /// Since when the manifest names a list too many, or is damaged, or is not there.
    private var manifestChange: Timestamp?
    /// When the first of the changed lists is due, by traffic; it may have been published or be gone by now.
    private var firstDue: [Timestamp?] = Array(repeating: nil, count: Traffic.allCases.count)
    /// What the documents of lists cost of late.
    private var paces: [ListName: PublicationPace] = [:]
    /// What the time of publications costs, that of long documents excepted.
    private var time = PublicationPace()
    /// What the bytes of manifests cost.
    private var manifests = PublicationPace()
    /// The lists for whose documents there is no room.
    private(set) var deferred: Set<ListName> = []
    private var notBefore = Timestamp.distantPast
    /// How many publications failed, one after the other.
    private(set) var failures = 0

    package init() {}

    // MARK: Changes

    /// Something changed that the document of a list tells.
    package mutating func noteChange(of list: ListName, at now: Timestamp) {
        guard changes[list].map({ $0 > now }) ?? true else { return }
        changes[list] = now
        for traffic in Traffic.allCases { noteDue(of: list, since: now, during: traffic) }
    }

    /// The manifest is to change, and no document.
    package mutating func noteChange(at now: Timestamp) {
        if manifestChange == nil { manifestChange = now }
    }

    /// Takes back what changed of a list that is gone.
    package mutating func forget(_ list: ListName) {
        changes[list] = nil
        deferred.remove(list)
        paces[list] = nil
        if changes.isEmpty { findFirstDue() }
    }

    /// Has a list published next whatever it costs: what the newest manifest says of it is wrong.
    package mutating func prioritize(_ list: ListName) {
        guard paces.removeValue(forKey: list) != nil else { return }
        findFirstDue()
    }

    /// Whether there is nothing to publish.
    package var isEmpty: Bool { changes.isEmpty && manifestChange == nil }
    /// Whether the manifest is to change although no document does.
    package var isManifestChanged: Bool { manifestChange != nil }
    /// Whether no list waits to be published.
    package var hasNoChangedList: Bool { changes.isEmpty }
    /// Whether a list changed since it was published last.
    package func isChanged(_ list: ListName) -> Bool { changes[list] != nil }

    // MARK: When

    /// When to publish, if nothing more happens.
    ///
    /// - Returns: `nil` if there is nothing to publish, or no room for it.
    package func due(during traffic: Traffic) -> Timestamp? {
        let first = [manifestChange.map { $0 + Self.gathering(during: traffic) }, firstDue[traffic.rawValue]]
        guard let first = first.compactMap(\.self).min() else { return nil }
        return switch traffic {
        case .none: max(first, manifests.loan, notBefore)
        case .doubtful: max(first, manifests.loan, time.loan, notBefore)
        case .flowing: max(first, manifests.paid, time.paid, notBefore)
        case .ending: max(first, notBefore)
        }
    }

    /// The changed lists that a publication is to have.
    package func lists(dueAt now: Timestamp, during traffic: Traffic) -> Set<ListName> {
        Set(
            changes.filter {
                ($0.value <= now || traffic == .ending) && mayPublish($0.key, at: now, during: traffic)
            }.keys)
    }

    /// Whether a list has not written more than it may, and there is room for its document.
    package func mayPublish(_ list: ListName, at now: Timestamp, during traffic: Traffic) -> Bool {
        !deferred.contains(list) && nextDue(of: list, during: traffic) <= now
    }

    /// When a list has written no more than it may.
    package func nextDue(of list: ListName, during traffic: Traffic) -> Timestamp {
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

    private mutating func noteDue(of list: ListName, since: Timestamp, during traffic: Traffic) {
        guard !deferred.contains(list) else { return }
        // What waits for something to come with it waits no longer at the end.
        let start = traffic == .ending ? .distantPast : since + Self.gathering(during: traffic)
        let due = max(start, nextDue(of: list, during: traffic))
        firstDue[traffic.rawValue] = min(firstDue[traffic.rawValue] ?? due, due)
    }

    private mutating func findFirstDue() {
        for traffic in Traffic.allCases {
            firstDue[traffic.rawValue] = nil
            for (list, since) in changes { noteDue(of: list, since: since, during: traffic) }
        }
    }

    // MARK: Publications

    /// A publication of these lists' changes begins, and of what changed of the manifest.
    package mutating func begin(_ lists: some Sequence<ListName>) {
        for list in lists { changes[list] = nil }
        if changes.isEmpty { changes = [:] }
        manifestChange = nil
        findFirstDue()
    }

    /// A publication ended well.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - cost: How long it took.
    ///   - documents: How many bytes were written of each list's document.
    ///   - manifestBytes: How many were written beside these.
    ///   - isDurable: Whether it surely lasts, so that the failures before it count no more. The default is `true`.
    package mutating func finish(
        at now: Timestamp, cost: Duration, documents: [ListName: Int], manifestBytes: Int = 0, isDurable: Bool = true
    ) {
        if isDurable { failures = 0 }
        let cost = min(cost, Self.highestCost)
        let bytes = documents.values.reduce(0, +)
        let begun = now + (.zero - cost)
        time.charge(cost * Self.pace / max(1, Double(bytes) / Double(Self.footing)), at: begun)
        manifests.charge(bytes: manifestBytes, at: now, saving: Self.savings)
        paces = paces.filter { $0.value.paid + Self.savings > now }
        // What all lists may write is shared by those that have written more of late than they have saved for.
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

    /// A publication failed: what it would have published is a change again.
    package mutating func fail(_ lists: some Sequence<ListName>, at now: Timestamp) {
        failures += 1
        notBefore = now + min(Self.retry.first * (1 << min(failures - 1, 10)), Self.retry.longest)
        for list in lists { noteChange(of: list, at: now) }
        noteChange(at: now)
    }

    /// What made publications fail may be over: the next one need not wait.
    package mutating func retry(at now: Timestamp) {
        notBefore = min(notBefore, now)
    }

    // MARK: Room

    /// Has the documents of these lists wait until there is room, and no others.
    package mutating func deferLists(_ lists: Set<ListName>) {
        guard deferred != lists else { return }
        deferred = lists
        findFirstDue()
    }
}
