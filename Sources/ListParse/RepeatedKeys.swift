// SPDX-License-Identifier: Apache-2.0

/// Finds an app's dictionary that has the key of an icon twice: the end of the dictionary before is missing.
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

    /// Adds a key of the innermost dictionary.
    ///
    /// That counts only within an array at the top or of the dictionary there, where apps are: keys elsewhere can be names,
    /// or tell something else of an app.
    mutating func add(_ key: ArraySlice<UInt8>) {
        guard depth == 2 || depth == 3, open[depth - 2].isArray, first == nil,
            let place = sought.firstIndex(where: { $0.bytes.count == key.count && $0.bytes[...] == key })
        else { return }
        let bit: UInt64 = 1 << place
        if open[depth - 1].keys & bit != 0 { first = (sought[place].key, key.startIndex) }
        open[depth - 1].keys |= bit
    }
}
