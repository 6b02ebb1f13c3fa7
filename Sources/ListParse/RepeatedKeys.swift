// SPDX-License-Identifier: Apache-2.0

/// Finds a dictionary within a list that has the key of an icon twice: the end of an app's dictionary is missing.
///
/// Decoders keep one of the values, so that an app would be lost without a word. Keys count as they are spelled.
struct RepeatedKeys: Sendable {
    private let sought: [(key: String, bytes: [UInt8])]
    /// For each array and dictionary that is open, outermost first, the sought keys that it has so far, as bits.
    private var open: [UInt64] = []
    /// The first key that is there twice, and its offset.
    private(set) var first: (key: String, offset: Int)?

    init(_ keys: [String] = []) { sought = keys.map { ($0, Array($0.utf8)) } }

    var depth: Int { open.count }

    mutating func begin() { open.append(0) }

    mutating func end() { _ = open.popLast() }

    /// Adds a key of the innermost dictionary, unless that is the outermost one, whose keys can be names of apps.
    mutating func add(_ key: ArraySlice<UInt8>) {
        guard depth > 1, first == nil,
            let place = sought.firstIndex(where: { $0.bytes.count == key.count && $0.bytes[...] == key })
        else { return }
        let bit: UInt64 = 1 << place
        if open[depth - 1] & bit != 0 { first = (sought[place].key, key.startIndex) }
        open[depth - 1] |= bit
    }
}
