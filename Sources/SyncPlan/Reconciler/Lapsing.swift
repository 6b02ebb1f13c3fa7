// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// An entry that a user sets for a time, or until it is removed, such as a pause or a mute; a restart keeps it.
protocol Lapsing: Equatable, Sendable {
    associatedtype Key: Comparable

    /// The key: a table has one entry for each.
    var key: Key { get }
    /// When the entry ends by itself; `nil` if it does not.
    var until: Timestamp? { get set }
    /// When an entry with an end began; `nil` for one without an end, or if an agent of an older version stored it.
    var since: Timestamp? { get set }
}

extension Lapsing {
    fileprivate func beginning(at now: Timestamp) -> Self {
        var entry = self
        entry.since = until.map { _ in now }
        return entry
    }

    /// The entry with times of a clock that is ahead by `offset`.
    fileprivate func moved(by offset: Duration) -> Self {
        var entry = self
        entry.until = until.map { $0 + offset }
        entry.since = since.map { $0 + offset }
        return entry
    }

    /// The entry as an earlier run stored it.
    ///
    /// If it begins later than now, a wrong clock set its begin, and it begins now.
    fileprivate func restored(at now: Timestamp) -> Self {
        guard let since, let until, since > now else { return self }
        var entry = self
        entry.until = now + (until - since)
        return entry.beginning(at: now)
    }
}

/// The entries in force, one for each key.
///
/// The table is read at every turn, and rarely changed.
struct LapsingTable<Entry: Lapsing>: Equatable, Sendable {
    /// The entries, sorted by key.
    private(set) var all: [Entry] = []

    init() {}

    /// The entries that an earlier run stored.
    init(restoring stored: [Entry], at now: Timestamp) {
        for entry in stored { set(entry.restored(at: now)) }
    }

    var count: Int { all.count }
    var isEmpty: Bool { all.isEmpty }

    /// The entries with times of a clock that is ahead by `offset`.
    func moved(by offset: Duration) -> [Entry] { offset == .zero ? all : all.map { $0.moved(by: offset) } }

    subscript(key: Entry.Key) -> Entry? {
        let place = place(of: key)
        return place < all.count && all[place].key == key ? all[place] : nil
    }

    /// When the next entry ends by itself.
    var nextEnd: Timestamp? { all.lazy.compactMap(\.until).min() }

    /// Adds an entry that begins now, in place of any with the same key.
    mutating func begin(_ entry: Entry, at now: Timestamp) { set(entry.beginning(at: now)) }

    /// Removes the entry with this key, or all entries (`nil`); returns those that were removed.
    @discardableResult
    mutating func end(_ key: Entry.Key?) -> [Entry] { end { key == nil || $0.key == key } }

    /// Removes the entries whose time is over, and returns them.
    @discardableResult
    mutating func end(at now: Timestamp) -> [Entry] { end { entry in entry.until.map { $0 <= now } ?? false } }

    private mutating func end(where isOver: (Entry) -> Bool) -> [Entry] {
        let over = all.filter(isOver)
        if !over.isEmpty { all.removeAll(where: isOver) }
        return over
    }

    private mutating func set(_ entry: Entry) {
        let place = place(of: entry.key)
        let isKnown = place < all.count && all[place].key == entry.key
        all.replaceSubrange(place..<(isKnown ? place + 1 : place), with: CollectionOfOne(entry))
    }

    /// The index of the first entry whose key is not before this one.
    private func place(of key: Entry.Key) -> Int { all.partitioningIndex { !($0.key < key) } }
}
