// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The entries of a list, packed.
///
/// There can be very many, and they stay in memory; each is created on access.
package struct AppEntries: Equatable, Sendable {
    /// The icon of each entry.
    package private(set) var icons: [IconURL]
    /// The digest that each entry gives for its image; empty if none gives one.
    private var digests: [Digest?] = []
    /// For each entry with any of them: its name, identity and download text, each with its ``Mark`` behind it.
    private var texts: [UInt8] = []
    /// The end of each entry's texts; empty if there are no texts.
    private var ends: [UInt32] = []

    /// Bytes that no UTF-8 text has.
    fileprivate enum Mark {
        /// There is no such text.
        static let missing: UInt8 = 0xFE
        static let end: UInt8 = 0xFF
    }

    package init(_ entries: [AppEntry] = []) {
        icons = entries.map(\.icon)
        if entries.contains(where: { $0.expected != nil }) { digests = entries.map(\.expected) }
        // A buffer that grows can have twice the capacity it needs.
        let size = entries.reduce(0) { $0 + Self.size(of: $1) }
        guard size > 0 else { return }
        texts.reserveCapacity(size)
        ends.reserveCapacity(entries.count)
        for entry in entries {
            if Self.size(of: entry) > 0 {
                append(entry.name)
                append(entry.id)
                append(entry.download)
            }
            ends.append(UInt32(texts.count))
        }
    }

    private static func size(of entry: AppEntry) -> Int {
        if entry.name == nil, entry.id == nil, entry.download == nil { return 0 }
        return 3 + (entry.name?.utf8.count ?? 0) + (entry.id?.utf8.count ?? 0) + (entry.download?.utf8.count ?? 0)
    }

    private mutating func append(_ text: String?) {
        if let text { texts.append(contentsOf: text.utf8) }
        texts.append(text == nil ? Mark.missing : Mark.end)
    }

    /// Replaces the texts of the URLs by equal ones that are in memory anyway.
    package mutating func share(_ urls: [IconURL]) {
        assert(urls == icons, "the URLs stay")
        icons = urls
    }

    /// The digest that an entry gives for its image.
    package func expected(at position: Int) -> Digest? { digests.isEmpty ? nil : digests[position] }

    /// Whether two entries have the same name, identity and download text.
    package func hasSameTexts(at position: Int, as other: AppEntries, at otherPosition: Int) -> Bool {
        texts(of: position) == other.texts(of: otherPosition)
    }

    private func texts(of position: Int) -> ArraySlice<UInt8> { texts[range(of: position)] }

    /// The place of an entry's texts.
    private func range(of position: Int) -> Range<Int> {
        if ends.isEmpty { return 0..<0 }
        return (position == 0 ? 0 : Int(ends[position - 1]))..<Int(ends[position])
    }
}

extension AppEntries: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { icons.count }

    package subscript(position: Int) -> AppEntry {
        let range = range(of: position)
        let (icon, expected) = (icons[position], expected(at: position))
        if range.isEmpty { return AppEntry(icon: icon, expected: expected) }
        return texts.withUnsafeBufferPointer { texts in
            var rest = UnsafeBufferPointer(rebasing: texts[range])
            let (name, id) = (rest.popText(), rest.popText())
            return AppEntry(name: name, id: id, icon: icon, download: rest.popText(), expected: expected)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate mutating func popText() -> String? {
        var end = 0
        while self[end] < AppEntries.Mark.missing { end += 1 }
        defer { self = Self(rebasing: self[(end + 1)...]) }
        return self[end] == AppEntries.Mark.missing
            ? nil : String(decoding: Self(rebasing: self[..<end]), as: UTF8.self)
    }
}

extension AppEntries: ExpressibleByArrayLiteral {
    package init(arrayLiteral entries: AppEntry...) { self.init(entries) }
}
