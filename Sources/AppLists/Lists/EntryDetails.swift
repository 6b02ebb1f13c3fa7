// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What the entries of a list have beside their icons, packed.
package struct EntryDetails: Equatable, Sendable {
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

    package init(of entries: [AppEntry] = []) {
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

    /// The digest that an entry gives for its image.
    package func expected(at position: Int) -> Digest? { digests.isEmpty ? nil : digests[position] }

    /// Whether two entries have the same name, identity and download text.
    func hasSameTexts(at position: Int, as other: EntryDetails, at otherPosition: Int) -> Bool {
        texts[range(of: position)] == other.texts[other.range(of: otherPosition)]
    }

    /// The entry with this icon.
    package func entry(at position: Int, _ icon: IconURL) -> AppEntry {
        let range = range(of: position)
        if range.isEmpty { return AppEntry(icon: icon, expected: expected(at: position)) }
        return texts.withUnsafeBufferPointer { texts in
            var rest = UnsafeBufferPointer(rebasing: texts[range])
            let (name, id) = (rest.popText(), rest.popText())
            return AppEntry(
                name: name, id: id, icon: icon, download: rest.popText(), expected: expected(at: position))
        }
    }

    /// The place of an entry's texts.
    private func range(of position: Int) -> Range<Int> {
        if ends.isEmpty { return 0..<0 }
        return (position == 0 ? 0 : Int(ends[position - 1]))..<Int(ends[position])
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate mutating func popText() -> String? {
        var end = 0
        while self[end] < EntryDetails.Mark.missing { end += 1 }
        defer { self = Self(rebasing: self[(end + 1)...]) }
        return self[end] == EntryDetails.Mark.missing
            ? nil : String(decoding: Self(rebasing: self[..<end]), as: UTF8.self)
    }
}
