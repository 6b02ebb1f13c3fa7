// SPDX-License-Identifier: Apache-2.0

/// The nesting of an XML property list, and the number of keys of its outermost dictionary.
enum XMLNesting {
    /// Counts the keys of the outermost dictionary.
    ///
    /// - Returns: The number of keys, duplicates included; `nil` if the nesting is deeper than the limit.
    static func topKeys(_ bytes: [UInt8], maxDepth limit: Int) -> Int? {
        var pieces = XMLPieces(bytes)
        var depth = 0
        var keys = 0
        while let piece = pieces.next() {
            guard case .tag(let name, let isEnd, let isEmpty, _) = piece else { continue }
            // Like the parser, accept names that only begin with these.
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
