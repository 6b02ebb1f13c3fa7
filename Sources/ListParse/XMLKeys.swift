// SPDX-License-Identifier: Apache-2.0

/// The keys among some given ones that an XML property list may contain, by the text between `<key>` and `</key>`.
///
/// Looking a key up in a decoded dictionary costs some 1,700 instructions: for five keys that no entry has, a tenth of
/// the cost of reading a list.
struct XMLKeys {
    private let sought: [(key: String, bytes: [UInt8])]
    private var found: [Bool]
    /// Whether a key is not spelled with plain bytes.
    private var hasOther = false

    init(_ keys: [String]) {
        sought = keys.map { ($0, Array($0.utf8)) }
        found = sought.map { !$0.bytes.allSatisfy(Self.isPlain) }
    }

    /// The keys that a dictionary may have; none has any other.
    var possible: [String] { hasOther ? sought.map(\.key) : zip(sought, found).filter(\.1).map(\.0.key) }

    /// Adds the text between two tags.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        guard bytes.allSatisfy(Self.isPlain) else { return hasOther = true }
        for index in sought.indices where sought[index].bytes.count == bytes.count && sought[index].bytes[...] == bytes
        {
            found[index] = true
        }
    }

    /// Whether a byte stands for itself: it is not part of a reference, comment or section, nor of a character beyond
    /// ASCII, which can be canonically equivalent to others.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
    }
}
