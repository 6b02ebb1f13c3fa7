// SPDX-License-Identifier: Apache-2.0

/// How deep the arrays and dictionaries of an XML property list are inside one another, and how many keys the outermost
/// dictionary has.
enum XMLNesting {
    /// - Returns: The number of keys, repeated ones included; `nil` if the nesting is deeper than the limit.
    static func topKeys(_ bytes: [UInt8], maxDepth limit: Int) -> Int? {
        var pieces = XMLPieces(bytes)
        var depth = 0
        var keys = 0
        while let piece = pieces.next() {
            guard case .tag(let name, let isEnd, let isEmpty, _) = piece else { continue }
            // As to the parser: names that only begin so are these, too.
            if pieces.has("array", at: name) || pieces.has("dict", at: name) {
                if isEnd {
                    depth = max(depth - 1, 0)
                } else if !isEmpty {
                    depth += 1
                    if depth > limit { return nil }
                }
            } else if depth == 1, !isEnd, pieces.has("key", at: name) {
                keys += 1
            }
        }
        return keys
    }
}
