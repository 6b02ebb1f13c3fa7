// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// Quotes text as one word of a shell command, for users who paste it.
///
/// A shell reads bytes, so bytes are quoted: a `Character` could hide a quote behind a combining mark. The forms:
///
/// - A word of ASCII letters, digits and a few punctuation marks stays as it is.
/// - Other text is quoted with `'…'`; a quote or a backslash stands outside, as `\'` or `\\`. In fish, a backslash
///   escapes a quote also within quotes; this form means the same in sh, bash, zsh and fish.
/// - Text that a terminal does not show faithfully becomes `$'…'` with three-digit octal escapes, which bash, zsh, ksh
///   and POSIX (2024) read alike; `\x` takes more digits in some. Quotes, backslashes and `!` are escaped too, so that
///   no quote remains inside. fish rejects such a word, and dash takes it literally; neither runs a part of it as a
///   command.
package enum ShellWord {
    private static let plain = Set("%+,-./:=@_".utf8)
    private static let escapedASCII = Set("'\\!".utf8)

    package static func quoted(_ text: String) -> String {
        guard let first = text.utf8.first else { return "''" }
        if text.utf8.allSatisfy(isPlain), first != UInt8(ascii: "=") { return text }
        return isShown(text) ? quoted(shown: text.utf8) : escaped(text)
    }

    /// Whether a terminal shows every scalar of a text by itself.
    ///
    /// Terminals do not show control and format characters and others without a glyph. They draw a combining mark over
    /// the letter before it; without a letter, it would be drawn over a quote.
    package static func isShown(_ text: String) -> Bool {
        var canCarryMark = false
        for scalar in text.unicodeScalars {
            guard isShown(scalar, canCarryMark: canCarryMark) else { return false }
            canCarryMark = !scalar.isASCII || isAlphanumeric(UInt8(scalar.value))
        }
        return true
    }

    private static func quoted(shown text: String.UTF8View) -> String {
        var word: [UInt8] = [UInt8(ascii: "'")]
        for byte in text {
            if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") {
                word += Array("'\\".utf8) + [byte, UInt8(ascii: "'")]
            } else {
                word.append(byte)
            }
        }
        return String(decoding: word + [UInt8(ascii: "'")], as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        var word = Array("$'".utf8)
        for byte in text.utf8 {
            if (0x20..<0x7F).contains(byte), !escapedASCII.contains(byte) {
                word.append(byte)
            } else {
                word += [UInt8(ascii: "\\")] + [6, 3, 0].map { UInt8(ascii: "0") + (byte >> $0 & 7) }
            }
        }
        return String(decoding: word + [UInt8(ascii: "'")], as: UTF8.self)
    }

    private static func isShown(_ scalar: Unicode.Scalar, canCarryMark: Bool) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
        case .nonspacingMark, .spacingMark, .enclosingMark: return canCarryMark
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a byte has no special meaning in a shell.
    package static func isPlain(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || plain.contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { byte.isLetter || byte.isDigit }

    /// A file name as an argument; `./` keeps a leading dash from being read as an option.
    package static func file(_ path: String) -> String {
        quoted(path.starts(withBytes: "-") ? "./" + path : path)
    }

    /// The arguments that name a list; `--` precedes a name that begins with a dash.
    package static func list(_ name: ListName) -> String {
        argument(name.text)
    }

    /// The argument that names an icon; `nil` if its URL may contain secrets, or is too long to be pasted.
    package static func icon(_ url: IconURL) -> String? {
        // “…” stands for removed secrets.
        guard url.text.utf8.count <= 1000, IconURL("\(LogURL(url))") == url, !url.text.contains(bytes: "…") else {
            return nil
        }
        return argument(url.text)
    }

    private static func argument(_ text: String) -> String {
        (text.starts(withBytes: "-") ? "-- " : "") + quoted(text)
    }
}
