// SPDX-License-Identifier: Apache-2.0

/// Which files of the lists folder are app lists.
package enum ListName {
    /// Suffixes of what editors and package managers leave behind, as systemd knows them
    /// (`hidden_or_backup_file` in its source).
    private static let ignoredSuffixes = [
        "~", ".rpmnew", ".rpmsave", ".rpmorig", ".dpkg-old", ".dpkg-new", ".dpkg-tmp", ".dpkg-dist", ".dpkg-bak",
        ".dpkg-backup", ".dpkg-remove", ".ucf-new", ".ucf-old", ".ucf-dist", ".swp", ".bak", ".old", ".new",
    ]

    /// Whether a file of this name is looked at: `*.plist`, not hidden, no leftover of another one.
    package static func isAppList(_ name: String) -> Bool {
        name.hasSuffix(".plist") && !name.hasPrefix(".") && !name.hasPrefix("#")
            && !ignoredSuffixes.contains { name.dropLast(6).hasSuffix($0) }
    }
}
