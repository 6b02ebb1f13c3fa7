// SPDX-License-Identifier: Apache-2.0

/// Which of some keys an XML property list may have, told from what is between its `<key>` and `</key>`.
///
/// To ask a decoded dictionary whether it has a key costs some 1,700 instructions: for five keys that no entry has, a tenth
/// of what reading a list costs.
struct XMLKeys {
    private let sought: [(key: String, bytes: [UInt8])]
    private var found: [Bool]
    /// Whether there is a key that is spelled in another way than by its own bytes.
    private var hasOther = false

    init(_ keys: [String]) {
        sought = keys.map { ($0, Array($0.utf8)) }
        found = sought.map { !$0.bytes.allSatisfy(Self.isPlain) }
    }

    /// Those that a dictionary may have: no dictionary has any of the others.
    var possible: [String] { hasOther ? sought.map(\.key) : zip(sought, found).filter(\.1).map(\.0.key) }

    /// Notes what is between two tags.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        guard bytes.allSatisfy(Self.isPlain) else { return hasOther = true }
        for index in sought.indices where sought[index].bytes.count == bytes.count && sought[index].bytes[...] == bytes
        {
            found[index] = true
        }
    }

    /// Whether a byte stands for itself: not in references, comments and sections, and not in characters beyond ASCII, of
    /// which some are canonically equivalent to others.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
    }
}
