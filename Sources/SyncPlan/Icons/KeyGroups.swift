// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The icons whose URLs have one key (``CacheKeys``), each group in order, the one to request last; empty without rules.
struct KeyGroups: Sendable {
    /// What comes before the time in the order of a group.
    enum Rank: Comparable, Sendable {
        case retired
        case named
        /// A list that has a credential for the icon names it.
        case credentialed
    }

    /// A place in the order of a group; the time grows with each icon that is named or retired.
    private struct Place: Comparable {
        let rank: Rank
        let time: Int

        static func < (a: Place, b: Place) -> Bool { (a.rank, a.time) < (b.rank, b.time) }
    }

    private typealias Member = (url: IconURL, place: Place)

    private var keys: [IconURL: (key: IconURL, place: Place)] = [:]
    /// The icons of each key, by place.
    private var groups: [IconURL: [Member]] = [:]
    private var time = 0

    var isEmpty: Bool { keys.isEmpty }
    var urls: Set<IconURL> { Set(keys.keys) }

    /// Adds an icon that is named or retired now, as the newest of its rank.
    ///
    /// - Complexity: O(log *n*) comparisons in the number of icons of the group.
    mutating func add(_ url: IconURL, key: IconURL, _ rank: Rank) {
        time += 1
        insert(url, key, Place(rank: rank, time: time))
    }

    private mutating func insert(_ url: IconURL, _ key: IconURL, _ place: Place) {
        remove(url)
        keys[url] = (key, place)
        let index = groups[key]?.partitioningIndex { place < $0.place } ?? 0
        groups[key, default: []].insert((url, place), at: index)
    }

    /// Ranks icons again: those that are retired now follow the ones that were before, and others keep their times.
    mutating func rank(_ ranks: [IconURL: Rank]) {
        let known = ranks.compactMap { url, rank in keys[url].map { (url: url, key: $0.key, place: $0.place, rank) } }
        for (url, key, place, rank) in known.sorted(by: { $0.place < $1.place }) where rank != place.rank {
            if rank == .retired {
                add(url, key: key, rank)
            } else {
                insert(url, key, Place(rank: rank, time: place.time))
            }
        }
    }

    mutating func remove(_ url: IconURL) {
        guard let (key, place) = keys.removeValue(forKey: url) else { return }
        if let index = groups[key]?.partitioningIndex(where: { !($0.place < place) }) {
            groups[key]?.remove(at: index)
        }
        if groups[key]?.isEmpty == true { groups[key] = nil }
    }

    /// The icon that is requested for all with the same key, and its rank; `nil` for an icon without a key.
    func requested(for url: IconURL) -> (url: IconURL, rank: Rank)? {
        keys[url].flatMap { groups[$0.key]?.last }.map { ($0.url, $0.place.rank) }
    }

    /// The last icon with a key that satisfies a condition.
    func last(of key: IconURL, where condition: (IconURL) -> Bool = { _ in true }) -> IconURL? {
        groups[key]?.last { condition($0.url) }?.url
    }

    /// The others with the same key, in order.
    func others(of url: IconURL) -> [IconURL] {
        guard let (key, _) = keys[url], let group = groups[key], group.count > 1 else { return [] }
        return group.lazy.map(\.url).filter { $0 != url }
    }

    /// The groups of more than one icon, by their first icons.
    var shared: [[IconURL]] {
        groups.values.filter { $0.count > 1 }.map { $0.map(\.url) }.sorted { $0[0] < $1[0] }
    }

    func keys(of urls: Set<IconURL>) -> Set<IconURL> { Set(urls.lazy.compactMap { keys[$0]?.key }) }

    /// The members of the groups of these icons, without groups of one.
    func members(sharing urls: Set<IconURL>) -> Set<IconURL> {
        let found = keys(of: urls).lazy.compactMap { groups[$0] }
        return Set(found.filter { $0.count > 1 }.joined().lazy.map(\.url))
    }
}
