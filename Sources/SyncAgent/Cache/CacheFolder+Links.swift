// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

extension CacheFolder {
    /// Adds a hard link; fails if the new name exists.
    package func link(_ name: String, to newName: String) throws(FileError) {
        guard try linkIfAbsent(name, to: newName) else { throw failure("link", name, .fileExists) }
    }

    /// Adds a hard link, unless the new name exists; returns whether the link was added.
    func linkIfAbsent(_ name: String, to newName: String) throws(FileError) -> Bool {
        try inFolders(of: name, newName) { (folder, last, newFolder, newLast) throws(FileError) in
            guard linkat(folder, last, newFolder, newLast, 0) != 0 else { return true }
            let error = Errno(rawValue: errno)
            guard error == .fileExists else { throw failure(of: newFolder, "link", name, to: newName, error) }
            return false
        }
    }

    /// Adds a hard link under a temporary name, and renames it: an existing file of the new name is replaced.
    ///
    /// If the file has as many links as its file system allows, the new name gets a copy, unless it is one.
    package func replaceLink(_ name: String, at newName: String, temporary: String) throws(FileError) {
        do {
            try link(name, to: temporary)
        } catch  where error.errno == .tooManyLinks {
            if (try? leads(newName, to: name)) == true { return }
            try copy(name, to: temporary)
        }
        do {
            try rename(temporary, to: newName)
            // rename(2) does nothing if both names are links to one file.
            remove(temporary)
        } catch {
            remove(temporary)
            throw error
        }
    }

    /// Whether a name is a link to a file, or a copy of it that ``replaceLink(_:at:temporary:)`` may have made.
    func leads(_ name: String, to file: String) throws(FileError) -> Bool {
        guard let there = try entry(name), let wanted = try entry(file) else { return false }
        if there.inode == wanted.inode { return true }
        guard there.isOwn, there.size == wanted.size, there.readMode.isSuperset(of: wanted.readMode) else {
            return false
        }
        return try read(name) == read(file)
    }

    private func copy(_ name: String, to newName: String) throws(FileError) {
        try write(read(name), to: newName, mode: CacheFolder.imageMode)
        // The barrier of the publication came before this copy.
        try flushing { () throws(FileError) in try sync(newName) }
    }
}
