// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension ListName {
    /// Whether a file of this name is looked at: `*.plist`, neither hidden nor an editor's copy (`#apps.plist`).
    ///
    /// What editors and package managers leave behind has a suffix of its own after this one (`apps.plist~`,
    /// `apps.plist.dpkg-new`), and so is no app list.
    package var isAppList: Bool { Self.isAppList(Array(text.utf8)) }

    /// The same of a name that may be in any encoding.
    package static func isAppList(_ name: [UInt8]) -> Bool {
        name.suffix(6).elementsEqual(".plist".utf8) && name.first != UInt8(ascii: ".")
            && name.first != UInt8(ascii: "#")
    }
}
