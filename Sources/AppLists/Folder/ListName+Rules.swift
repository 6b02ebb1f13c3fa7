// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension ListName {
    /// How the names of app lists end.
    package static let suffixes = [".plist", ".json"]

    /// Whether a file of this name is an app list: `*.plist` or `*.json`, neither hidden nor an editor's copy
    /// (`#apps.plist`).
    ///
    /// Leftovers of editors and package managers have another suffix (`apps.plist~`, `apps.plist.dpkg-new`), so they do
    /// not match.
    package var isAppList: Bool { Self.isAppList(Array(text.utf8)) }

    /// Whether a synchronizer wrote the file beside a list that two machines changed, as far as its name tells:
    /// `apps.sync-conflict-20261103-101500-ABCDEFG.plist` (Syncthing), `apps (conflicted copy 2026-11-03).plist`
    /// (Nextcloud, Dropbox), `apps_conflict-20261103.plist` (ownCloud), `apps (SFConflict …).plist` (Seafile).
    ///
    /// OneDrive appends the name of the computer (`apps-LAPTOP.plist`), which no rule tells from another list.
    package var isConflictCopy: Bool {
        guard let suffix = Self.suffix(of: Array(text.utf8)) else { return false }
        let words = text.utf8.dropLast(suffix.utf8.count).split { !$0.isLetter && $0 < 0x80 }
        let marks = ["conflict", "conflicted", "sfconflict"]
        return words.contains { word in
            word.startIndex != text.utf8.startIndex
                && marks.contains { $0.utf8.elementsEqual(word.lazy.map { $0 | 0x20 }) }
        }
    }

    /// The reason, as a clause, why a file is not read whose name is not that of a list.
    package static let ignored =
        "the lists folder ignores this file name: it must end in .plist or .json, and must not begin with . or #"

    /// Whether a file with this name, in any encoding, is an app list.
    package static func isAppList(_ name: [UInt8]) -> Bool {
        suffix(of: name) != nil && name.first != UInt8(ascii: ".") && name.first != UInt8(ascii: "#")
    }

    private static func suffix(of name: [UInt8]) -> String? {
        suffixes.first { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }
}
