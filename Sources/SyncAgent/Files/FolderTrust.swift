// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// What the agent expects of one of its folders: that nobody else can change it, and that nothing in it leads elsewhere.
///
/// What others cannot change now they may have prepared earlier: a link in place of a folder has files written and removed
/// elsewhere, and a second name of a file has it overwritten.
package struct FolderTrust {
    enum Kind {
        case folder, file
        /// A file that is written to where it is: its other names would have what is written, too.
        case onlyName
    }

    /// The folder, as it was named.
    let root: FilePath

    /// Checks what `stat(2)` says of the folder, or of something in it.
    ///
    /// - Parameters:
    ///   - status: What it says, without following a link.
    ///   - name: The path in the folder; `nil` for the folder itself.
    ///   - kind: What it should be.
    /// - Throws: ``FolderError`` if it is not as it should be.
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

    /// Checks the open folder, and files directly in it, as far as they are there.
    func check(_ folder: FileDescriptor, onlyNames files: [String]) throws {
        var status = stat()
        guard fstat(folder.rawValue, &status) == 0 else {
            throw FileError("stat", root.string, Errno(rawValue: errno))
        }
        try check(status)
        for name in files where fstatat(folder.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            try check(status, of: name, as: .onlyName)
        }
    }

    /// Checks a folder in which the agent puts a socket: there must be no one else who can put another one in its place.
    ///
    /// In a folder such as `/tmp`, which all may write to, and whose sticky bit keeps names for their owners, nobody can.
    package static func checkSocketFolder(_ path: FilePath) throws {
        var status = stat()
        guard stat(path.string, &status) == 0 else { throw FileError("stat", path.string, Errno(rawValue: errno)) }
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
    /// Opens a folder that a person named: links on the way to it are followed, as they may be meant.
    static func openFolder(_ path: FilePath) throws(FileError) -> FileDescriptor {
        do {
            return try open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw FileError("open", path.string, error as? Errno ?? .ioError)
        }
    }
}
