// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// Decides which URL is downloaded next.
///
/// Each URL is downloaded once at a time; the total and each origin are limited; lists get fair shares, origins fair
/// turns.
///
/// Lists share the slots by start-time fair queueing. A list has a virtual time, and one turn at each origin where it
/// has queued URLs; the turn's time is that of the list when it got the turn. The earliest turn at an origin with a
/// free slot is next. A new list starts ``List/credit`` ahead of the others, so a small one does not wait for a large
/// one; after that it is treated like the others. Priorities order the URLs that a list has queued at an origin.
///
/// The limit per origin is on connections: an origin that multiplexes requests may have as many downloads as HTTP/2 has
/// streams. While other origins wait, none starts downloads beyond half of all slots. All untrusted origins together
/// hold at most half of the slots, so the others continue however many of them hang. Half of these slots are left to
/// origins that were never asked, so that hanging ones do not delay their first answer.
///
/// Every operation takes amortised logarithmic time.
struct FetchQueue: Sendable {
    enum Priority: Int, CaseIterable, Sendable {
        /// A user or a command waits for the icon.
        case awaited
        case new
        /// The icon is on disk and may be stale.
        case refresh
        case retry
    }

    enum Standing: Int, CaseIterable {
        /// The origin has answered, and has not been restricted since.
        case trusted
        /// The origin was never asked, or its answers are forgotten.
        case untried
        /// The origin has failed, or its first response is pending.
        case doubtful
    }

    /// The most downloads over one connection: no server should allow fewer streams (RFC 9113, section 6.5.2).
    private static let streams = 100

    private var concurrency: Int
    private var perOrigin: Int
    private(set) var untrusted: Int
    /// The slot limits of restricted origins.
    private var restrictions: [String: Int] = [:]
    private var trustedOrigins = 0

    var places = KeyedTable<Place>()
    var lists = KeyedTable<List>()
    var origins = KeyedTable<Origin>()
    /// The turns of origins with a free slot, by standing.
    var turns = Array(repeating: Turns(), count: Standing.allCases.count)
    /// The latest time of a turn that was used by a download.
    var virtualTime = 0
    /// The time of a new list's first turn.
    ///
    /// At a start lists are added one after the other, and all are treated alike.
    var earliest: Int { max(0, virtualTime - List.credit) }
    /// The number of lists at which idle ones are removed.
    private var listLimit = 32
    var lastNumber = 0

    var activeUntrusted = 0
    var activeCount = 0
    /// The number of queued URLs whose origin has to wait.
    var heldCount = 0

    /// `perOrigin` limits origins that need a connection for each download, `untrusted` all untrusted origins together.
    ///
    /// The default of `untrusted` is half of `concurrency`.
    init(concurrency: Int, perOrigin: Int, untrusted: Int? = nil) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        (self.concurrency, self.perOrigin) = (concurrency, perOrigin)
        self.untrusted = untrusted ?? max(1, concurrency / 2)
    }

    mutating func configure(concurrency: Int, perOrigin: Int) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        guard (concurrency, perOrigin) != (self.concurrency, self.perOrigin) else { return }
        (self.concurrency, self.perOrigin, untrusted) = (concurrency, perOrigin, max(1, concurrency / 2))
        for origin in origins.places { renewTurn(of: origin) }
    }

    /// The number of URLs that wait only for their turn.
    var readyCount: Int { places.count - activeCount - heldCount }
    var isEmpty: Bool { places.count == 0 }
    /// Whether a trusted origin has queued or running downloads.
    var isFlowing: Bool { trustedOrigins > 0 }

    var activeURLs: some Collection<IconURL> {
        places.places.lazy.filter { places[$0].isActive }.map { places[$0].key }
    }

    func isHeld(origin: String) -> Bool { restrictions[origin] == 0 }

    func hasWork(of origin: String) -> Bool { origins.index(of: origin) != nil }

    // MARK: URLs

    /// Queues a URL on behalf of a list, unless it is queued or in flight already.
    mutating func add(_ url: IconURL, origin: String, list: ListName, priority: Priority) {
        let count = places.count
        let place = places.place(of: url, default: Place(key: url, priority: priority))
        guard places.count > count else { return }
        places[place].origin = origins.place(
            of: origin, default: Origin(key: origin, restriction: restrictions[origin]))
        places[place].list = join(list)
        link(place)
        renewTurn(of: places[place])
    }

    /// Moves a queued URL ahead of the others of its list, because a user or a command waits for it.
    mutating func raise(_ url: IconURL) {
        guard let place = queuedPlace(of: url), places[place].priority != .awaited else { return }
        unlink(place)
        places[place].priority = .awaited
        link(place)
        renewTurn(of: places[place])
    }

    mutating func move(_ url: IconURL, to list: ListName) {
        guard let place = queuedPlace(of: url), lists[places[place].list].key != list else { return }
        unlink(place)
        renewTurn(of: places[place])
        leave(places[place].list)
        places[place].list = join(list)
        link(place)
        renewTurn(of: places[place])
    }

    /// Dequeues a URL; one in flight stays active until `finish`.
    mutating func remove(_ url: IconURL) {
        guard let place = queuedPlace(of: url) else { return }
        unlink(place)
        renewTurn(of: places[place])
        forget(place)
    }

    /// Dequeues the URLs to start now, which count as active from here on.
    mutating func start() -> [IconURL] {
        var started: [IconURL] = []
        while activeCount < concurrency, let url = startNext() { started.append(url) }
        return started
    }

    /// Frees a download's slot and returns its origin; `nil` if the URL was not in flight.
    @discardableResult
    mutating func finish(_ url: IconURL) -> String? {
        guard let place = places.index(of: url), places[place].isActive else { return nil }
        let origin = places[place].origin
        let name = origins[origin].key
        activeCount -= 1
        origins[origin].active -= 1
        if !origins[origin].isTrusted { activeUntrusted -= 1 }
        renewTurn(of: origin)
        forget(place)
        return name
    }

    private func queuedPlace(of url: IconURL) -> Int? {
        places.index(of: url).flatMap { places[$0].isActive ? nil : $0 }
    }

    /// Forgets a place; with the last one, also its list and its origin.
    private mutating func forget(_ place: Int) {
        let origin = places[place].origin
        leave(places[place].list)
        places.remove(at: place)
        if origins[origin].active == 0, origins[origin].queued == 0 {
            if origins[origin].isTrusted { trustedOrigins -= 1 }
            origins.remove(at: origin)
        }
        // An empty queue keeps only the restrictions, so that it takes no memory.
        guard isEmpty else { return }
        let restrictions = restrictions
        self = FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: untrusted)
        self.restrictions = restrictions
    }

    /// Counts one more URL of a list; returns the list's number.
    private mutating func join(_ list: ListName) -> Int {
        let start = earliest
        let number = lists.place(of: list, default: List(key: list, times: SIMD4(repeating: start)))
        lists[number].work += 1
        return number
    }

    /// Subtracts one URL from a list.
    ///
    /// A list without URLs is forgotten only when a new list would have no advantage over it: otherwise a list that
    /// comes back again and again would always be served first.
    private mutating func leave(_ list: Int) {
        lists[list].work -= 1
        guard lists[list].work == 0, lists.count > listLimit else { return }
        for list in lists.places where lists[list].work == 0 && lists[list].times.max() <= earliest {
            lists.remove(at: list)
        }
        listLimit = 2 * lists.count + 32
    }

    // MARK: Origins

    /// Limits the downloads from an origin, which is no longer trusted; with 0 slots it has to wait.
    ///
    /// Downloads in flight continue.
    mutating func restrict(_ origin: String, to slots: Int) { set(slots, isTrusted: false, of: origin) }

    /// Lifts an origin's restriction because its time is over; the origin stays untrusted.
    mutating func lift(_ origin: String) { set(nil, isTrusted: false, of: origin) }

    /// Lifts the restriction of an origin that answered, and trusts it.
    mutating func trust(_ origin: String) { set(nil, isTrusted: true, of: origin) }

    private mutating func set(_ restriction: Int?, isTrusted: Bool, of name: String) {
        let origin = origins.index(of: name)
        // The usual case: a trusted origin has no restriction.
        if isTrusted, let origin, origins[origin].isTrusted { return }
        restrictions[name] = restriction
        guard let origin else { return }
        let wasHeld = origins[origin].restriction == 0
        origins[origin].restriction = restriction
        if wasHeld != (restriction == 0) {
            heldCount += wasHeld ? -origins[origin].queued : origins[origin].queued
            renewTurns(at: origin)
        }
        if isTrusted != origins[origin].isTrusted {
            origins[origin].isTrusted = isTrusted
            activeUntrusted += isTrusted ? -origins[origin].active : origins[origin].active
            trustedOrigins += isTrusted ? 1 : -1
        }
        renewTurn(of: origin)
    }

    mutating func setMultiplexed(_ origin: String, _ isMultiplexed: Bool) {
        guard let origin = origins.index(of: origin), origins[origin].isMultiplexed != isMultiplexed else { return }
        origins[origin].isMultiplexed = isMultiplexed
        renewTurn(of: origin)
    }

    mutating func forgetMultiplexing() {
        for origin in origins.places where origins[origin].isMultiplexed { setMultiplexed(origins[origin].key, false) }
    }

    /// The most downloads from an origin at once: in all, and while other origins wait.
    func slots(of origin: Int) -> (all: Int, fair: Int) {
        let limit = origins[origin].isMultiplexed ? max(perOrigin, Self.streams) : perOrigin
        let all = min(origins[origin].restriction ?? limit, limit)
        return (all, min(all, (concurrency + 1) / 2))
    }
}

extension FetchReason {
    var priority: FetchQueue.Priority {
        switch self {
        case .notCached, .missingOnDisk: .new
        case .expired: .refresh
        case .retry: .retry
        }
    }
}
