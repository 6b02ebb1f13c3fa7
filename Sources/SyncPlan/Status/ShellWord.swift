// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import WebAddresses

/// Text as one word of a shell command, for people who paste it.
///
/// A plain word stays as it is. Others are quoted with `'…'`; text with control or format characters, which would act on
/// the terminal that shows it, with `$'…'` and escapes, which bash, zsh and ksh read.
package enum ShellWord {
    private static let plain = Set("%+,-./:=@_~".unicodeScalars)

    package static func quoted(_ text: String) -> String {
        guard !text.isEmpty else { return "''" }
        if text.unicodeScalars.allSatisfy({ isPlain($0) }), text.first != "~", text.first != "=" { return text }
        guard printable(text) == text else {
            return "$'" + text.unicodeScalars.map(escaped).joined() + "'"
        }
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// A file name as an argument: one that begins with a dash is no option.
    package static func file(_ path: String) -> String {
        quoted(path.hasPrefix("-") ? "./" + path : path)
    }

    /// The arguments that name a list; one whose name begins with a dash follows `--`.
    package static func list(_ name: ListName) -> String {
        (name.text.hasPrefix("-") ? "-- " : "") + quoted(name.text)
    }

    /// The argument that names an icon; `nil` if its URL may have secrets in it, or is too long to be pasted.
    package static func icon(_ url: IconURL) -> String? {
        // A URL without its secrets has “…” in their place.
        guard url.text.utf8.count <= 1000, "\(LogURL(url))" == url.text, !url.text.contains("…") else { return nil }
        return (url.text.hasPrefix("-") ? "-- " : "") + quoted(url.text)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: plain.contains(scalar)
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "'": return "\\'"
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\t": return "\\t"
        case "\r": return "\\r"
        default:
            let text = String(scalar)
            guard printable(text) != text else { return text }
            let digits = String(scalar.value, radix: 16)
            let width = scalar.value > 0xFFFF ? 8 : 4
            return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
        }
    }
}
