// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DequeModule

/// The queue's state per origin, per list, and per list and origin.
extension FetchQueue {
    /// The place of one URL among those that a list has queued for an origin.
    struct Ticket {
        var url: IconURL
        var number: Int
    }

    /// The URLs that one list has queued for an origin.
    struct Share {
        enum Turn: Equatable {
            /// The list asks for a slot; the number identifies its turn.
            case asking(Int)
            /// The list waits to be offered a slot; the number identifies its place.
            case waiting(Int)
        }

        private var tickets: [Deque<Ticket>] = Array(repeating: [], count: Priority.allCases.count)
        private var ticketCount = 0
        var queued = 0
        var turn: Turn?
        var asked = Priority.retry

        var best: Priority? { Priority.allCases.first { !tickets[$0.rawValue].isEmpty } }

        fileprivate mutating func add(_ ticket: Ticket, _ priority: Priority) -> (turn: Turn?, isSparse: Bool) {
            tickets[priority.rawValue].append(ticket)
            ticketCount += 1
            queued += 1
            return (turn, ticketCount > 2 * queued + 32)
        }

        mutating func next() -> (Ticket, Priority)? {
            guard let priority = best, let ticket = tickets[priority.rawValue].popFirst() else { return nil }
            ticketCount -= 1
            return (ticket, priority)
        }

        mutating func sweep(keeping isValid: (Ticket) -> Bool) {
            for index in tickets.indices { tickets[index].removeAll { !isValid($0) } }
            ticketCount = tickets.reduce(0) { $0 + $1.count }
        }
    }

    struct Lane {
        /// How many lists may ask for slots at once; the others wait until one of these is served.
        static let mostAsking = 16

        var shares: [ListName: Share] = [:]
        /// The lists that ask for a slot; at most ``mostAsking``.
        var asking: [ListName] = []
        /// The lists that wait to be offered a slot, in order; those served less than others come first.
        private var waiting: [Deque<(list: ListName, number: Int)>] = [[], []]
        var queued = 0
        var active = 0
        var isMultiplexed = false
        var standing = Standing.untried

        /// Adds a ticket; returns the turn of its list, and whether most of the list's tickets are invalid.
        mutating func add(
            _ ticket: Ticket, of list: ListName, _ priority: Priority
        ) -> (turn: Share.Turn?, isSparse: Bool) {
            queued += 1
            return shares[list, default: Share()].add(ticket, priority)
        }

        mutating func begin(_ list: ListName) -> Standing {
            queued -= 1
            active += 1
            shares[list]?.queued -= 1
            return standing
        }

        mutating func end() -> Standing {
            active -= 1
            return standing
        }

        mutating func wait(_ list: ListName, _ number: Int, first: Bool) {
            shares[list]?.turn = .waiting(number)
            let index = first ? 0 : 1
            waiting[index].append((list, number))
            guard waiting[index].count > 2 * shares.count + 32 else { return }
            let shares = shares
            waiting[index].removeAll { shares[$0.list]?.turn != .waiting($0.number) }
        }

        /// Dequeues the list that may ask for a slot next, if one more may ask.
        mutating func nextToAsk() -> ListName? { asking.count < Self.mostAsking ? nextWaiting() : nil }

        mutating func nextWaiting() -> ListName? {
            for index in waiting.indices {
                while let (list, number) = waiting[index].popFirst() {
                    guard shares[list]?.turn == .waiting(number) else { continue }
                    shares[list]?.turn = nil
                    return list
                }
            }
            return nil
        }
    }

    /// A list's turn to start a download from an origin.
    struct Turn {
        var origin: String
        var number: Int
    }

    /// A list, and the service it has received.
    struct Flow {
        /// What a download adds to a list's ``time``.
        static func cost(_ priority: Priority) -> Int { priority == .awaited ? 1 : 4 }
        /// How far a new list may be served ahead of the others: sixteen downloads.
        static let credit = 64
        /// The number of flows that are always kept.
        static let fewest = 64

        /// The turns at origins with a free slot, by the origin's standing and the priority.
        var turns: [[Deque<Turn>]] = Array(
            repeating: Array(repeating: [], count: Priority.allCases.count), count: Standing.allCases.count)
        /// The number of valid turns, by standing.
        var asking = Array(repeating: 0, count: Standing.allCases.count)
        /// The number of its turn among the asking lists, by standing.
        var listTurns: [Int?] = Array(repeating: nil, count: Standing.allCases.count)
        /// The service it has received, including what it is credited with at its start.
        var time: Int
        /// How many of its URLs are queued or in flight.
        var work = 0

        /// Removes and returns the first valid turn for an origin of one of these standings.
        ///
        /// Invalid turns before it are removed too.
        mutating func dequeueTurn(of standings: [Standing], where isValid: (Turn) -> Bool) -> Turn? {
            for priority in Priority.allCases.indices {
                var first: (turn: Turn, standing: Int)?
                for standing in standings.lazy.map(\.rawValue) where asking[standing] > 0 {
                    while let turn = turns[standing][priority].first, !isValid(turn) {
                        turns[standing][priority].removeFirst()
                    }
                    guard let turn = turns[standing][priority].first else { continue }
                    if first.map({ turn.number < $0.turn.number }) ?? true { first = (turn, standing) }
                }
                guard let first else { continue }
                return turns[first.standing][priority].removeFirst()
            }
            return nil
        }
    }

    /// A list's place among the asking lists; it moves back if its flow has been served since.
    struct ListTurn: Comparable {
        var time: Int
        var number: Int
        var list: ListName

        static func < (a: ListTurn, b: ListTurn) -> Bool { (a.time, a.number) < (b.time, b.number) }
    }
}
