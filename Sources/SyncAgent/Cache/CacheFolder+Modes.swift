// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
import SystemPackage

// The permissions of readers.
extension CacheFolder {
    /// The permissions to read that files have by the present mode of the folder.
    var readMode: FilePermissions {
        var status = stat()
        let mode = fstat(descriptor.rawValue, &status) == 0 ? FilePermissions(rawValue: status.st_mode) : []
        return Self.imageMode.intersection(mode).union(.ownerRead)
    }

    /// Restores the owner and mode of an image's file, which another program changed.
    ///
    /// All hard links of the file get the mode. A file of another user, or one that is open for writing, is replaced by a
    /// copy.
    ///
    /// - Parameters:
    ///   - image: The image that the file should have.
    ///   - name: The name of the file.
    ///   - readMode: The permissions that readers have.
    ///   - temporary: A name for a copy.
    /// - Returns: `false` if there is no file with the bytes of the image, or another user's cannot be read.
    /// - Throws: ``FileError`` if it cannot be replaced, or read for another reason.
    func reclaim(
        _ image: AppListDocument.Image, at name: String, readMode: FilePermissions, temporary: String
    ) throws(FileError) -> Bool {
        guard let found = try status(name), found.st_mode & S_IFMT == S_IFREG, found.st_size == image.bytes else {
            return false
        }
        let (bytes, isOwn): ([UInt8], Bool)
        do throws(FileError) {
            if found.st_uid == geteuid(), found.st_mode & 0o400 == 0 { try setMode(readMode, ofFile: name) }
            let file = try open(name)
            defer { try? file.close() }
            isOwn = try secure(file, named: name, readMode: readMode)
            bytes = try contents(of: file, named: name, upTo: image.bytes)
        } catch {
            if error.saysMissing || error.errno == .fileTooLarge { return false }
            guard error.errno == .permissionDenied, found.st_uid != geteuid() else { throw error }
            return false
        }
        guard Digest.of(bytes) == image.sha256 else { return false }
        guard !isOwn else { return true }
        remove(temporary)
        try write(bytes, to: temporary, mode: Self.imageMode)
        do {
            try rename(temporary, to: name)
        } catch {
            remove(temporary)
            throw error
        }
        return true
    }

    /// Sets the mode of an open file; returns whether the file is the agent's, and no program can write to it any more.
    private func secure(
        _ file: FileDescriptor, named name: String, readMode: FilePermissions
    ) throws(FileError) -> Bool {
        var status = stat()
        try check("stat", name, fstat(file.rawValue, &status))
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { return false }
        try check("change the mode of", name, fchmod(file.rawValue, readMode.rawValue))
        return has_no_writer(file.rawValue) != 0
    }

    /// Whether a file of the agent lacks permissions of readers, or gives others more, because another program changed it.
    func hasOtherMode(than readMode: FilePermissions, _ name: String) throws(FileError) -> Bool {
        guard let status = try status(name), status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            return false
        }
        let mode = FilePermissions(rawValue: status.st_mode)
        return !mode.isSuperset(of: readMode) || !mode.isDisjoint(with: [.groupWrite, .otherWrite])
    }

    func setMode(_ mode: FilePermissions, ofFile name: String) throws(FileError) {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            try check("change the mode of", name, fchmodat(folder, last, mode.rawValue, AT_SYMLINK_NOFOLLOW))
        }
    }

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
        // What belongs to another user is replaced later.
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
