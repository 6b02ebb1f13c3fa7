// SPDX-License-Identifier: Apache-2.0
import AppLists

enum OpenStepNesting {
    /// Counts the keys of the outermost dictionary, or those that may be a given one, duplicates included, and notes
    /// repeated keys; `nil` if the nesting exceeds the limit.
    static func topKeys(_ text: [UInt8], thatMayBe key: String? = nil, _ repeated: inout RepeatedKeys) -> Int? {
        text.withUnsafeBufferPointer { bytes in
            // The last string, which may be a key.
            var string = 0..<0
            var keys = 0
            // `key = value;` without braces is a dictionary, too.
            let isBraced = bytes.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                index += 1
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "("):
                    repeated.begin(isArray: byte == UInt8(ascii: "("))
                    if repeated.depth > ListLimits.maxDepth { return nil }
                case UInt8(ascii: "}"), UInt8(ascii: ")"):
                    repeated.end()
                case UInt8(ascii: "="):
                    repeated.add(text[string])
                    if repeated.depth == (isBraced ? 1 : 0), text[string].mayBe(key, marks: "\\") { keys += 1 }
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    let start = index
                    index = endOfString(quotedBy: byte, in: bytes, from: index)
                    string = start..<min(index - 1, bytes.count)
                case UInt8(ascii: "/") where index < bytes.count && bytes[index] == UInt8(ascii: "/"):
                    while index < bytes.count, bytes[index] != 0x0A, bytes[index] != 0x0D { index += 1 }
                case UInt8(ascii: "/") where index < bytes.count && bytes[index] == UInt8(ascii: "*"):
                    index = endOfComment(in: bytes, from: index + 1)
                case let byte where isWord(byte):
                    // A comment does not begin within a word such as http://example.com/.
                    let start = index - 1
                    while index < bytes.count, isWord(bytes[index]) { index += 1 }
                    string = start..<index
                default:
                    break
                }
            }
            return keys
        }
    }

    private static func endOfString(
        quotedBy quote: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != quote {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1
    }

    private static func endOfComment(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while index + 1 < bytes.count, bytes[index] != UInt8(ascii: "*") || bytes[index + 1] != UInt8(ascii: "/") {
            index += 1
        }
        return index + 2
    }

    /// Whether the byte can be part of an unquoted string.
    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isOfName || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ":")
    }
}
