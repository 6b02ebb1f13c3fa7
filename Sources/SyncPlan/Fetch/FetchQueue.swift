// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HeapModule

/// Decides which URL is downloaded next.
///
/// One download per URL, a limit in all and per origin, a fair share for each list and a fair turn for each origin.
///
/// Lists share the slots by start-time fair queueing, both overall and within an origin: the least served list goes
/// next. A new list starts ``Flow/credit`` ahead of the others and then is their equal. So a small list does not wait
/// for a large one, and a large one gets its share however many small ones come. Priorities order the URLs within a
/// list; only icons that somebody waits for give their list a larger share.
///
/// The limit per origin is one on connections. An origin that multiplexes requests over one connection may have as many
/// as HTTP/2 streams, while it has work; while others wait, no origin starts downloads beyond half of all slots.
///
/// An origin is trusted once it has answered, while it has work and until it is restricted. All untrusted origins
/// together hold at most half of the slots, so others go on however many of them hang. Half of these slots are left to
/// origins that were never asked, so that hanging ones do not keep them from their first answer.
///
/// Every operation takes amortised logarithmic time in the number of lists. Removing a URL only invalidates its place
/// in the queue; the place is skipped when its turn comes, or swept out once most places are invalid.
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
        case trusted
        /// It was never asked, or that is forgotten.
        case untried
        /// It has failed, or its first response is pending.
        case doubtful
    }

    private struct Place {
        var origin: String
        var list: ListName
        var priority: Priority
        var ticket: Int
    }

    /// The most downloads over one connection: no server should allow fewer streams (RFC 9113, section 6.5.2).
    private static let streams = 100

    private(set) var concurrency: Int
    private var perOrigin: Int
    private var untrusted: Int
    private var places: [IconURL: Place] = [:]
    private var activePlaces: [IconURL: (origin: String, list: ListName)] = [:]
    /// The slot limits of restricted origins.
    private(set) var restrictions: [String: Int] = [:]
    private var activeUntrusted = 0
    private var trustedLanes = 0

    var lanes: [String: Lane] = [:]
    var flows: [ListName: Flow] = [:]
    /// The lists that can start a download, by the origin's standing; the least served comes first.
    var listTurns: [Heap<ListTurn>] = Array(repeating: [], count: Standing.allCases.count)
    /// The origins that have their fair share and could use more.
    var greedy: Set<String> = []
    /// The start time of the latest download, in units of ``Flow/cost(_:)``.
    var virtualTime = 0
    /// The number of flows at which forgettable ones are removed.
    var flowLimit = Flow.fewest
    var lastNumber = 0

    /// How many queued URLs belong to an origin that has to wait.
    package private(set) var heldCount = 0

    /// `perOrigin` limits origins that need a connection per download, `untrusted` all untrusted origins together.
    ///
    /// The default of `untrusted` is half of `concurrency`.
    package init(concurrency: Int, perOrigin: Int, untrusted: Int? = nil) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        self.concurrency = concurrency
        self.perOrigin = perOrigin
        self.untrusted = untrusted ?? max(1, concurrency / 2)
    }

    package mutating func configure(concurrency: Int, perOrigin: Int) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        guard concurrency != self.concurrency || perOrigin != self.perOrigin else { return }
        self.concurrency = concurrency
        self.perOrigin = perOrigin
        untrusted = max(1, concurrency / 2)
        for origin in lanes.keys.sorted() { offerSlots(of: origin) }
    }

    /// How many URLs wait only for their turn.
    package var readyCount: Int { places.count - heldCount }
    package var activeCount: Int { activePlaces.count }
    package var isEmpty: Bool { places.isEmpty && activePlaces.isEmpty }
    /// Whether a trusted origin has queued or running downloads.
    package var isFlowing: Bool { trustedLanes > 0 }

    package var activeURLs: some Collection<IconURL> { activePlaces.keys }

    package func isHeld(origin: String) -> Bool { restrictions[origin] == 0 }

    package func hasWork(of origin: String) -> Bool { lanes[origin] != nil }

    // MARK: URLs

    /// Queues a URL on behalf of a list, unless it is queued or in flight already.
    package mutating func add(_ url: IconURL, origin: String, list: ListName, priority: Priority) {
        guard places[url] == nil, activePlaces[url] == nil else { return }
        if restrictions[origin] == 0 { heldCount += 1 }
        place(url, origin, list, priority)
    }

    /// Moves a queued URL ahead of the others of its list, because somebody waits for it.
    package mutating func raise(_ url: IconURL) {
        guard let place = places[url], place.priority != .awaited else { return }
        unplace(url)
        self.place(url, place.origin, place.list, .awaited)
    }

    package mutating func move(_ url: IconURL, to list: ListName) {
        guard let place = places[url], place.list != list else { return }
        unplace(url)
        self.place(url, place.origin, list, place.priority)
    }

    /// Dequeues a URL; one in flight stays active until `finish`.
    package mutating func remove(_ url: IconURL) {
        guard let origin = places[url]?.origin else { return }
        unplace(url)
        if restrictions[origin] == 0 { heldCount -= 1 }
        forgetIfIdle(origin)
        restIfEmpty()
    }

    /// Dequeues the URLs to start now, which count as active from here on.
    package mutating func start() -> [IconURL] {
        var started: [IconURL] = []
        while activePlaces.count < concurrency, let (list, origin) = nextTurn() ?? nextGreedyTurn() {
            if let url = dequeueTicket(of: list, origin) { started.append(url) }
            offerSlots(of: origin)
        }
        return started
    }

    /// Frees a download's slot and returns its origin; `nil` if the URL was not in flight.
    @discardableResult
    package mutating func finish(_ url: IconURL) -> String? {
        guard let (origin, list) = activePlaces.removeValue(forKey: url) else { return nil }
        if lanes[origin]?.end() != .trusted { activeUntrusted -= 1 }
        flows[list]?.work -= 1
        forgetIfIdle(origin)
        offerSlots(of: origin)
        restIfEmpty()
        return origin
    }

    // MARK: Origins

    /// Limits the downloads from an origin; 0 makes it wait.
    ///
    /// Downloads in flight go on. The origin is no longer trusted.
    package mutating func restrict(_ origin: String, to slots: Int) {
        setRestriction(of: origin, slots)
        setTrust(in: origin, false)
    }

    /// Lifts an origin's restriction because its time is over; the origin stays untrusted.
    package mutating func lift(_ origin: String) {
        setRestriction(of: origin, nil)
        setTrust(in: origin, false)
    }

    /// Lifts the restriction of an origin that answered, and trusts it.
    package mutating func trust(_ origin: String) {
        guard restrictions[origin] != nil || lanes[origin]?.standing != .trusted else { return }
        setRestriction(of: origin, nil)
        setTrust(in: origin, true)
    }

    package mutating func setMultiplexed(_ origin: String, _ isMultiplexed: Bool) {
        guard lanes[origin].map({ $0.isMultiplexed != isMultiplexed }) ?? false else { return }
        lanes[origin]?.isMultiplexed = isMultiplexed
        offerSlots(of: origin)
    }

    private mutating func setRestriction(of origin: String, _ slots: Int?) {
        let queued = lanes[origin]?.queued ?? 0
        if restrictions[origin] == 0 { heldCount -= queued }
        restrictions[origin] = slots
        if slots == 0 { heldCount += queued }
    }

    private mutating func setTrust(in origin: String, _ isTrusted: Bool) {
        guard let standing = lanes[origin]?.standing, let active = lanes[origin]?.active else { return }
        if isTrusted != (standing == .trusted) {
            activeUntrusted += isTrusted ? -active : active
            trustedLanes += isTrusted ? 1 : -1
            setStanding(of: origin, isTrusted ? .trusted : .doubtful)
        }
        offerSlots(of: origin)
    }

    /// The most downloads from an origin at once, in all and while others wait.
    func slots(of origin: String) -> (all: Int, fair: Int) {
        let limit = lanes[origin]?.isMultiplexed == true ? max(perOrigin, Self.streams) : perOrigin
        let all = min(restrictions[origin] ?? limit, limit)
        return (all, min(all, (concurrency + 1) / 2))
    }

    func isAdmitted(_ standing: Standing) -> Bool {
        switch standing {
        case .trusted: true
        case .untried: activeUntrusted < untrusted
        case .doubtful: activeUntrusted < max(1, untrusted / 2)
        }
    }

    // MARK: Places

    private mutating func place(_ url: IconURL, _ origin: String, _ list: ListName, _ priority: Priority) {
        lastNumber += 1
        places[url] = Place(origin: origin, list: list, priority: priority, ticket: lastNumber)
        addWork(of: list)
        let share = lanes[origin, default: Lane()].add(Ticket(url: url, number: lastNumber), of: list, priority)
        if share.isSparse {
            let places = places
            lanes[origin]?.shares[list]?.sweep { places[$0.url]?.ticket == $0.number }
        }
        recordTicket(of: list, origin, priority, whoseTurn: share.turn)
    }

    /// Removes a URL's place; its invalid ticket stays until its turn comes.
    private mutating func unplace(_ url: IconURL) {
        guard let place = places.removeValue(forKey: url) else { return }
        lanes[place.origin]?.queued -= 1
        flows[place.list]?.work -= 1
        lanes[place.origin]?.shares[place.list]?.queued -= 1
        forgetShareIfEmpty(place.list, place.origin)
        // Its list may have been one of those that ask: another one may ask now.
        offerSlots(of: place.origin)
    }

    /// Resets an empty queue, which frees its memory and forgets what lists were served.
    private mutating func restIfEmpty() {
        guard isEmpty else { return }
        let restrictions = restrictions
        self = FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: untrusted)
        self.restrictions = restrictions
    }

    private mutating func forgetIfIdle(_ origin: String) {
        guard let lane = lanes[origin], lane.active == 0, lane.queued == 0 else { return }
        if lane.standing == .trusted { trustedLanes -= 1 }
        lanes[origin] = nil
        greedy.remove(origin)
    }

    /// Starts the URL of a list's next valid ticket for an origin with a free slot.
    private mutating func dequeueTicket(of list: ListName, _ origin: String) -> IconURL? {
        while let (ticket, priority) = lanes[origin]?.shares[list]?.next() {
            guard let place = places.index(forKey: ticket.url), places.values[place].ticket == ticket.number else {
                continue
            }
            places.remove(at: place)
            activePlaces[ticket.url] = (origin, list)
            if lanes[origin]?.begin(list) != .trusted { activeUntrusted += 1 }
            charge(list, priority)
            if lanes[origin]?.shares[list]?.queued == 0 {
                forgetShareIfEmpty(list, origin)
            } else {
                wait(list, at: origin)
            }
            return ticket.url
        }
        return nil
    }
}
