// SPDX-License-Identifier: Apache-2.0

/// Finds a dictionary of an array that has the key of an icon twice: the end of an app's dictionary is missing.
///
/// Decoders keep one of the values, so that an app would be lost without a word. Keys count as they are spelled.
struct RepeatedKeys: Sendable {
    private let sought: [(key: String, bytes: [UInt8])]
    /// The arrays and dictionaries that are open, outermost first, with the sought keys that they have so far, as bits.
    private var open: [(isArray: Bool, keys: UInt64)] = []
    /// The first key that is there twice, and its offset.
    private(set) var first: (key: String, offset: Int)?

    init(_ keys: [String] = []) { sought = keys.map { ($0, Array($0.utf8)) } }

    var depth: Int { open.count }

    mutating func begin(isArray: Bool) { open.append((isArray, 0)) }

    mutating func end() { _ = open.popLast() }

    /// Adds a key of the innermost dictionary, which counts only within an array: the keys of any other can be names.
    mutating func add(_ key: ArraySlice<UInt8>) {
        guard depth > 1, open[depth - 2].isArray, first == nil,
            let place = sought.firstIndex(where: { $0.bytes.count == key.count && $0.bytes[...] == key })
        else { return }
        let bit: UInt64 = 1 << place
        if open[depth - 1].keys & bit != 0 { first = (sought[place].key, key.startIndex) }
        open[depth - 1].keys |= bit
    }
}
