// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// All referenced and retired URLs in sorted order, with the entries that name them.
///
/// It is built outside the agent's loop, and only for clients that page through all icons.
package struct IconIndex: Sendable {
    private struct Mention: Sendable {
        var url: IconURL
        /// The list's index, and the index of the entry in it; −1 for an icon that no list names.
        var list: Int32
        var entry: Int32
    }

    package let version: Int
    private let mentions: [Mention]
    private let lists: [(name: ListName, entries: AppEntries)]

    /// - Complexity: O(*n* log *n*) in the number of entries.
    package init(_ source: IconMentions) {
        version = source.version
        lists = source.lists()
        var mentions = source.retired.map { Mention(url: $0, list: -1, entry: 0) }
        mentions.reserveCapacity(lists.reduce(mentions.count) { $0 + $1.entries.count })
        for (number, list) in lists.enumerated() {
            for (place, icon) in list.entries.icons.enumerated() {
                mentions.append(Mention(url: icon, list: Int32(number), entry: Int32(place)))
            }
        }
        mentions.sort { a, b in
            a.url == b.url ? (a.list, a.entry) < (b.list, b.entry) : a.url < b.url
        }
        self.mentions = mentions
    }

    package struct Entry: Equatable, Sendable {
        package var url: IconURL
        package var names: [String]
    }

    package func number(of list: ListName) -> Int? { lists.firstIndex { $0.name == list } }

    /// The next icons in order, none at the end; advances `place` to where the next call continues.
    ///
    /// `list` is the index of the list that must name the icons; `nil` for all icons.
    package func next(from place: inout Int, in list: Int?, atMost limit: Int) -> [Entry] {
        var entries: [Entry] = []
        while place < mentions.count, entries.count < limit {
            let url = mentions[place].url
            var end = place
            while end < mentions.count, mentions[end].url == url { end += 1 }
            let range = mentions[place..<end]
            if list.map({ list in range.contains { $0.list == list } }) ?? true {
                var names: [String] = []
                for mention in range where mention.list >= 0 {
                    let name = lists[Int(mention.list)].entries[Int(mention.entry)].name
                    if let name, !names.contains(name) { names.append(name) }
                }
                entries.append(Entry(url: url, names: names))
            }
            place = end
        }
        return entries
    }

    // MARK: Cursors

    /// The most bytes of a URL that a cursor contains.
    private static let longestKey = 512

    package func cursor(after url: IconURL) -> String {
        let bytes = Array(url.text.utf8)
        guard bytes.count > Self.longestKey else { return "0." + Self.hex(bytes) }
        // A longer URL is identified by its prefix, and by the number of earlier URLs with the same prefix.
        let key = Array(bytes.prefix(Self.longestKey))
        let start = lowerBound { Self.isLess($0, key) }
        let end = lowerBound { !(url < $0) }
        return "\(end - start)." + Self.hex(key)
    }

    /// The place of a cursor in the order of URLs; `nil` if the cursor is invalid.
    package func place(of cursor: String) -> Int? {
        let parts = cursor.split(atByte: ".", maxSplits: 1, omittingEmpty: false)
        guard parts.count == 2, parts[0].utf8.count <= 9, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let skip = Int(parts[0]), let key = Self.bytes(parts[1])
        else { return nil }
        if skip > 0 { return min(mentions.count, lowerBound { Self.isLess($0, key) } + skip) }
        return lowerBound { Self.isLess($0, key) || $0.text.utf8.elementsEqual(key) }
    }

    private func lowerBound(_ isBefore: (IconURL) -> Bool) -> Int {
        var (low, high) = (0, mentions.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(mentions[middle].url) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func isLess(_ url: IconURL, _ key: [UInt8]) -> Bool {
        url.text.utf8.lexicographicallyPrecedes(key)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func bytes(_ hex: String) -> [UInt8]? {
        guard hex.utf8.count.isMultiple(of: 2), hex.utf8.count <= 2 * longestKey else { return nil }
        let values = hex.utf8.map(PercentEncoding.digit)
        guard !values.contains(nil) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { (values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0) }
    }
}
