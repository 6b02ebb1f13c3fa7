// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DequeModule

/// What the queue knows of an origin, of a list, and of what a list wants of an origin.
extension FetchQueue {
    /// One URL's place among those that a list wants of an origin.
    struct Ticket {
        var url: IconURL
        var number: Int
    }

    /// What one list wants of an origin.
    struct Share {
        enum Turn: Equatable {
            /// It asks for a slot, with the turn of this number among its list's.
            case asking(Int)
            /// It waits to be offered a slot, in the place of this number.
            case waiting(Int)
        }

        private var tickets: [Deque<Ticket>] = Array(repeating: [], count: Priority.allCases.count)
        private var ticketCount = 0
        /// How many of its tickets are valid.
        var queued = 0
        var turn: Turn?
        /// Among which of its list's turns it asks.
        var asked = Priority.retry

        /// What goes first of it.
        var best: Priority? { Priority.allCases.first { !tickets[$0.rawValue].isEmpty } }

        /// Whether most tickets are no longer valid.
        var isSparse: Bool { ticketCount > 2 * queued + 32 }

        mutating func add(_ ticket: Ticket, _ priority: Priority) {
            tickets[priority.rawValue].append(ticket)
            ticketCount += 1
            queued += 1
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

    /// An origin.
    struct Lane {
        /// How many lists ask for its slots at once: the others wait until one of these has had its turn.
        static let mostAsking = 16

        /// What lists want of it, by list.
        var shares: [ListName: Share] = [:]
        /// The lists that ask for a slot; at most ``mostAsking``.
        var asking: [ListName] = []
        /// The lists that wait to be offered a slot, in order: first those that were served less than others.
        private var waiting: [Deque<(list: ListName, number: Int)>] = [[], []]
        var queued = 0
        var active = 0
        var isMultiplexed = false
        var standing = Standing.untried

        /// A download for a list begins, of what was queued.
        mutating func begin(_ list: ListName) -> Standing {
            queued -= 1
            active += 1
            shares[list]?.queued -= 1
            return standing
        }

        /// A download ends.
        mutating func end() -> Standing {
            active -= 1
            return standing
        }

        /// Lets a list wait, in the place of this number.
        mutating func wait(_ list: ListName, _ number: Int, first: Bool) {
            shares[list]?.turn = .waiting(number)
            let index = first ? 0 : 1
            waiting[index].append((list, number))
            guard waiting[index].count > 2 * shares.count + 32 else { return }
            let shares = shares
            waiting[index].removeAll { shares[$0.list]?.turn != .waiting($0.number) }
        }

        /// The list that is to ask for a slot next, if there may be one more; it does not wait from here on.
        mutating func nextToAsk() -> ListName? { asking.count < Self.mostAsking ? nextWaiting() : nil }

        /// The list that is offered a slot next; it does not wait from here on.
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

    /// A list, and what it was served.
    struct Flow {
        /// What a download costs a list, as it counts what it is served.
        static func cost(_ priority: Priority) -> Int { priority == .awaited ? 1 : 4 }
        /// By how much a list may be served before others that have been served all the time: sixteen downloads.
        static let credit = 64
        /// How many flows are kept in any case.
        static let fewest = 64

        /// The origins that it wants something of and that have a slot for it, by their standing and its priority.
        var turns: [[Deque<Turn>]] = Array(
            repeating: Array(repeating: [], count: Priority.allCases.count), count: Standing.allCases.count)
        /// How many of these are valid, by standing.
        var asking = Array(repeating: 0, count: Standing.allCases.count)
        /// The number of its turn among the lists that ask, by standing.
        var listTurns: [Int?] = Array(repeating: nil, count: Standing.allCases.count)
        /// What it was served, and what it is taken to have been before.
        var time: Int
        /// How many of its URLs are queued or being downloaded.
        var work = 0

        /// Takes the first turn that is still valid, for an origin of one of these standings; those before it go too.
        mutating func takeTurn(of standings: [Standing], where isValid: (Turn) -> Bool) -> Turn? {
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

    /// A list's place among those that ask; where its flow has been served more since, its place is further back.
    struct ListTurn: Comparable {
        var time: Int
        var number: Int
        var list: ListName

        static func < (a: ListTurn, b: ListTurn) -> Bool { (a.time, a.number) < (b.time, b.number) }
    }
}
