// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// Which URL is downloaded next: at most one download a URL, a limit in all and for each origin, a fair turn between origins.
///
/// Every operation takes constant time, amortised. A URL that is taken out is only forgotten; its place in the queue is
/// passed over when its turn comes.
package struct FetchQueue: Sendable {
    /// What goes before what.
    package enum Priority: Int, CaseIterable, Sendable {
        /// An icon that readers wait for.
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

    private struct Lane {
        var tickets: [Deque<Ticket>] = Array(repeating: [], count: Priority.allCases.count)
        /// Whether the lane stands in the rota of each priority.
        var isInRota = Array(repeating: false, count: Priority.allCases.count)
        var active = 0

        var isIdle: Bool { active == 0 && tickets.allSatisfy(\.isEmpty) }
    }

    private let concurrency: Int
    private let perOrigin: Int
    private var lanes: [String: Lane] = [:]
    private var rotas: [Deque<String>] = Array(repeating: [], count: Priority.allCases.count)
    /// The queued URLs, each with the number of its valid ticket.
    private var queued: [String: Int] = [:]
    private var activeOrigins: [String: String] = [:]
    private var lastNumber = 0

    package init(concurrency: Int, perOrigin: Int) {
        precondition(concurrency > 0 && perOrigin > 0, "limits must be positive")
        self.concurrency = concurrency
        self.perOrigin = perOrigin
    }

    /// How many URLs wait for their turn.
    package var queuedCount: Int { queued.count }
    /// How many are being downloaded.
    package var activeCount: Int { activeOrigins.count }
    package var isEmpty: Bool { queued.isEmpty && activeOrigins.isEmpty }

    /// The URLs that are being downloaded, in no order.
    package var activeURLs: some Collection<String> { activeOrigins.keys }

    /// Puts a URL in the queue.
    ///
    /// One that waits or is being downloaded already is left where it is.
    package mutating func add(_ url: String, origin: String, priority: Priority) {
        guard queued[url] == nil, activeOrigins[url] == nil else { return }
        lastNumber += 1
        queued[url] = lastNumber
        lanes[origin, default: Lane()].tickets[priority.rawValue].append(Ticket(url: url, number: lastNumber))
        enterRota(origin, priority.rawValue)
    }

    /// Takes a waiting URL out of the queue; one that is being downloaded stays active until `finish`.
    package mutating func remove(_ url: String) {
        queued[url] = nil
    }

    /// The URLs to start now, each of which counts as active from here on.
    package mutating func start() -> [String] {
        var started: [String] = []
        for priority in Priority.allCases.map(\.rawValue) {
            while activeOrigins.count < concurrency, let origin = rotas[priority].popFirst() {
                lanes[origin]?.isInRota[priority] = false
                guard let url = takeTicket(of: origin, priority) else { continue }
                started.append(url)
                activeOrigins[url] = origin
                enterRota(origin, priority)
            }
        }
        return started
    }

    /// Gives a download's slot back.
    package mutating func finish(_ url: String) {
        guard let origin = activeOrigins.removeValue(forKey: url) else { return }
        lanes[origin]?.active -= 1
        for priority in Priority.allCases { enterRota(origin, priority.rawValue) }
        if lanes[origin]?.isIdle == true { lanes[origin] = nil }
    }

    /// The next valid ticket of an origin that has a free slot.
    private mutating func takeTicket(of origin: String, _ priority: Int) -> String? {
        guard var lane = lanes.removeValue(forKey: origin) else { return nil }
        defer { if !lane.isIdle { lanes[origin] = lane } }
        guard lane.active < perOrigin else { return nil }
        while let ticket = lane.tickets[priority].popFirst() {
            guard queued[ticket.url] == ticket.number else { continue }
            queued[ticket.url] = nil
            lane.active += 1
            return ticket.url
        }
        return nil
    }

    private mutating func enterRota(_ origin: String, _ priority: Int) {
        guard let lane = lanes[origin], lane.active < perOrigin, !lane.tickets[priority].isEmpty,
            !lane.isInRota[priority]
        else { return }
        lanes[origin]?.isInRota[priority] = true
        rotas[priority].append(origin)
    }
}
