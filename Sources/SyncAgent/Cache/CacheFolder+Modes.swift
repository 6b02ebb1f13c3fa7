// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SystemPackage

// The permissions of readers.
extension CacheFolder {
    /// Sets the permissions of the folder, and adds them to those of its entries unless its folders have them.
    ///
    /// An earlier `cache.mode` or the umask of a restored copy can have locked readers out. More than granted stays inside:
    /// a user who cannot enter the folder cannot read it either. Entries come in an order in which the next start does the
    /// work again if the agent is killed: first the entries that `common` does not cover, files before their folders, and
    /// at last the generations and the manifest.
    ///
    /// - Parameters:
    ///   - mode: The permissions of a folder for readers; those of files are without the right to search.
    ///   - common: The permissions that ``checkTrust()`` found.
    /// - Throws: ``FileError`` if an entry cannot be inspected or changed.
    func setMode(_ mode: FilePermissions, common: FilePermissions) throws(FileError) {
        if !common.isSuperset(of: mode) {
            try keepingFoldersOpen { () throws(FileError) in
                let last =
                    [CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL, CacheLayout.generations]
                    + [CacheLayout.manifest]
                let others = Set(CacheLayout.entries).subtracting(last + [CacheLayout.staging, CacheLayout.lock])
                for name in others.sorted() + last { try add(mode, to: name) }
            }
        }
        try check("change the mode of", ".", fchmod(descriptor.rawValue, mode.rawValue))
    }

    private func add(_ mode: FilePermissions, to name: String) throws(FileError) {
        // What belongs to another user counts as missing, and is replaced.
        guard let status = try status(name), status.st_uid == geteuid() else { return }
        var missing = mode.subtracting(FilePermissions(rawValue: status.st_mode))
        switch status.st_mode & S_IFMT {
        case S_IFDIR: for entry in try names(in: name) { try add(mode, to: "\(name)/\(entry.name)") }
        case S_IFREG: missing.formIntersection([.ownerRead, .groupRead, .otherRead])
        default: return
        }
        guard !missing.isEmpty else { return }
        let all = (status.st_mode & 0o7777) | missing.rawValue
        try check("change the mode of", name, fchmodat(descriptor.rawValue, name, all, 0))
    }
}
