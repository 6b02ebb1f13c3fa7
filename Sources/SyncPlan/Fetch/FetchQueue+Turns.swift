// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Decides whose turn it is. Places (of URLs), lists and origins refer to each other by number.
extension FetchQueue {
    /// A URL that is queued or in flight.
    struct Place: Keyed {
        let key: IconURL
        var origin = 0
        var list = 0
        var priority: Priority
        var isActive = false
        /// The neighbours in a ring of all queued URLs of the same origin, list and priority.
        var previous = 0
        var next = 0
    }

    struct Origin: Keyed {
        let key: String
        var restriction: Int?
        var isTrusted = false
        var isMultiplexed = false
        var queued = 0
        var active = 0
        /// The first place of each ring.
        var rings: [Int: Int] = [:]
        /// The turns of the lists that have URLs queued at this origin.
        var turns = Turns()

        var standing: Standing { isTrusted ? .trusted : active == 0 && restriction == nil ? .untried : .doubtful }
    }

    /// A list with its virtual time: the cost of all its downloads that have or had a turn.
    ///
    /// There is a time for each priority, so that a URL does not wait for turns of lower priority that its list has at
    /// other origins.
    struct List: Keyed {
        /// How far a new list may be ahead of the others, in virtual time: sixteen downloads.
        static let credit = 64
        /// The cost of a turn, by priority: for icons that somebody waits for, a list gets a larger share.
        private static let costs = [1, 4, 4, 4]

        let key: ListName
        var times: SIMD4<Int>
        /// The number of the list's URLs that are queued or in flight.
        var work = 0

        mutating func raise(to time: Int) { times = pointwiseMax(times, SIMD4(repeating: time)) }

        /// Charges a turn to the times of its priority and of the lower ones; with sign −1, refunds it.
        mutating func charge(_ priority: Priority, _ sign: Int = 1) {
            let cost = sign * Self.costs[priority.rawValue]
            for index in priority.rawValue..<times.scalarCount { times[index] += cost }
        }

        /// Charges a turn that is used also to the times of the higher priorities.
        mutating func chargeRest(_ priority: Priority) {
            for index in 0..<priority.rawValue { times[index] += Self.costs[priority.rawValue] }
        }
    }

    /// Starts the first download of the origin whose turn it is.
    mutating func startNext() -> IconURL? {
        var next: Turn?
        for (turns, limit) in zip(turns, [.max, untrusted, max(1, untrusted / 2)]) where activeUntrusted < limit {
            if let first = turns.first, next.map({ first < $0 }) ?? true { next = first }
        }
        guard let origin = next?.owner, let turn = origins[origin].turns.first,
            let place = origins[origin].rings[ring(turn.owner, turn.priority)]
        else { return nil }
        virtualTime = max(virtualTime, turn.time)
        lists[turn.owner].chargeRest(turn.priority)
        origins[origin].turns[turn.owner] = nil
        origins[origin].active += 1
        activeCount += 1
        if !origins[origin].isTrusted { activeUntrusted += 1 }
        places[place].isActive = true
        unlink(place)
        renewTurn(of: turn.owner, at: origin)
        return places[place].key
    }

    private func ring(_ list: Int, _ priority: Priority) -> Int { list << 2 | priority.rawValue }

    /// Queues a place behind the others in its ring; the caller renews the turn of its list.
    mutating func link(_ number: Int) {
        let (origin, ring) = (places[number].origin, ring(places[number].list, places[number].priority))
        let next = origins[origin].rings[ring] ?? number
        let previous = next == number ? number : places[next].previous
        (places[number].previous, places[number].next) = (previous, next)
        (places[previous].next, places[next].previous) = (number, number)
        origins[origin].rings[ring] = next
        count(1, at: origin)
    }

    /// Removes a place from its ring; the caller renews the turn of its list.
    mutating func unlink(_ number: Int) {
        let (origin, ring) = (places[number].origin, ring(places[number].list, places[number].priority))
        let (previous, next) = (places[number].previous, places[number].next)
        (places[previous].next, places[next].previous) = (next, previous)
        if origins[origin].rings[ring] == number { origins[origin].rings[ring] = next == number ? nil : next }
        count(-1, at: origin)
    }

    private mutating func count(_ change: Int, at origin: Int) {
        origins[origin].queued += change
        if origins[origin].restriction == 0 { heldCount += change }
    }

    mutating func renewTurn(of place: Place) { renewTurn(of: place.list, at: place.origin) }

    /// Gives a list the turn for its first URL at an origin, and the origin that of its first list.
    ///
    /// Refunds a turn for another priority. At an origin that has to wait, a list gets no turn: it could not use it.
    private mutating func renewTurn(of list: Int, at origin: Int) {
        let last = origins[origin].turns[list]
        let rings = origins[origin].restriction == 0 ? [:] : origins[origin].rings
        let best = Priority.allCases.first { rings[ring(list, $0)] != nil }
        if let last, last.priority != best {
            lists[list].charge(last.priority, -1)
            origins[origin].turns[list] = nil
        }
        if let best, best != last?.priority {
            lists[list].raise(to: earliest)
            lastNumber += 1
            let time = min(lists[list].times[best.rawValue], last?.time ?? .max)
            origins[origin].turns[list] = Turn(time: time, priority: best, number: lastNumber, owner: list)
            lists[list].charge(best)
        }
        renewTurn(of: origin)
    }

    /// Renews the turns of all lists at an origin that has begun or ended a wait.
    mutating func renewTurns(at origin: Int) {
        for list in Set(origins[origin].rings.keys.map { $0 >> 2 }).sorted() { renewTurn(of: list, at: origin) }
    }

    /// Gives an origin with a free slot the turn of its first list.
    mutating func renewTurn(of origin: Int) {
        let (slots, active, standing) = (slots(of: origin), origins[origin].active, origins[origin].standing)
        var turn = active < slots.all ? origins[origin].turns.first : nil
        // The turn of a list becomes that of the origin.
        turn?.owner = origin
        turn?.excess = active < slots.fair ? 0 : 1
        for other in Standing.allCases { turns[other.rawValue][origin] = other == standing ? turn : nil }
    }
}
