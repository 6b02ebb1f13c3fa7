// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension ListName {
    /// Whether a file of this name is an app list: `*.plist`, neither hidden nor an editor's copy (`#apps.plist`).
    ///
    /// Leftovers of editors and package managers have another suffix (`apps.plist~`, `apps.plist.dpkg-new`), so they do
    /// not match.
    package var isAppList: Bool { Self.isAppList(Array(text.utf8)) }

    /// Why a file with a name that is no list's is not read, as a clause.
    package static let ignored =
        "the lists folder ignores this file name: it must end in .plist, and must not begin with . or #"

    /// The same for a name in any encoding.
    package static func isAppList(_ name: [UInt8]) -> Bool {
        name.suffix(6).elementsEqual(".plist".utf8) && name.first != UInt8(ascii: ".")
            && name.first != UInt8(ascii: "#")
    }
}
