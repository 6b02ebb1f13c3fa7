// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// A pattern of the names of app lists: `*.plist`, `team-?.json`.
///
/// `*` stands for any bytes, `?` for one byte.
package struct ListPattern: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Reads a pattern; `nil` if no app list can match it.
    package init?(_ text: String) {
        guard ListName.suffixes.contains(where: { text.ends(withBytes: $0) }), text.utf8.count <= 255,
            !text.utf8.contains(where: { "/,\0".utf8.contains($0) })
        else { return nil }
        description = text
    }

    /// Whether a list of this name is meant; never if the name has control characters, because a NUL ends a path.
    package func matches(_ name: ListName) -> Bool {
        let isFileName = name.text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard name.isAppList, isFileName, name.text.utf8.count <= 255 else { return false }
        return Self.matches(Array(name.text.utf8), Array(description.utf8))
    }

    /// Matches from the left, and returns to the last star at a difference.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (at, place) = (0, 0)
        var star: (place: Int, at: Int)?
        while at < name.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == name[at] || pattern[place] == UInt8(ascii: "?") {
                at += 1
                place += 1
            } else if let last = star {
                star = (last.place, last.at + 1)
                (place, at) = (last.place + 1, last.at + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
