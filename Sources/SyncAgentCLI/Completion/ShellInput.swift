// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A word that is being typed in a shell.
struct ShellInput: Equatable {
    /// What it stands for, without quotes and escapes; what the shell would expand stays as it is.
    private(set) var text = ""
    /// The quote in which it ends.
    private(set) var quote: Character?

    /// A word in which quotes mean nothing.
    init(plain text: String) { self.text = text }

    /// A word as it is typed, the last quote of which may be open.
    init(_ typed: String) {
        var isEscaped = false
        for character in typed {
            switch (character, quote) {
            case (_, _) where isEscaped:
                // Within double quotes, a backslash stays unless it has a meaning there.
                if quote != nil, !"$`\"\\".contains(character) { text.append("\\") }
                text.append(character)
                isEscaped = false
            case ("\\", nil), ("\\", "\""): isEscaped = true
            case ("'", nil), ("\"", nil): quote = character
            case ("'", "'"), ("\"", "\""): quote = nil
            default: text.append(character)
            }
        }
    }

    /// A name as a completion script is to be given it.
    ///
    /// The script of bash puts it into the command line as it is, so it is quoted here. zsh quotes by itself, and takes
    /// what follows a colon for a description; fish does neither.
    ///
    /// - Returns: `nil` if it cannot be written within the quotes that are open.
    func spelled(_ name: String, for shell: CompletionShell?) -> String? {
        switch shell {
        case .zsh: return name.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        case .bash where quote != nil: return name.contains { "$`\"\\'!".contains($0) } ? nil : name
        case .bash: return name.reduce(into: "") { $0 += Self.isPlain($1) ? String($1) : "\\\($1)" }
        default: return name
        }
    }

    private static func isPlain(_ character: Character) -> Bool {
        !character.isASCII || character.isLetter || character.isNumber || "%+,-./:=@_".contains(character)
    }
}
