// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Key paths in a property list: `[3].icon`, `apps[3]`, `["Nine Lives"]`.
enum ListPath {
    /// The limit on text quoted from the file, in characters.
    private static let maxLength = 100

    /// A top-level key: a plain name as it is, others in brackets and quotes.
    static func key(_ key: String) -> String {
        let isName = !key.isEmpty && key.utf8.allSatisfy { $0.isOfName && $0 != UInt8(ascii: ".") }
        return isName ? shown(key) : "[\"\(shown(key))\"]"
    }

    /// A text as shown in messages, truncated to the limit.
    static func shown(_ text: String) -> String {
        let beginning = printable(String(String.UnicodeScalarView(text.unicodeScalars.prefix(maxLength))))
        return text.unicodeScalars.count > maxLength ? beginning + "…" : beginning
    }
}

struct EntryPlace: CustomStringConvertible {
    /// The property list itself, as the only entry.
    static let top = EntryPlace(array: "", index: nil)

    /// The key path of an array, or of the entry itself.
    let array: String
    let index: Int?

    var description: String { index.map { "\(array)[\($0)]" } ?? array }

    /// The key path of one of the entry's keys.
    func key(_ key: ListKey) -> String {
        let path = description
        return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
    }

    /// The place of a dictionary under one of the entry's keys.
    func within(_ key: ListKey) -> EntryPlace { EntryPlace(array: self.key(key), index: nil) }
}
