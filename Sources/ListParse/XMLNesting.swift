// SPDX-License-Identifier: Apache-2.0
import AppLists

enum XMLNesting {
    /// Counts the keys of the outermost dictionary, or those that may be a given one, and notes repeated keys and those
    /// identity keys that a dictionary may have; `nil` if the nesting exceeds the limit.
    static func topKeys(_ bytes: [UInt8], thatMayBe key: String? = nil, _ outline: inout PropertyListOutline) -> Int? {
        var pieces = XMLPieces(bytes)
        var topKeys = 0
        var identityKeys = XMLKeys(outline.limits.identityKeys)
        var keyStart = 0
        while let piece = pieces.next() {
            guard case .tag(let name, let isEnd, let isEmpty, _) = piece else { continue }
            // Like the parser, accept names that only begin with “array” or “dict”.
            let isArray = pieces.has("array", at: name)
            if isArray || pieces.has("dict", at: name) {
                if isEnd {
                    outline.repeated.end()
                } else if !isEmpty {
                    outline.repeated.begin(isArray: isArray)
                    if outline.repeated.depth > ListLimits.maxDepth { return nil }
                }
            } else if pieces.has("key", at: name) {
                let text = isEnd ? bytes[keyStart..<(name - 2)] : []
                if isEnd {
                    identityKeys.add(text)
                    outline.repeated.add(text)
                } else {
                    keyStart = pieces.offset
                }
                if isEnd || isEmpty, outline.repeated.depth == 1, text.mayBe(key, marks: "&<") { topKeys += 1 }
            }
        }
        outline.limits.identityKeys = identityKeys.possible
        return topKeys
    }
}

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

    /// The sought keys that a dictionary may have; no dictionary has any other of them.
    var possible: [String] { hasOther ? sought.map(\.key) : zip(sought, found).filter(\.1).map(\.0.key) }

    /// Adds the text between two tags.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        guard bytes.allSatisfy(Self.isPlain) else { return hasOther = true }
        for index in sought.indices where sought[index].bytes.count == bytes.count && sought[index].bytes[...] == bytes
        {
            found[index] = true
        }
    }

    /// Whether a byte stands for itself.
    ///
    /// A byte of a reference, comment or section does not, nor one of a character beyond ASCII, which can be
    /// canonically equivalent to others.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
    }
}
