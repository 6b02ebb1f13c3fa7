// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reduces many names to few, as shells do for files: folders are offered first.
///
/// Few names are kept. More are cut after the next slash behind their common beginning, or, if that leaves too many,
/// after the next character. At least two results remain, so a shell completes the common beginning and does not end
/// the word.
struct CompletionFold {
    /// The limit on names offered one by one; shells ask before they print more.
    static let limit = 100

    /// All names; `nil` once there are more than the limit.
    private var few: Set<String>? = []
    /// The common beginning of all names, cut at a character boundary.
    private var common: [UInt8]?
    private var folders = Beginnings(limit: limit)
    private var characters = Beginnings(limit: 1000)

    /// The names or their cut beginnings, sorted and without duplicates.
    var names: [String] { (few ?? folders.texts ?? characters.texts ?? []).sorted() }

    mutating func add(_ name: String) {
        var name = name
        name.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    mutating func add(_ name: UnsafeRawBufferPointer) {
        few?.insert(String(decoding: name, as: UTF8.self))
        if few?.count ?? 0 > Self.limit { few = nil }
        narrow(to: name)
        let rest = UnsafeRawBufferPointer(rebasing: name[(common?.count ?? 0)...])
        let slash = rest.firstIndex(of: UInt8(ascii: "/"))
        folders.insert(name[..<(slash.map { name.count - rest.count + $0 + 1 } ?? name.count)])
        let next = rest.dropFirst().firstIndex { !Self.continues($0) }
        characters.insert(name[..<(next.map { name.count - rest.count + $0 } ?? name.count)])
    }

    /// Shortens the common beginning to what this name shares.
    private mutating func narrow(to name: UnsafeRawBufferPointer) {
        guard let common else { return common = Array(name) }
        let most = min(common.count, name.count)
        var shared = 0
        while shared < most, common[shared] == name[shared] { shared += 1 }
        guard shared < common.count else { return }
        while shared > 0, Self.continues(common[shared]) { shared -= 1 }
        // All names so far continue in the same way.
        if let slash = common[shared...].firstIndex(of: UInt8(ascii: "/")) { folders.replace(with: common[...slash]) }
        let next = common[(shared + 1)...].firstIndex { !Self.continues($0) } ?? common.count
        characters.replace(with: common[..<next])
        self.common = Array(common[..<shared])
    }

    /// Whether a byte is a UTF-8 continuation byte.
    private static func continues(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}

private struct Beginnings {
    private let limit: Int
    private var all: [[UInt8]] = []
    /// The index of the last match: similar names often follow each other.
    private var last = 0

    init(limit: Int) { self.limit = limit }

    /// The beginnings as text; `nil` if there were more than the limit.
    var texts: Set<String>? { all.count > limit ? nil : Set(all.map { String(decoding: $0, as: UTF8.self) }) }

    mutating func insert(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        guard all.count <= limit, !all.indices.contains(last) || !Self.equal(all[last], bytes) else { return }
        if let known = all.firstIndex(where: { Self.equal($0, bytes) }) {
            last = known
        } else {
            last = all.count
            all.append(Array(bytes))
        }
    }

    mutating func replace(with bytes: ArraySlice<UInt8>) { (all, last) = ([Array(bytes)], 0) }

    private static func equal(_ one: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count, let start = other.baseAddress else { return one.count == other.count }
        return memcmp(one, start, one.count) == 0
    }
}
