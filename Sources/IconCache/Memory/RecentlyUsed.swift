// SPDX-License-Identifier: Apache-2.0

/// Values that together cost no more than a limit: those go first that were not used for the longest time.
///
/// The entries are a list from the newest to the oldest, whose links are keys. Every operation takes constant time, but
/// for the values that have to go.
struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var cost: Int
        var newer: Key?
        var older: Key?
    }

    /// What all values may cost together.
    let limit: Int
    /// What all values cost together.
    private(set) var cost = 0

    private var entries: [Key: Entry] = [:]
    private var newest: Key?
    private var oldest: Key?

    init(limit: Int) {
        precondition(limit >= 0, "a cost limit cannot be negative")
        self.limit = limit
    }

    /// The value of a key, which is the newest from now on.
    mutating func use(_ key: Key) -> Value? {
        guard let entry = take(key) else { return nil }
        put(entry.value, cost: entry.cost, as: key)
        return entry.value
    }

    /// Keeps a value as the newest, in place of the one that the key had.
    ///
    /// One that costs more than the limit is not kept, and takes no other one's place.
    mutating func insert(_ value: Value, cost: Int, for key: Key) {
        remove(key)
        guard cost <= limit else { return }
        put(value, cost: cost, as: key)
        while self.cost > limit, let oldest { remove(oldest) }
    }

    mutating func remove(_ key: Key) {
        _ = take(key)
    }

    mutating func removeAll() {
        self = RecentlyUsed(limit: limit)
    }

    private mutating func put(_ value: Value, cost: Int, as key: Key) {
        entries[key] = Entry(value: value, cost: cost, newer: nil, older: newest)
        if let newest { entries[newest]?.newer = key } else { oldest = key }
        newest = key
        self.cost += cost
    }

    private mutating func take(_ key: Key) -> Entry? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
        cost -= entry.cost
        return entry
    }
}
