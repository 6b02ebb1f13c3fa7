// SPDX-License-Identifier: Apache-2.0

/// The width of text in terminal columns, as `wcwidth(3)` counts them, with an emoji sequence as one character.
enum TextWidth {
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    static func prefix(of text: String, atMost limit: Int) -> String {
        var room = limit
        return String(
            text.prefix { character in
                room -= width(of: character)
                return room >= 0
            })
    }

    static func suffix(of text: String, atMost limit: Int) -> String {
        var room = limit
        var start = text.endIndex
        while start > text.startIndex {
            let before = text.index(before: start)
            room -= width(of: text[before])
            guard room >= 0 else { break }
            start = before
        }
        return String(text[start...])
    }

    /// The most scalars that are measured as one character; emoji of families and flags have up to fourteen.
    private static let longest = 32

    private static func width(of character: Character) -> Int {
        var (widest, isEmoji) = (0, false)
        // A Character can have megabytes of combining marks: beyond the limit, each scalar counts as a column.
        let count = character.unicodeScalars.count
        guard count <= longest else { return count }
        for scalar in character.unicodeScalars {
            widest = max(widest, width(of: scalar))
            // An emoji variation selector (U+FE0F), or two regional indicators, which make a flag.
            if scalar.value == 0xFE0F || (0x1F1E6...0x1F1FF).contains(scalar.value) { isEmoji = true }
        }
        return isEmoji ? 2 : widest
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // Hangul vowels and final consonants, which are drawn in the cell of the first consonant.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return scalar.properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
    }

    /// East Asian Wide and Fullwidth (Unicode Standard Annex 11), by blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FE4, 0x17000...0x18CFF, 0x1B000...0x1B2FB,
        0x1F200...0x1F265, 0x1F300...0x1F320, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]

    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        return wide.contains { $0.contains(value) }
    }
}
