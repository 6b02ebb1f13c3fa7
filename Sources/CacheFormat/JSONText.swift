// SPDX-License-Identifier: Apache-2.0

/// Writes JSON as bytes, in the layout that ``WrittenJSON`` reads.
///
/// This must be fast: a document can have many thousand lines, and is written again whenever one of its icons arrives.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends JSON text unchanged.
    package mutating func literal(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends JSON text unchanged, then a number.
    package mutating func number(after beginning: StaticString = "", _ number: Int) {
        literal(beginning)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Appends JSON text unchanged, then a string, quoted and escaped.
    package mutating func string(after beginning: StaticString = "", _ text: String) {
        literal(beginning)
        var text = text
        text.withUTF8 { utf8 in
            literal("\"")
            escape(utf8)
            literal("\"")
        }
    }

    private mutating func escape(_ utf8: UnsafeBufferPointer<UInt8>) {
        // Without an early exit, the compiler compares several bytes at once.
        let special = utf8.reduce(0 as UInt8) { found, byte in
            found | (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        guard special != 0 else { return bytes.append(contentsOf: utf8) }
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): literal("\\n")
            case UInt8(ascii: "\r"): literal("\\r")
            case UInt8(ascii: "\t"): literal("\\t")
            case ..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// Appends JSON text unchanged, then a digest, quoted.
    package mutating func digest(after beginning: StaticString = "", _ digest: Digest) {
        literal(beginning)
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
