// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DequeModule
import HeapModule

/// Whose turn it is: the list, and one of its origins with a free slot.
///
/// An origin with a free slot lets some of the lists that want it ask. If it has none left when their turn comes, they
/// wait, and it offers slots that become free to the waiting lists. So no step looks at all lists of an origin.
extension FetchQueue {
    // MARK: Lists

    /// Counts a URL that a list has queued.
    mutating func addWork(of list: ListName) {
        if let flow = flows.index(forKey: list), flows.values[flow].work > 0 {
            flows.values[flow].work += 1
        } else {
            addFlow(list)
        }
    }

    private mutating func addFlow(_ list: ListName) {
        flows[list, default: Flow(time: .min)].time = max(flows[list]?.time ?? .min, virtualTime - Flow.credit)
        flows[list]?.work = 1
        guard flows.count > flowLimit else { return }
        let earliest = virtualTime - Flow.credit
        flows = flows.filter { $0.value.work > 0 || $0.value.time > earliest || $0.key == list }
        flowLimit = max(Flow.fewest, 2 * flows.count)
    }

    mutating func charge(_ list: ListName, _ priority: Priority) {
        let time = max(flows[list]?.time ?? virtualTime, virtualTime - Flow.credit)
        virtualTime = max(virtualTime, time)
        flows[list]?.time = time + Flow.cost(priority)
    }

    /// The least served of the lists that ask origins of this standing.
    private mutating func firstListTurn(_ standing: Standing) -> ListTurn? {
        let index = standing.rawValue
        while var listTurn = listTurns[index].min {
            guard let flow = flows[listTurn.list], flow.listTurns[index] == listTurn.number, flow.asking[index] > 0
            else {
                listTurns[index].removeMin()
                if flows[listTurn.list]?.listTurns[index] == listTurn.number {
                    flows[listTurn.list]?.listTurns[index] = nil
                }
                continue
            }
            let time = max(flow.time, virtualTime - Flow.credit)
            if listTurn.time == time { return listTurn }
            lastNumber += 1
            listTurn.time = time
            listTurn.number = lastNumber
            listTurns[index].replaceMin(with: listTurn)
            flows[listTurn.list]?.listTurns[index] = listTurn.number
        }
        return nil
    }

    // MARK: Turns

    mutating func nextTurn() -> (list: ListName, origin: String)? {
        while true {
            let admitted = Standing.allCases.filter(isAdmitted)
            guard let list = admitted.compactMap({ firstListTurn($0) }).min()?.list,
                let origin = dequeueTurn(of: list, admitted)
            else { return nil }
            let slots = slots(of: origin)
            let active = lanes[origin]?.active ?? slots.all
            if active < slots.fair { return (list, origin) }
            wait(list, at: origin)
            if active < slots.all { greedy.insert(origin) }
        }
    }

    /// A turn at an origin that has its fair share already, once no other origin can use the slot.
    mutating func nextGreedyTurn() -> (list: ListName, origin: String)? {
        while let origin = greedy.min(by: { (lanes[$0]?.active ?? 0, $0) < (lanes[$1]?.active ?? 0, $1) }) {
            if let active = lanes[origin]?.active, active < slots(of: origin).all,
                let standing = lanes[origin]?.standing, isAdmitted(standing), let list = lanes[origin]?.nextWaiting()
            {
                return (list, origin)
            }
            greedy.remove(origin)
        }
        return nil
    }

    private mutating func dequeueTurn(of list: ListName, _ admitted: [Standing]) -> String? {
        guard let origin = dequeueValidTurn(of: list, admitted)?.origin else { return nil }
        withdraw(list, origin)
        return origin
    }

    /// Removes and returns a list's first valid turn.
    ///
    /// A separate function, so that the copy of `lanes` is released before `lanes` changes: otherwise all of it would
    /// be copied.
    private mutating func dequeueValidTurn(of list: ListName, _ admitted: [Standing]) -> Turn? {
        let lanes = lanes
        return flows[list]?.dequeueTurn(of: admitted) {
            lanes[$0.origin]?.shares[list]?.turn == .asking($0.number)
        }
    }

    // MARK: Asking and waiting

    private mutating func ask(_ list: ListName, _ origin: String) {
        guard let standing = lanes[origin]?.standing.rawValue, let priority = lanes[origin]?.shares[list]?.best
        else { return }
        lastNumber += 1
        lanes[origin]?.shares[list]?.turn = .asking(lastNumber)
        lanes[origin]?.shares[list]?.asked = priority
        lanes[origin]?.asking.append(list)
        flows[list]?.asking[standing] += 1
        flows[list]?.turns[standing][priority.rawValue].append(Turn(origin: origin, number: lastNumber))
        sweepTurns(of: list, standing, priority.rawValue)
        guard let flow = flows[list], flow.listTurns[standing] == nil else { return }
        lastNumber += 1
        flows[list]?.listTurns[standing] = lastNumber
        listTurns[standing].insert(ListTurn(time: flow.time, number: lastNumber, list: list))
    }

    /// Removes invalid turns once they are the majority.
    private mutating func sweepTurns(of list: ListName, _ standing: Int, _ priority: Int) {
        guard let flow = flows[list], flow.turns[standing][priority].count > 2 * flow.asking[standing] + 32 else {
            return
        }
        let turns = flow.turns[standing][priority]
        flows[list]?.turns[standing][priority] = turns.filter {
            lanes[$0.origin]?.shares[list]?.turn == .asking($0.number)
        }
    }

    private mutating func withdraw(_ list: ListName, _ origin: String) {
        guard let index = lanes[origin]?.asking.firstIndex(of: list), let standing = lanes[origin]?.standing.rawValue
        else { return }
        lanes[origin]?.asking.remove(at: index)
        lanes[origin]?.shares[list]?.turn = nil
        flows[list]?.asking[standing] -= 1
    }

    mutating func wait(_ list: ListName, at origin: String) {
        lastNumber += 1
        let isBehind = flows[list].map { $0.time < virtualTime } ?? false
        lanes[origin]?.wait(list, lastNumber, first: isBehind)
    }

    /// Handles a new ticket of a list; `turn` is the list's turn before it.
    mutating func recordTicket(of list: ListName, _ origin: String, _ priority: Priority, whoseTurn turn: Share.Turn?) {
        switch turn {
        case nil: wait(list, at: origin)
        case .waiting: return
        case .asking:
            guard let asked = lanes[origin]?.shares[list]?.asked, priority.rawValue < asked.rawValue else { return }
            withdraw(list, origin)
            ask(list, origin)
        }
        offerSlots(of: origin)
    }

    mutating func forgetShareIfEmpty(_ list: ListName, _ origin: String) {
        guard lanes[origin]?.shares[list]?.queued == 0 else { return }
        withdraw(list, origin)
        lanes[origin]?.shares[list] = nil
    }

    // MARK: Slots

    /// Lets waiting lists ask for an origin's free slots.
    mutating func offerSlots(of origin: String) {
        guard let (active, standing) = lanes[origin].map({ ($0.active, $0.standing) }) else { return }
        let slots = slots(of: origin)
        guard active < slots.all else { return }
        if standing != .trusted {
            setStanding(of: origin, active == 0 && restrictions[origin] == nil ? .untried : .doubtful)
        }
        guard active < slots.fair else {
            greedy.insert(origin)
            return
        }
        while let list = lanes[origin]?.nextToAsk() { ask(list, origin) }
    }

    /// Changes an origin's standing, and renews the turns of the lists that ask it.
    mutating func setStanding(of origin: String, _ standing: Standing) {
        guard lanes[origin].map({ $0.standing != standing }) ?? false else { return }
        let asking = lanes[origin]?.asking ?? []
        for list in asking { withdraw(list, origin) }
        lanes[origin]?.standing = standing
        for list in asking { ask(list, origin) }
    }
}
