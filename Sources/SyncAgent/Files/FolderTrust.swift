// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Something in the agent's folders that somebody else can change, or that leads elsewhere.
package struct Untrusted: Error, Equatable, Sendable, CustomStringConvertible {
    package var path: String
    /// What is wrong with it, and what to do.
    package var problem: String

    package var description: String { "\(path) \(problem)" }
}

/// What the agent expects of one of its folders: that nobody else can change it, and that nothing in it leads elsewhere.
///
/// What others cannot change now they may have prepared earlier: a link in place of a folder has files written and removed
/// elsewhere, and a second name of a file has it overwritten.
struct FolderTrust {
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
    /// - Throws: ``Untrusted`` if it is not as it should be.
    func check(_ status: stat, of name: String? = nil, as kind: Kind = .folder) throws(Untrusted) {
        let path = name.map { root.appending($0).string } ?? root.string
        let type = status.st_mode & S_IFMT
        guard type == (kind == .folder ? S_IFDIR : S_IFREG) else {
            let expected = kind == .folder ? "a folder" : "a file"
            throw Untrusted(path: path, problem: "is \(Self.word(for: type)), not \(expected): remove it.")
        }
        guard status.st_uid == geteuid() else {
            throw Untrusted(
                path: path,
                problem:
                    "belongs to user \(status.st_uid), but the agent runs as user \(geteuid()): run the agent as the "
                    + "owner, remove \(root) (the agent creates it again), or choose another folder.")
        }
        guard status.st_mode & 0o022 == 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw Untrusted(
                path: path,
                problem:
                    "is writable by others (mode \(mode)): run “chmod -R go-w \(root)”. If others may have written to "
                    + "it, remove \(root) instead; the agent creates it again.")
        }
        guard kind != .onlyName || status.st_nlink == 1 else {
            throw Untrusted(path: path, problem: "has several hard links, which may be in other folders: remove it.")
        }
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
    static func checkSocketFolder(_ path: FilePath) throws {
        var status = stat()
        guard stat(path.string, &status) == 0 else { throw FileError("stat", path.string, Errno(rawValue: errno)) }
        guard [geteuid(), 0].contains(status.st_uid), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
        else {
            throw Untrusted(
                path: path.string,
                problem: "can be changed by others (owner \(status.st_uid), mode "
                    + "\(String(status.st_mode & 0o7777, radix: 8))): choose a socket in a folder of your own with --socket."
            )
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
