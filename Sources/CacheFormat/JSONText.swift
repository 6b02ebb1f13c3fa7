// SPDX-License-Identifier: Apache-2.0

/// Writes JSON as bytes, in the layout that ``WrittenJSON`` reads.
///
/// It must be fast: a document can have many thousand lines, and is written again whenever one of its icons arrives.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends JSON text unchanged.
    mutating func literal(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func number(_ number: Int) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Appends a string, quoted and escaped.
    mutating func string(_ text: String) {
        let start = bytes.count
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        let isPlain = bytes[(start + 1)...].allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain {
            bytes.append(UInt8(ascii: "\""))
        } else {
            bytes.removeSubrange(start...)
            bytes.append(contentsOf: JSON.quoted(text).utf8)
        }
    }

    /// Appends a digest, quoted.
    mutating func digest(_ digest: Digest) {
        literal("\"")
        digest.write(to: &bytes)
        literal("\"")
    }

    /// Appends the path of a list document, quoted.
    mutating func document(_ digest: Digest) {
        literal("\"lists/")
        digest.write(to: &bytes)
        literal(".json\"")
    }

    /// Appends the separator before a member on a new line.
    mutating func newLine(isFirst: Bool) {
        if isFirst { literal("\n  ") } else { literal(",\n  ") }
    }
}
