// SPDX-License-Identifier: Apache-2.0

/// Writes JSON in the words that ``WrittenJSON`` reads, straight into bytes.
///
/// A document has a line for each of many thousand icons, and is written with each of them that comes.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    mutating func words(_ words: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount))
    }

    mutating func number(_ number: Int) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// A text, in quotes.
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

    /// The digits of a digest, in quotes.
    mutating func digest(_ digest: Digest) {
        words("\"")
        digest.write(to: &bytes)
        words("\"")
    }

    /// The path of a list document, in quotes.
    mutating func document(_ digest: Digest) {
        words("\"lists/")
        digest.write(to: &bytes)
        words(".json\"")
    }

    /// What comes before a member on a line of its own.
    mutating func newLine(isFirst: Bool) {
        if isFirst { words("\n  ") } else { words(",\n  ") }
    }
}
