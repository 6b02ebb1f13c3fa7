// SPDX-License-Identifier: Apache-2.0

/// Reduces many names to few, as shells do for files: folders are offered first.
///
/// Up to ``limit`` names stay whole. More are cut after the next slash behind their common beginning, or, if too many
/// are left, after the next character. At least two results remain: a single one would make the shell end the word.
enum CompletionFold {
    /// The limit on names offered one by one; shells ask before they print more.
    private static let limit = 100
    private static let mostCharacters = 1000

    /// The names, or their beginnings if there are too many; sorted and without duplicates.
    static func fold(_ names: Set<String>) -> [String] {
        // The common beginning of all names is that of the first and the last one in byte order.
        let isBefore = { (one: String, other: String) in one.utf8.lexicographicallyPrecedes(other.utf8) }
        guard names.count > limit, let first = names.min(by: isBefore), let last = names.max(by: isBefore) else {
            return names.sorted()
        }
        let common = zip(first.unicodeScalars, last.unicodeScalars).prefix { $0 == $1 }.count
        let folders = beginnings(of: names) { scalars in
            scalars.dropFirst(common).firstIndex(of: "/").map { scalars.index(after: $0) } ?? scalars.endIndex
        }
        if folders.count <= limit { return folders.sorted() }
        let characters = beginnings(of: names) { $0.prefix(common + 1).endIndex }
        return characters.count <= mostCharacters ? characters.sorted() : []
    }

    private static func beginnings(
        of names: Set<String>, upTo end: (String.UnicodeScalarView) -> String.Index
    ) -> Set<String> {
        Set(names.map { String($0[..<end($0.unicodeScalars)]) })
    }
}
