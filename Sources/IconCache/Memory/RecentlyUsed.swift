// SPDX-License-Identifier: Apache-2.0

/// Values that together cost no more than a limit: those go first that were not used for the longest time.
///
/// Every operation takes constant time, but for the values that have to go.
struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var key: Key
        var value: Value
        var cost: Int
    }

    /// The neighbours of a slot in the order of use.
    private struct Link {
        var newer = 0
        var older = 0
    }

    /// What all values may cost together.
    let limit: Int
    /// What all values cost together.
    private(set) var cost = 0

    /// Where the slot of each key is.
    private var places: [Key: Int] = [:]
    /// The first one stays empty: the newest and the oldest are its neighbours, so that the links make a ring.
    private var slots: [Slot?] = [nil]
    private var links = [Link()]
    private var free: [Int] = []

    init(limit: Int) {
        precondition(limit >= 0, "a cost limit cannot be negative")
        self.limit = limit
    }

    /// The value of a key, which is the newest from now on.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        linkAsNewest(place)
        return slots[place]?.value
    }

    /// Keeps a value as the newest, in place of the one that the key had.
    ///
    /// One that costs more than the limit is not kept, and takes no other one's place.
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
