// SPDX-License-Identifier: Apache-2.0

/// Values with a limit on their total cost: beyond it, the least recently used are evicted.
///
/// Every operation takes constant time, besides the evictions.
struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var key: Key
        var value: Value
        var cost: Int
    }

    /// The neighbours of a slot, in the order of use.
    private struct Link {
        var newer = 0
        var older = 0
    }

    let limit: Int
    private(set) var cost = 0

    /// The slot index of each key.
    private var places: [Key: Int] = [:]
    /// The first slot stays empty: its neighbours are the newest and the oldest, so the links form a ring.
    private var slots: [Slot?] = [nil]
    private var links = [Link()]
    private var free: [Int] = []

    init(limit: Int) {
        precondition(limit >= 0, "a cost limit cannot be negative")
        self.limit = limit
    }

    /// The value of a key, which becomes the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        linkAsNewest(place)
        return slots[place]?.value
    }

    /// Inserts a value as the most recently used, replacing the key's old one.
    ///
    /// A value that costs more than the limit is not kept, and evicts nothing.
    mutating func insert(_ value: Value, cost: Int, for key: Key) {
        remove(key)
        guard cost <= limit else { return }
        let place = freePlace()
        places[key] = place
        slots[place] = Slot(key: key, value: value, cost: cost)
        linkAsNewest(place)
        self.cost += cost
        while self.cost > limit, let oldest = slots[links[0].newer] { remove(oldest.key) }
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        cost -= slots[place]?.cost ?? 0
        slots[place] = nil
        free.append(place)
    }

    mutating func removeAll() {
        self = RecentlyUsed(limit: limit)
    }

    private mutating func freePlace() -> Int {
        if let place = free.popLast() { return place }
        slots.append(nil)
        links.append(Link())
        return slots.count - 1
    }

    private mutating func unlink(_ place: Int) {
        let link = links[place]
        links[link.newer].older = link.older
        links[link.older].newer = link.newer
    }

    private mutating func linkAsNewest(_ place: Int) {
        let newest = links[0].older
        links[place] = Link(newer: 0, older: newest)
        links[newest].newer = place
        links[0].older = place
    }
}
