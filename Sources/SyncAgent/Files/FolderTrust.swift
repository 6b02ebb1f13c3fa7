// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// Checks that only the agent can change one of its folders, and that no link in the folder leads elsewhere.
///
/// Other users may have prepared the folder while they could write to it: through a link in place of a folder, files
/// would be written and removed elsewhere; another hard link of a file would be overwritten with it.
package struct FolderTrust {
    enum Kind {
        case folder, file
        /// A file that is overwritten in place, and must have no other hard link, which would be overwritten too.
        case onlyName
    }

    /// The folder's path as given.
    let root: FilePath

    /// Checks the folder, or an entry of it.
    ///
    /// - Parameters:
    ///   - status: The result of lstat(2).
    ///   - name: The path in the folder; `nil` for the folder itself.
    ///   - kind: The expected type.
    /// - Throws: ``FolderError`` if a check fails.
    func check(_ status: stat, of name: String? = nil, as kind: Kind = .folder) throws(FolderError) {
        let path = name.map { root.appending($0) } ?? root
        let type = status.st_mode & S_IFMT
        guard type == (kind == .folder ? S_IFDIR : S_IFREG) else {
            throw .wrongKind(path, isA: Self.word(for: type), expected: kind == .folder ? "a folder" : "a file")
        }
        guard status.st_uid == geteuid() else {
            throw .wrongOwner(path, owner: status.st_uid, agent: geteuid(), root: root)
        }
        guard status.st_mode & 0o022 == 0 else { throw .writable(path, mode: status.st_mode & 0o7777, root: root) }
        guard kind != .onlyName || status.st_nlink == 1 else { throw .hasOtherNames(path) }
    }

    /// Checks the open folder, and the given files in it that exist.
    func check(_ folder: FileDescriptor, onlyNames files: [String]) throws {
        var status = stat()
        try FileError.check("stat", root.string, fstat(folder.rawValue, &status))
        try check(status)
        for name in files where fstatat(folder.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            try check(status, of: name, as: .onlyName)
        }
    }

    /// Checks that no other user can replace a socket in a folder.
    ///
    /// A folder such as `/tmp` is safe although all can write to it: its sticky bit reserves names for their owners.
    package static func checkSocketFolder(_ path: FilePath) throws {
        var status = stat()
        try FileError.check("stat", path.string, stat(path.string, &status))
        guard [geteuid(), 0].contains(status.st_uid), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
        else {
            throw FolderError.unsafeForSocket(path, owner: status.st_uid, mode: status.st_mode & 0o7777)
        }
    }

    private static func word(for type: mode_t) -> String {
        switch type {
        case S_IFLNK: "a symbolic link"
        case S_IFDIR: "a folder"
        case S_IFREG: "a file"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}

extension FileDescriptor {
    /// Opens a folder that a user named; links in its path are followed, since they may be intended.
    static func openFolder(_ path: FilePath) throws(FileError) -> FileDescriptor {
        do {
            return try open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw FileError("open", path.string, error as? Errno ?? .ioError)
        }
    }
}
