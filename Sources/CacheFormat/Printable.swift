// SPDX-License-Identifier: Apache-2.0

/// Escapes text from outside for terminals, messages and logs: on one line, and without effect on a terminal.
///
/// Control characters (C0, DEL, C1), line and paragraph separators, and format characters (bidirectional controls,
/// zero-width characters, tags) become JSON escapes, such as `\u202e`. So JSON text stays the same document, and
/// escaped text stays as it is.
package func printable(_ text: String) -> String {
    escaped(text, keepsNewlines: false)
}

/// Escapes text like `printable(_:)`, but keeps line breaks: for text of several lines, such as a JSON document.
package func printable(lines text: String) -> String {
    escaped(text, keepsNewlines: true)
}

private func escaped(_ text: String, keepsNewlines: Bool) -> String {
    let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) || keepsNewlines && $0 == UInt8(ascii: "\n") }
    guard !isPlain else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        if keepsNewlines && scalar == "\n" || !scalar.needsEscape {
            result.unicodeScalars.append(scalar)
        } else {
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }
    return result
}

extension Unicode.Scalar {
    /// Whether the character may move the cursor, reorder or hide its neighbours, or end the line.
    fileprivate var needsEscape: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
