// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The part of a file that a request asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    /// The range begins behind the end.
    case unsatisfiable

    /// Reads a `Range` field.
    ///
    /// What is malformed is ignored, as the specification says, and so are several ranges in one field.
    ///
    /// - Parameters:
    ///   - field: The `Range` field.
    ///   - condition: The `If-Range` field: the range counts only if the file is still the one with this tag.
    ///   - tag: The entity tag of the file.
    ///   - length: The length of the file, in bytes.
    init(_ field: String?, if condition: String?, tag: String, length: Int) {
        self = .whole
        guard let field, condition == nil || condition == tag else { return }
        let parts = field.split(atByte: "=", maxSplits: 1, omittingEmpty: false)
        guard parts.count == 2, parts[0].asciiLowercased == "bytes",
            let dash = parts[1].utf8.firstIndex(of: UInt8(ascii: "-"))
        else {
            return
        }
        let first = parts[1][..<dash], last = parts[1][parts[1].utf8.index(after: dash)...]
        guard Self.isNumber(first), Self.isNumber(last) else { return }
        switch (Int(first), Int(last)) {
        case (nil, nil): return
        case (nil, let count?):
            self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let start?, let end):
            if let end, end < start { return }
            self = start < length ? .part(start..<min(length, (end ?? length - 1).clamped + 1)) : .unsatisfiable
        }
    }

    /// Whether this is a number that can be read, or nothing at all.
    private static func isNumber(_ text: Substring) -> Bool {
        text.isEmpty || text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int(text) != nil
    }
}

extension Int {
    /// A number to which one can be added.
    fileprivate var clamped: Int { Swift.min(self, Int.max - 1) }
}

/// Whether a client has a file already.
enum Revalidation {
    /// Compares an `If-None-Match` field with the tag of a file (RFC 9110, section 13.1.2).
    static func isCurrent(_ field: String?, tag: String) -> Bool {
        guard let field else { return false }
        return field.split(atByte: ",").contains { part in
            let text = part.trimmed
            return text == "*" || haveSameBytes(text.starts(withBytes: "W/") ? text.dropping(bytes: 2) : text, tag)
        }
    }
}
