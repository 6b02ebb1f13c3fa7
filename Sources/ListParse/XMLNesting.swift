// SPDX-License-Identifier: Apache-2.0
import AppLists

enum XMLNesting {
    /// Counts the keys of the outermost dictionary, and searches all for the identity keys; `nil` if the nesting
    /// exceeds the limit.
    static func outline(_ bytes: [UInt8], _ limits: ListLimits) -> PropertyListOutline? {
        var pieces = XMLPieces(bytes)
        var depth = 0
        var topKeys = 0
        var identityKeys = XMLKeys(limits.identityKeys)
        var keyStart = 0
        while let piece = pieces.next() {
            guard case .tag(let name, let isEnd, let isEmpty, _) = piece else { continue }
            // Like the parser, accept names that only begin with these.
            if pieces.has("array", at: name) || pieces.has("dict", at: name) {
                if isEnd {
                    depth = max(depth - 1, 0)
                } else if !isEmpty {
                    depth += 1
                    if depth > ListLimits.maxDepth { return nil }
                }
            } else if pieces.has("key", at: name) {
                if isEnd {
                    identityKeys.add(bytes[keyStart..<(name - 2)])
                } else {
                    keyStart = pieces.offset
                    if depth == 1 { topKeys += 1 }
                }
            }
        }
        return PropertyListOutline(topKeys: topKeys, identityKeys: identityKeys.possible)
    }
}
