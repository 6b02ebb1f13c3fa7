// SPDX-License-Identifier: Apache-2.0

/// Which files of the lists folder are app lists.
package enum ListName {
    /// Whether a file of this name is looked at: `*.plist`, neither hidden nor an editor's copy (`#apps.plist`).
    ///
    /// What editors and package managers leave behind has a suffix of its own after this one (`apps.plist~`,
    /// `apps.plist.dpkg-new`), and so is no app list.
    package static func isAppList(_ name: String) -> Bool {
        name.hasSuffix(".plist") && !name.hasPrefix(".") && !name.hasPrefix("#")
    }
}
