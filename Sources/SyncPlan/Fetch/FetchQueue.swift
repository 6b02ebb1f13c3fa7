// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HeapModule

/// Which URL is downloaded next: one download a URL, a limit in all and for each origin, a fair share for each list and a
/// fair turn for each origin.
///
/// Lists share the slots by start-time fair queueing, over all and within an origin: the list that was served least goes
/// next. One that comes anew is served ``Flow/credit`` ahead of the others, and then as they are: a small list does not
/// wait for a large one, and a large one gets its share however many small ones come. What goes before what is a matter
/// within a list; only icons that somebody waits for give their list a larger share.
///
/// The limit for an origin is one on connections. One that answers many requests over a connection at once may have as
/// many as HTTP/2 streams, for as long as there is something to do for it; while others wait, no origin starts more than
/// make up half of all slots.
///
/// An origin is trusted once it has answered, as long as there is something to do for it and until it is restricted.
/// Those that are not trusted hold no more than half of the slots together: however many of them hang, others go on.
/// Half of these are left to origins that were never asked, so that what hangs already does not keep them from their
/// first answer.
///
/// Every operation takes logarithmic time in the number of lists, amortised. A URL that is taken out is only forgotten; its
/// place in the queue is passed over when its turn comes, or swept out when such places are the most.
package struct FetchQueue: Sendable {
    /// What goes before what within a list.
    package enum Priority: Int, CaseIterable, Sendable {
        /// An icon that somebody waits for at this moment.
        case awaited
        /// An icon that is not on disk.
        case new
        /// An icon that is on disk, and may be out of date.
        case refresh
        /// An icon that failed before.
        case retry
    }

    enum Standing: Int, CaseIterable {
        case trusted
        /// Nothing was asked of it, or what was asked is forgotten.
        case untried
        /// It has failed, or has yet to answer what it was asked.
        case doubtful
    }

    /// Where a URL is queued.
    private struct Place {
        var origin: String
        var list: ListName
        var priority: Priority
        /// The number of its valid ticket.
        var ticket: Int
    }

    /// The most downloads at once over one connection: no server should take fewer (RFC 9113, section 6.5.2).
    private static let streams = 100

    private(set) var concurrency: Int
    private var perOrigin: Int
    private var untrusted: Int
    private var places: [IconURL: Place] = [:]
    private var activePlaces: [IconURL: (origin: String, list: ListName)] = [:]
    /// How many downloads may run at once from the origins that are restricted.
    private(set) var restrictions: [String: Int] = [:]
    private var activeUntrusted = 0
    /// How many lanes are of origins that are trusted.
    private var trustedLanes = 0

    var lanes: [String: Lane] = [:]
    var flows: [ListName: Flow] = [:]
    /// The lists that have something to start from an origin of each standing, by what they have been served.
    var listTurns: [Heap<ListTurn>] = Array(repeating: [], count: Standing.allCases.count)
    /// The origins that have more than their share already, and could take more.
    var greedy: Set<String> = []
    /// The latest start of a download, as lists count what they are served.
    var virtualTime = 0
    /// How many flows are kept before those are looked for that can be forgotten.
    var flowLimit = Flow.fewest
    var lastNumber = 0

    /// How many of the queued URLs are of an origin that has to wait.
    package private(set) var heldCount = 0

    /// - Parameters:
    ///   - concurrency: The most downloads at once.
    ///   - perOrigin: The most downloads at once from one origin, if each needs a connection.
    ///   - untrusted: The most downloads at once from all the origins that are not trusted; half of all by default.
    package init(concurrency: Int, perOrigin: Int, untrusted: Int? = nil) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        self.concurrency = concurrency
        self.perOrigin = perOrigin
        self.untrusted = untrusted ?? max(1, concurrency / 2)
    }

    /// Goes on with other limits; what is being downloaded goes on.
    package mutating func configure(concurrency: Int, perOrigin: Int) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        guard concurrency != self.concurrency || perOrigin != self.perOrigin else { return }
        self.concurrency = concurrency
        self.perOrigin = perOrigin
        untrusted = max(1, concurrency / 2)
        for origin in lanes.keys.sorted() { offerSlots(of: origin) }
    }

    /// How many wait for nothing but their turn.
    package var readyCount: Int { places.count - heldCount }
    /// How many are being downloaded.
    package var activeCount: Int { activePlaces.count }
    package var isEmpty: Bool { places.isEmpty && activePlaces.isEmpty }
    /// Whether anything of an origin that is trusted waits or is being downloaded.
    package var isFlowing: Bool { trustedLanes > 0 }

    /// The URLs that are being downloaded, in no order.
    package var activeURLs: some Collection<IconURL> { activePlaces.keys }

    /// Whether nothing of the origin is started for now.
    package func isHeld(origin: String) -> Bool { restrictions[origin] == 0 }

    /// Whether anything of the origin is queued or being downloaded.
    package func hasWork(of origin: String) -> Bool { lanes[origin] != nil }

    // MARK: URLs

    /// Puts a URL in the queue, where it counts for a list.
    ///
    /// One that waits or is being downloaded already is left where it is.
    package mutating func add(_ url: IconURL, origin: String, list: ListName, priority: Priority) {
        guard places[url] == nil, activePlaces[url] == nil else { return }
        if restrictions[origin] == 0 { heldCount += 1 }
        place(url, origin, list, priority)
    }

    /// Lets a waiting URL go before the others of its list, because somebody waits for it.
    package mutating func raise(_ url: IconURL) {
        guard let place = places[url], place.priority != .awaited else { return }
        unplace(url)
        self.place(url, place.origin, place.list, .awaited)
    }

    /// Lets a waiting URL count for another list.
    package mutating func move(_ url: IconURL, to list: ListName) {
        guard let place = places[url], place.list != list else { return }
        unplace(url)
        self.place(url, place.origin, list, place.priority)
    }

    /// Takes a waiting URL out of the queue; one that is being downloaded stays active until `finish`.
    package mutating func remove(_ url: IconURL) {
        guard let origin = places[url]?.origin else { return }
        unplace(url)
        if restrictions[origin] == 0 { heldCount -= 1 }
        forgetIfIdle(origin)
        restIfEmpty()
    }

    /// The URLs to start now, each of which counts as active from here on.
    package mutating func start() -> [IconURL] {
        var started: [IconURL] = []
        while activePlaces.count < concurrency, let (list, origin) = nextTurn() ?? nextGreedyTurn() {
            if let url = takeTicket(of: list, origin) { started.append(url) }
            offerSlots(of: origin)
        }
        return started
    }

    /// Gives a download's slot back.
    ///
    /// - Returns: The origin that it was of; `nil` if the URL was not being downloaded.
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

    /// Lets no more than so many downloads from an origin run at once: none while it has to wait.
    ///
    /// What is under way goes on. The origin is not trusted from here on.
    package mutating func restrict(_ origin: String, to slots: Int) {
        setRestriction(of: origin, slots)
        setTrust(in: origin, false)
    }

    /// Lifts the restriction of an origin because time has passed, and not because it answered.
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

    /// Notes whether an origin answers many requests over one connection at once.
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

    /// How many downloads from an origin may run at once; and how many while others wait.
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
        lanes[origin, default: Lane()].queued += 1
        addFlow(list)
        flows[list]?.work += 1
        lanes[origin]?.shares[list, default: Share()].add(Ticket(url: url, number: lastNumber), priority)
        if lanes[origin]?.shares[list]?.isSparse == true {
            let places = places
            lanes[origin]?.shares[list]?.sweep { places[$0.url]?.ticket == $0.number }
        }
        noteTicket(of: list, origin, priority)
    }

    /// Takes a URL's place away; its ticket stays until its turn comes.
    private mutating func unplace(_ url: IconURL) {
        guard let place = places.removeValue(forKey: url) else { return }
        lanes[place.origin]?.queued -= 1
        flows[place.list]?.work -= 1
        lanes[place.origin]?.shares[place.list]?.queued -= 1
        forgetShareIfEmpty(place.list, place.origin)
    }

    /// Is as new once there is nothing to do: all room is given back, and what lists were served is forgotten.
    private mutating func restIfEmpty() {
        guard isEmpty else { return }
        let restrictions = restrictions
        self = FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: untrusted)
        self.restrictions = restrictions
    }

    /// Forgets an origin once there is nothing to do for it.
    private mutating func forgetIfIdle(_ origin: String) {
        guard let lane = lanes[origin], lane.active == 0, lane.queued == 0 else { return }
        if lane.standing == .trusted { trustedLanes -= 1 }
        lanes[origin] = nil
        greedy.remove(origin)
    }

    /// The URL of a list's next valid ticket for an origin that has a free slot.
    private mutating func takeTicket(of list: ListName, _ origin: String) -> IconURL? {
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
