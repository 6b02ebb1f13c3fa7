// SPDX-License-Identifier: Apache-2.0

/// Writes JSON as bytes, in the layout that ``WrittenJSON`` reads.
///
/// It must be fast: a document can have many thousand lines, and is written again whenever one of its icons arrives.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends JSON text unchanged.
    package mutating func literal(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func number(_ number: Int) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Appends a string, quoted and escaped.
    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            literal("\"")
            JSON.write(utf8, to: &bytes)
            literal("\"")
        }
    }

    package mutating func json(_ value: JSON) {
        bytes.append(contentsOf: value.text.utf8)
    }

    /// Appends a digest, quoted.
    package mutating func digest(_ digest: Digest) {
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

    /// Appends the path of an image, quoted.
    mutating func image(_ digest: Digest, suffix: String) {
        literal("\"icons/")
        digest.writeFan(to: &bytes)
        literal("/")
        digest.write(to: &bytes)
        literal(".")
        bytes.append(contentsOf: suffix.utf8)
        literal("\"")
    }

    /// Appends the separator before a member on a new line.
    mutating func newLine(isFirst: Bool) {
        if isFirst { literal("\n  ") } else { literal(",\n  ") }
    }
}
