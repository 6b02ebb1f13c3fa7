// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Whose turn it is. URLs, lists and origins know each other by number.
extension FetchQueue {
    /// A URL that is queued or in flight.
    struct Place: Keyed {
        let key: Key
        let origin: Int
        var list: Int
        var priority: Priority
        var isActive = false
        /// Its neighbours among the queued URLs of the same origin, list and priority, which form a ring.
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
        /// The turns of its lists.
        var turns = Turns()

        var standing: Standing { isTrusted ? .trusted : active == 0 && restriction == nil ? .untried : .doubtful }
    }

    /// A list, and its virtual time: what its downloads cost that have or had a turn.
    ///
    /// No URL waits for the turns of lower priority that its list has elsewhere, so there is a time for each priority.
    struct List: Keyed {
        /// How far a new list may be served ahead of the others: sixteen downloads.
        static let credit = 64
        /// What a turn adds, by priority: icons that somebody waits for get their list a larger share.
        static let costs = [SIMD4(1, 1, 1, 1), SIMD4(0, 4, 4, 4), SIMD4(0, 0, 4, 4), SIMD4(0, 0, 0, 4)]

        let key: ListName
        var times: SIMD4<Int>
        /// How many of its URLs are queued or in flight.
        var work = 0

        mutating func raise(to time: Int) { times = pointwiseMax(times, SIMD4(repeating: time)) }
    }

    /// Starts the first download of the origin whose turn it is.
    mutating func startNext() -> Key? {
        var next: Turn?
        for (turns, limit) in zip(turns, [.max, untrusted, max(1, untrusted / 2)]) where activeUntrusted < limit {
            if let first = turns.first, next.map({ first < $0 }) ?? true { next = first }
        }
        guard let origin = next?.owner, let turn = origins[origin].turns.first,
            let place = origins[origin].rings[ring(turn.owner, turn.priority)]
        else { return nil }
        virtualTime = max(virtualTime ?? turn.time, turn.time)
        lists[turn.owner].raise(to: turn.time + List.costs[turn.priority.rawValue].max())
        origins[origin].turns[turn.owner] = nil
        origins[origin].active += 1
        activeCount += 1
        if !origins[origin].isTrusted { activeUntrusted += 1 }
        places[place].isActive = true
        unlink(place)
        return places[place].key
    }

    private func ring(_ list: Int, _ priority: Priority) -> Int { list << 2 | priority.rawValue }

    /// Queues a place behind the others of its ring.
    mutating func link(_ number: Int) {
        let (origin, ring) = (places[number].origin, ring(places[number].list, places[number].priority))
        let next = origins[origin].rings[ring] ?? number
        let previous = next == number ? number : places[next].previous
        (places[number].previous, places[number].next) = (previous, next)
        (places[previous].next, places[next].previous) = (number, number)
        origins[origin].rings[ring] = next
        count(1, places[number].list, at: origin)
    }

    mutating func unlink(_ number: Int) {
        let (origin, ring) = (places[number].origin, ring(places[number].list, places[number].priority))
        let (previous, next) = (places[number].previous, places[number].next)
        (places[previous].next, places[next].previous) = (next, previous)
        if origins[origin].rings[ring] == number { origins[origin].rings[ring] = next == number ? nil : next }
        count(-1, places[number].list, at: origin)
    }

    /// Counts a URL that a list has more, or fewer, at an origin, and renews the turns of both.
    ///
    /// The turn of the list is for its best URL there: one that is for another priority is given back.
    private mutating func count(_ change: Int, _ list: Int, at origin: Int) {
        origins[origin].queued += change
        if origins[origin].restriction == 0 { heldCount += change }
        let last = origins[origin].turns[list]
        let best = Priority.allCases.first { origins[origin].rings[ring(list, $0)] != nil }
        if let last, last.priority != best {
            lists[list].times &-= List.costs[last.priority.rawValue]
            origins[origin].turns[list] = nil
        }
        if let best, best != last?.priority {
            lists[list].raise(to: earliest)
            lastNumber += 1
            let time = min(lists[list].times[best.rawValue], last?.time ?? .max)
            origins[origin].turns[list] = Turn(time: time, priority: best, number: lastNumber, owner: list)
            lists[list].times &+= List.costs[best.rawValue]
        }
        renewTurn(of: origin)
    }

    /// Gives an origin with a free slot the turn of its first list.
    mutating func renewTurn(of origin: Int) {
        let (slots, active, standing) = (slots(of: origin), origins[origin].active, origins[origin].standing)
        var turn = active < slots.all ? origins[origin].turns.first : nil
        turn?.owner = origin
        turn?.excess = active < slots.fair ? 0 : 1
        for other in Standing.allCases { turns[other.rawValue][origin] = other == standing ? turn : nil }
    }
}
