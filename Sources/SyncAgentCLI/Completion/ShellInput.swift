// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Reports

/// A word being typed in a shell.
struct ShellInput: Equatable {
    /// The unquoted text; shell expansions are left as they are.
    private(set) var text = ""
    /// The quote that is still open.
    private(set) var quote: Unicode.Scalar?

    /// A word that the shell has already unquoted.
    init(plain text: String) { self.text = text }

    /// A word as typed; its last quote may be open.
    init(_ typed: String) {
        var isEscaped = false
        var scalars = String.UnicodeScalarView()
        for scalar in typed.unicodeScalars {
            switch (scalar, quote) {
            case (_, _) where isEscaped:
                // In double quotes, a backslash is literal unless it escapes something.
                if quote != nil, !Self.escapedInQuotes.contains(scalar) { scalars.append("\\") }
                scalars.append(scalar)
                isEscaped = false
            case ("\\", nil), ("\\", "\""): isEscaped = true
            case ("'", nil), ("\"", nil): quote = scalar
            case ("'", "'"), ("\"", "\""): quote = nil
            default: scalars.append(scalar)
            }
        }
        text = String(scalars)
    }

    /// Spells a name as a completion script expects it; `nil` if it cannot be written inside the open quote.
    ///
    /// The bash script inserts the name literally, so it is quoted here. zsh quotes it itself, and takes text after a
    /// colon for a description; fish does neither. zsh does not quote “!” (history expansion), so names with one are
    /// not offered.
    func spelled(_ name: String, for shell: CompletionShell?) -> String? {
        switch shell {
        case .zsh where name.contains(bytes: "!"): return nil
        case .zsh: return name.replacing(bytes: "\\", with: "\\\\").replacing(bytes: ":", with: "\\:")
        case .bash where quote != nil: return name.utf8.contains(where: Self.quotedBytes.contains) ? nil : name
        case .bash: return Self.escaped(name)
        default: return name
        }
    }

    private static let escapedInQuotes = Set("$`\"\\".unicodeScalars)
    private static let quotedBytes = Set("$`\"\\'!".utf8)

    /// Puts a backslash before each ASCII byte that a shell may interpret.
    ///
    /// bash interprets no other bytes, and users do not escape them when typing.
    private static func escaped(_ name: String) -> String {
        let bytes = name.utf8.flatMap { $0 < 0x80 && !ShellWord.isPlain($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
