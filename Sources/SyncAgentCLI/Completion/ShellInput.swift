// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat

/// A word that is being typed in a shell.
struct ShellInput: Equatable {
    /// What it stands for, without quotes and escapes; what the shell would expand stays as it is.
    private(set) var text = ""
    /// The quote in which it ends.
    private(set) var quote: Unicode.Scalar?

    /// A word in which quotes mean nothing.
    init(plain text: String) { self.text = text }

    /// A word as it is typed, the last quote of which may be open.
    init(_ typed: String) {
        var isEscaped = false
        var scalars = String.UnicodeScalarView()
        for scalar in typed.unicodeScalars {
            switch (scalar, quote) {
            case (_, _) where isEscaped:
                // Within double quotes, a backslash stays unless it has a meaning there.
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

    /// A name as a completion script is to be given it.
    ///
    /// The script of bash puts it into the command line as it is, so it is quoted here. zsh quotes by itself, and takes
    /// what follows a colon for a description; fish does neither. zsh does not quote `!`, which has it put an earlier command
    /// there: such a name is not offered.
    ///
    /// - Returns: `nil` if it cannot be written within the quotes that are open.
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
    private static let plain = Set("%+,-./:=@_".utf8)

    /// Puts a backslash before each byte of ASCII that may have a meaning.
    ///
    /// Other bytes stay as they are: bash gives them none, and those that somebody typed have no backslash.
    private static func escaped(_ name: String) -> String {
        var result: [UInt8] = []
        for byte in name.utf8 {
            if !isPlain(byte) { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: plain.contains(byte)
        }
    }
}
