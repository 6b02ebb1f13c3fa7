// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Decides which URL is downloaded next.
///
/// One download per URL, a limit in all and per origin, a fair share for each list and a fair turn for each origin.
///
/// Lists share the slots by start-time fair queueing. A list has a virtual time, and one turn at each origin for all that
/// it has queued there, whose time is that of the list when it got the turn. The earliest turn at an origin with a free
/// slot is next. A new list starts ``List/credit`` ahead of the others, so a small one does not wait for a large one; then
/// it is their equal. Priorities order what a list has queued at an origin.
///
/// The limit per origin is one on connections: an origin that multiplexes requests may have as many as HTTP/2 streams,
/// while it has work; while others wait, no origin starts downloads beyond half of all slots. All untrusted origins
/// together hold at most half of the slots, so others go on however many of them hang. Half of these slots are left to
/// origins that were never asked, so that hanging ones do not keep them from their first answer.
///
/// Every operation takes amortised logarithmic time.
package struct FetchQueue: Sendable {
    package enum Priority: Int, CaseIterable, Sendable {
        /// Somebody waits for the icon.
        case awaited
        case new
        /// The icon is on disk and may be stale.
        case refresh
        case retry
    }

    enum Standing: Int, CaseIterable {
        /// It has answered, and was not restricted since.
        case trusted
        /// It was never asked, or that is forgotten.
        case untried
        /// It has failed, or its first response is pending.
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
    /// The latest time of a turn that was used.
    var virtualTime = 0
    /// The time of a new list's first turn; lists that come one after the other at a start are equals.
    var earliest: Int { max(0, virtualTime - List.credit) }
    /// The number of lists at which forgettable ones are removed.
    private var listLimit = 32
    var lastNumber = 0

    var activeUntrusted = 0
    package internal(set) var activeCount = 0
    /// How many queued URLs belong to an origin that has to wait.
    package internal(set) var heldCount = 0

    /// `perOrigin` limits origins that need a connection per download, `untrusted` all untrusted origins together.
    ///
    /// The default of `untrusted` is half of `concurrency`.
    package init(concurrency: Int, perOrigin: Int, untrusted: Int? = nil) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        (self.concurrency, self.perOrigin) = (concurrency, perOrigin)
        self.untrusted = untrusted ?? max(1, concurrency / 2)
    }

    package mutating func configure(concurrency: Int, perOrigin: Int) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        guard (concurrency, perOrigin) != (self.concurrency, self.perOrigin) else { return }
        (self.concurrency, self.perOrigin, untrusted) = (concurrency, perOrigin, max(1, concurrency / 2))
        for origin in origins.places { renewTurn(of: origin) }
    }

    /// How many URLs wait only for their turn.
    package var readyCount: Int { places.count - activeCount - heldCount }
    package var isEmpty: Bool { places.count == 0 }
    /// Whether a trusted origin has queued or running downloads.
    package var isFlowing: Bool { trustedOrigins > 0 }

    package var activeURLs: some Collection<IconURL> {
        places.places.lazy.filter { places[$0].isActive }.map { places[$0].key }
    }

    package func isHeld(origin: String) -> Bool { restrictions[origin] == 0 }

    package func hasWork(of origin: String) -> Bool { origins.index(of: origin) != nil }

    // MARK: URLs

    /// Queues a URL on behalf of a list, unless it is queued or in flight already.
    package mutating func add(_ url: IconURL, origin: String, list: ListName, priority: Priority) {
        guard places.index(of: url) == nil else { return }
        let origin = origins.place(of: origin, default: Origin(key: origin, restriction: restrictions[origin]))
        let list = join(list)
        let place = places.place(of: url, default: Place(key: url, origin: origin, list: list, priority: priority))
        link(place)
        renewTurn(of: places[place])
    }

    /// Moves a queued URL ahead of the others of its list, because somebody waits for it.
    package mutating func raise(_ url: IconURL) {
        guard let place = queuedPlace(of: url), places[place].priority != .awaited else { return }
        unlink(place)
        places[place].priority = .awaited
        link(place)
        renewTurn(of: places[place])
    }

    package mutating func move(_ url: IconURL, to list: ListName) {
        guard let place = queuedPlace(of: url), lists[places[place].list].key != list else { return }
        unlink(place)
        renewTurn(of: places[place])
        leave(places[place].list)
        places[place].list = join(list)
        link(place)
        renewTurn(of: places[place])
    }

    /// Dequeues a URL; one in flight stays active until `finish`.
    package mutating func remove(_ url: IconURL) {
        guard let place = queuedPlace(of: url) else { return }
        unlink(place)
        renewTurn(of: places[place])
        forget(place)
    }

    /// Dequeues the URLs to start now, which count as active from here on.
    package mutating func start() -> [IconURL] {
        var started: [IconURL] = []
        while activeCount < concurrency, let url = startNext() { started.append(url) }
        return started
    }

    /// Frees a download's slot and returns its origin; `nil` if the URL was not in flight.
    @discardableResult
    package mutating func finish(_ url: IconURL) -> String? {
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

    /// Forgets a place, and its list and origin with their last one.
    private mutating func forget(_ place: Int) {
        let origin = places[place].origin
        leave(places[place].list)
        places.remove(at: place)
        if origins[origin].active == 0, origins[origin].queued == 0 {
            if origins[origin].isTrusted { trustedOrigins -= 1 }
            origins.remove(at: origin)
        }
        // Nothing is left but restrictions: an empty queue takes no memory.
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

    /// Counts one URL less of a list.
    ///
    /// One without any is known until a new one would be its equal: else a list that comes back again and again would always
    /// go first.
    private mutating func leave(_ list: Int) {
        lists[list].work -= 1
        guard lists[list].work == 0, lists.count > listLimit else { return }
        for list in lists.places where lists[list].work == 0 && lists[list].times.max() <= earliest {
            lists.remove(at: list)
        }
        listLimit = 2 * lists.count + 32
    }

    // MARK: Origins

    /// Limits the downloads from an origin, which is no longer trusted; 0 makes it wait.
    ///
    /// Downloads in flight go on.
    package mutating func restrict(_ origin: String, to slots: Int) { set(slots, isTrusted: false, of: origin) }

    /// Lifts an origin's restriction because its time is over; the origin stays untrusted.
    package mutating func lift(_ origin: String) { set(nil, isTrusted: false, of: origin) }

    /// Lifts the restriction of an origin that answered, and trusts it.
    package mutating func trust(_ origin: String) { set(nil, isTrusted: true, of: origin) }

    private mutating func set(_ restriction: Int?, isTrusted: Bool, of name: String) {
        let origin = origins.index(of: name)
        // Nearly always: a trusted origin has no restriction.
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

    package mutating func setMultiplexed(_ origin: String, _ isMultiplexed: Bool) {
        guard let origin = origins.index(of: origin), origins[origin].isMultiplexed != isMultiplexed else { return }
        origins[origin].isMultiplexed = isMultiplexed
        renewTurn(of: origin)
    }

    /// The most downloads from an origin at once, in all and while others wait.
    func slots(of origin: Int) -> (all: Int, fair: Int) {
        let limit = origins[origin].isMultiplexed ? max(perOrigin, Self.streams) : perOrigin
        let all = min(origins[origin].restriction ?? limit, limit)
        return (all, min(all, (concurrency + 1) / 2))
    }
}
