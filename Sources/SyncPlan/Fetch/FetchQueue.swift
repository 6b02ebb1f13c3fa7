// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// Which URL is downloaded next: one download a URL, a limit in all and for each origin, a fair turn between origins.
///
/// The limit for an origin is one on connections. One that answers many requests over a connection at once may have as
/// many as HTTP/2 streams, for as long as there is something to do for it.
///
/// An origin is trusted once it has answered, as long as there is something to do for it and until it is restricted.
/// Those that are not trusted hold no more than half of the slots together: however many of them hang, others go on.
/// Half of these are left to origins that were never asked, so that what hangs already does not keep them from their
/// first answer.
///
/// Every operation takes constant time, amortised. A URL that is taken out is only forgotten; its place in the queue
/// is passed over when its turn comes, or swept out when such places are the most.
package struct FetchQueue: Sendable {
    /// What goes before what.
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

    /// One place in an origin's queue.
    private struct Ticket {
        var url: String
        var number: Int
    }

    /// An origin's turn to start a download.
    private struct Turn {
        var origin: String
        var number: Int
    }

    private enum Standing: Int, CaseIterable {
        case trusted
        /// Nothing was asked of it, or what was asked is forgotten.
        case untried
        /// It has failed, or has yet to answer what it was asked.
        case doubtful
    }

    /// The origins whose turn it is, in order, by their standing.
    private typealias Rota = [Deque<Turn>]

    private struct Lane {
        var tickets: [Deque<Ticket>] = Array(repeating: [], count: Priority.allCases.count)
        /// The number of the lane's turn in the rota of each priority.
        var turns: [Int?] = Array(repeating: nil, count: Priority.allCases.count)
        var queued = 0
        var active = 0
        var isMultiplexed = false
        var standing = Standing.untried

        var isIdle: Bool { active == 0 && queued == 0 }

        /// Changes the standing; its turns in the rotas of the old one are lost.
        mutating func move(to standing: Standing) {
            guard standing != self.standing else { return }
            self.standing = standing
            turns = Array(repeating: nil, count: Priority.allCases.count)
        }
    }

    /// Where a URL is queued.
    private struct Place {
        var origin: String
        var priority: Priority
        /// The number of its valid ticket.
        var ticket: Int
    }

    /// The most downloads at once over one connection: no server should take fewer (RFC 9113, section 6.5.2).
    private static let streams = 100

    private let concurrency: Int
    private let perOrigin: Int
    private let untrusted: Int
    private var lanes: [String: Lane] = [:]
    private var rotas: [Rota] = Array(
        repeating: Array(repeating: [], count: Standing.allCases.count), count: Priority.allCases.count)
    private var places: [String: Place] = [:]
    private var activeOrigins: [String: String] = [:]
    /// How many downloads may run at once from the origins that are restricted.
    private var restrictions: [String: Int] = [:]
    private var activeUntrusted = 0
    /// How many lanes are of origins that are trusted.
    private var trustedLanes = 0
    private var lastNumber = 0

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

    /// How many URLs wait for their turn, or for their origin.
    package var queuedCount: Int { places.count }
    /// How many wait for nothing but their turn.
    package var readyCount: Int { places.count - heldCount }
    /// How many are being downloaded.
    package var activeCount: Int { activeOrigins.count }
    package var isEmpty: Bool { places.isEmpty && activeOrigins.isEmpty }
    /// Whether anything of an origin that is trusted waits or is being downloaded.
    package var isFlowing: Bool { trustedLanes > 0 }

    /// The URLs that are being downloaded, in no order.
    package var activeURLs: some Collection<String> { activeOrigins.keys }

    /// Whether the URL is queued, and its origin has to wait.
    package func isHeld(_ url: String) -> Bool {
        guard let origin = places[url]?.origin else { return false }
        return restrictions[origin] == 0
    }

    /// Whether nothing of the origin is started for now.
    package func isHeld(origin: String) -> Bool { restrictions[origin] == 0 }

    /// Whether anything of the origin is queued or being downloaded.
    package func hasWork(of origin: String) -> Bool { lanes[origin] != nil }

    // MARK: URLs

    /// Puts a URL in the queue.
    ///
    /// One that waits or is being downloaded already is left where it is.
    package mutating func add(_ url: String, origin: String, priority: Priority) {
        guard places[url] == nil, activeOrigins[url] == nil else { return }
        lanes[origin, default: Lane()].queued += 1
        if restrictions[origin] == 0 { heldCount += 1 }
        place(url, origin, priority)
    }

    /// Lets a waiting URL go before all others, because somebody waits for it.
    package mutating func raise(_ url: String) {
        guard let place = places[url], place.priority != .awaited else { return }
        self.place(url, place.origin, .awaited)
    }

    /// Takes a waiting URL out of the queue; one that is being downloaded stays active until `finish`.
    package mutating func remove(_ url: String) {
        guard let origin = places.removeValue(forKey: url)?.origin else { return }
        if restrictions[origin] == 0 { heldCount -= 1 }
        updateLane(origin) { $0.queued -= 1 }
    }

    /// The URLs to start now, each of which counts as active from here on.
    package mutating func start() -> [String] {
        var started: [String] = []
        for priority in Priority.allCases {
            while activeOrigins.count < concurrency, let origin = takeTurn(priority.rawValue) {
                guard let url = takeTicket(of: origin, priority.rawValue) else { continue }
                started.append(url)
                activeOrigins[url] = origin
                queueUp(origin)
            }
        }
        return started
    }

    /// Gives a download's slot back.
    ///
    /// - Returns: The origin that it was of; `nil` if the URL was not being downloaded.
    @discardableResult
    package mutating func finish(_ url: String) -> String? {
        guard let origin = activeOrigins.removeValue(forKey: url) else { return nil }
        if lanes[origin]?.standing != .trusted { activeUntrusted -= 1 }
        updateLane(origin) { $0.active -= 1 }
        queueUp(origin)
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
        setRestriction(of: origin, nil)
        setTrust(in: origin, true)
    }

    /// Notes whether an origin answers many requests over one connection at once.
    package mutating func setMultiplexed(_ origin: String, _ isMultiplexed: Bool) {
        updateLane(origin) { $0.isMultiplexed = isMultiplexed }
        queueUp(origin)
    }

    private mutating func setRestriction(of origin: String, _ slots: Int?) {
        let queued = lanes[origin]?.queued ?? 0
        if restrictions[origin] == 0 { heldCount -= queued }
        restrictions[origin] = slots
        if slots == 0 { heldCount += queued }
    }

    private mutating func setTrust(in origin: String, _ isTrusted: Bool) {
        guard let lane = lanes[origin] else { return }
        if isTrusted != (lane.standing == .trusted) {
            activeUntrusted += isTrusted ? -lane.active : lane.active
            updateLane(origin) { $0.move(to: isTrusted ? .trusted : .doubtful) }
        }
        queueUp(origin)
    }

    private func slots(of origin: String) -> Int {
        let limit = lanes[origin]?.isMultiplexed == true ? max(perOrigin, Self.streams) : perOrigin
        return min(restrictions[origin] ?? limit, limit)
    }

    // MARK: Places and turns

    private mutating func place(_ url: String, _ origin: String, _ priority: Priority) {
        lastNumber += 1
        let ticket = Ticket(url: url, number: lastNumber)
        places[url] = Place(origin: origin, priority: priority, ticket: ticket.number)
        updateLane(origin) { $0.tickets[priority.rawValue].append(ticket) }
        sweep(origin)
        queueUp(origin)
    }

    /// Takes the tickets of an origin away that are no longer valid, once they are the most.
    private mutating func sweep(_ origin: String) {
        guard let lane = lanes[origin], lane.tickets.reduce(0, { $0 + $1.count }) > 2 * lane.queued + 32 else { return }
        let tickets = lane.tickets.map { $0.filter { places[$0.url]?.ticket == $0.number } }
        updateLane(origin) { $0.tickets = tickets.map { Deque($0) } }
    }

    /// Changes a lane in place, and forgets it once there is nothing to do for its origin.
    private mutating func updateLane(_ origin: String, _ change: (inout Lane) -> Void) {
        guard var lane = lanes.removeValue(forKey: origin) else { return }
        if lane.standing == .trusted { trustedLanes -= 1 }
        change(&lane)
        guard !lane.isIdle else { return }
        if lane.standing == .trusted { trustedLanes += 1 }
        lanes[origin] = lane
    }

    /// Gives an origin its turns, if it has something to start and a slot to start it in.
    private mutating func queueUp(_ origin: String) {
        guard let active = lanes[origin]?.active, active < slots(of: origin),
            var lane = lanes.removeValue(forKey: origin)
        else { return }
        defer { lanes[origin] = lane }
        if lane.standing != .trusted {
            lane.move(to: active == 0 && restrictions[origin] == nil ? .untried : .doubtful)
        }
        for index in Priority.allCases.indices where lane.turns[index] == nil && !lane.tickets[index].isEmpty {
            lastNumber += 1
            rotas[index][lane.standing.rawValue].append(Turn(origin: origin, number: lastNumber))
            lane.turns[index] = lastNumber
        }
    }

    /// The origin whose turn it is.
    private mutating func takeTurn(_ priority: Int) -> String? {
        let next = Standing.allCases.filter(isAdmitted).compactMap { standing in
            nextTurn(priority, standing).map { (turn: $0, standing: standing) }
        }
        guard let (turn, standing) = next.min(by: { $0.turn.number < $1.turn.number }) else { return nil }
        rotas[priority][standing.rawValue].removeFirst()
        updateLane(turn.origin) { $0.turns[priority] = nil }
        return turn.origin
    }

    private func isAdmitted(_ standing: Standing) -> Bool {
        switch standing {
        case .trusted: true
        case .untried: activeUntrusted < untrusted
        case .doubtful: activeUntrusted < max(1, untrusted / 2)
        }
    }

    /// The first turn that is still valid; those before it are taken away.
    private mutating func nextTurn(_ priority: Int, _ standing: Standing) -> Turn? {
        while let turn = rotas[priority][standing.rawValue].first {
            if lanes[turn.origin]?.turns[priority] == turn.number { return turn }
            rotas[priority][standing.rawValue].removeFirst()
        }
        return nil
    }

    /// The URL of the next valid ticket of an origin that has a free slot.
    private mutating func takeTicket(of origin: String, _ priority: Int) -> String? {
        guard let active = lanes[origin]?.active, active < slots(of: origin),
            var lane = lanes.removeValue(forKey: origin)
        else { return nil }
        defer { lanes[origin] = lane }
        while let ticket = lane.tickets[priority].popFirst() {
            guard places[ticket.url]?.ticket == ticket.number else { continue }
            places[ticket.url] = nil
            lane.queued -= 1
            lane.active += 1
            if lane.standing != .trusted { activeUntrusted += 1 }
            return ticket.url
        }
        return nil
    }
}
