// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The requested part of a file (RFC 9110, section 14).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// Reads a `Range` field, which counts only if `condition` (`If-Range`) is absent or equals the file's entity tag.
    ///
    /// A malformed field is ignored, as the RFC requires, and so are several ranges.
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
            self = start < length ? .part(start..<min(end ?? .max, length - 1) + 1) : .unsatisfiable
        }
    }

    /// Whether a text is empty, or a number that fits into `Int`.
    private static func isNumber(_ text: Substring) -> Bool {
        text.isEmpty || text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int(text) != nil
    }
}

enum Revalidation {
    /// Compares `If-None-Match` with a file's entity tag (RFC 9110, section 13.1.2).
    static func isCurrent(_ field: String?, tag: String) -> Bool {
        guard let field else { return false }
        return field.split(atByte: ",").contains { part in
            let text = part.trimmed
            return text == "*" || haveSameBytes(text.starts(withBytes: "W/") ? text.dropping(bytes: 2) : text, tag)
        }
    }

    /// Compares `If-Match` with a file's entity tag (RFC 9110, section 13.1.1); `true` without that field.
    static func isMatch(_ field: String?, tag: String) -> Bool {
        field?.split(atByte: ",").contains { $0.trimmed == "*" || haveSameBytes($0.trimmed, tag) } ?? true
    }
}
