// SPDX-License-Identifier: Apache-2.0

/// A table whose values expire.
///
/// Expired entries are removed once the table has doubled since the last cleanup, so that an insertion takes amortised
/// constant time, however many entries are valid.
struct ExpiringTable<Key: Hashable, Value> {
    /// The size below which nothing is removed.
    private static var least: Int { 1000 }

    private var entries: [Key: (value: Value, end: ContinuousClock.Instant)] = [:]
    private var limit = Self.least
    /// How many entries all cleanups have visited.
    private(set) var looks = 0

    var count: Int { entries.count }

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
