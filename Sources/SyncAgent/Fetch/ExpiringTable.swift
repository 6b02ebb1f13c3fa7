// SPDX-License-Identifier: Apache-2.0

/// Values that are used again for some time.
///
/// Those whose time is over are removed when there are twice as many as were left the last time, so that each insertion takes
/// constant time on average, however many are valid at once.
struct ExpiringTable<Key: Hashable, Value> {
    /// How many there are before any is removed.
    private static var least: Int { 1000 }

    private var entries: [Key: (value: Value, end: ContinuousClock.Instant)] = [:]
    private var limit = Self.least
    /// How many entries were looked at to see whether their time is over.
    private(set) var looks = 0

    var count: Int { entries.count }

    /// The value of a key; `nil` if there is none, or its time is over.
    func value(of key: Key, at now: ContinuousClock.Instant) -> (value: Value, end: ContinuousClock.Instant)? {
        entries[key].flatMap { $0.end > now ? $0 : nil }
    }

    mutating func insert(
        _ value: Value, for key: Key, until end: ContinuousClock.Instant, at now: ContinuousClock.Instant
    ) {
        if entries.count >= limit {
            looks += entries.count
            entries = entries.filter { $0.value.end > now }
            limit = max(Self.least, 2 * entries.count)
        }
        entries[key] = (value, end)
    }

    mutating func remove(_ key: Key) { entries[key] = nil }
}
