// SPDX-License-Identifier: Apache-2.0

/// How deep the arrays and dictionaries of an XML property list are inside one another, and how many keys the outermost
/// dictionary has.
enum XMLNesting {
    /// - Returns: The number of keys, repeated ones included; `nil` if the nesting is deeper than the limit.
    static func topKeys(_ bytes: [UInt8], maxDepth limit: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            var depth = 0
            var keys = 0
            while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
                rest = rest[(open + 1)...]
                if rest.starts(with: "!--".utf8) {
                    rest = after("-->", in: rest.dropFirst(3))
                } else if rest.starts(with: "![CDATA[".utf8) {
                    rest = after("]]>", in: rest)
                } else if rest.first == UInt8(ascii: "?") {
                    rest = after("?>", in: rest.dropFirst())
                } else if rest.first == UInt8(ascii: "!") {
                    rest = after(">", in: rest)
                } else if rest.starts(with: "/array".utf8) || rest.starts(with: "/dict".utf8) {
                    depth = max(depth - 1, 0)
                } else if rest.starts(with: "array".utf8) || rest.starts(with: "dict".utf8) {
                    let tag = rest.prefix { $0 != UInt8(ascii: ">") }
                    if tag.last != UInt8(ascii: "/") { depth += 1 }
                    if depth > limit { return nil }
                    rest = rest[tag.endIndex...]
                } else if depth == 1, rest.starts(with: "key".utf8) {
                    keys += 1
                }
            }
            return keys
        }
    }

    private static func after(
        _ end: StaticString, in rest: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        let end = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
        var rest = rest
        while let first = rest.firstIndex(of: end[0]) {
            rest = rest[first...]
            if rest.starts(with: end) { return rest.dropFirst(end.count) }
            rest = rest.dropFirst()
        }
        return rest.dropFirst(rest.count)
    }
}
