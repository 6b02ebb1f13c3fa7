// SPDX-License-Identifier: Apache-2.0
import Fleet
import Glibc
import IconCache
import SystemPackage

/// The files of a key pair: `NAME.key`, which only its owner can read, and `NAME.pub`.
enum KeyFiles {
    /// Writes a new key pair; never replaces a file.
    static func write(_ key: SecretKey, to name: String) throws(CommandFailure) {
        let (secret, open) = (FilePath("\(name).key"), FilePath("\(name).pub"))
        // Check the public key's path first: a secret key without its public key is useless.
        guard access(open.string, F_OK) != 0 else { throw exists(open) }
        try write(key.file, to: secret, mode: .ownerReadWrite)
        do {
            try write(key.publicKey.file, to: open, mode: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            unlink(secret.string)
            throw error
        }
    }

    /// Reads a secret key, unless others can read or replace it.
    static func read(_ path: FilePath) throws(CommandFailure) -> SecretKey {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
            defer { try? file.close() }
            var status = stat()
            guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(description: "The key \(path) is not a regular file.")
            }
            if let flaw = flaw(of: path, owner: status.st_uid, mode: status.st_mode, forUser: geteuid()) {
                throw CommandFailure(description: "The key \(path) \(flaw)")
            }
            return try SecretKey(file: FileBytes.read(file))
        } catch let error as CommandFailure {
            throw error
        } catch let error as SignatureError {
            throw CommandFailure(description: "\(path) is \(error)")
        } catch {
            throw unreadable(path, error)
        }
    }

    /// What is wrong with a key's owner or mode, as the end of a sentence; `nil` if nothing is.
    ///
    /// Root may use anyone's key.
    static func flaw(of path: FilePath, owner: uid_t, mode: mode_t, forUser user: uid_t) -> String? {
        if owner != user, owner != 0, user != 0 {
            return "belongs to another user (\(owner)), who can replace it: use a key of this user or of root."
        }
        // Root may give a service its key through the group.
        let isOwn = owner == user && user != 0
        guard mode & (isOwn ? 0o077 : 0o027) != 0 else { return nil }
        return "can be read by others (mode \(String(mode & 0o777, radix: 8))): run chmod 600 \(path), and make a new "
            + "key if others may have read it."
    }

    /// The error for a key that cannot be read.
    ///
    /// Its advice is for a copy made by root, which lacks the group of the signing service.
    static func unreadable(_ path: FilePath, _ error: any Error) -> CommandFailure {
        let remedy =
            error as? Errno == .permissionDenied
            ? " Let a group of this user read it: as root, run chgrp GROUP \(path) and chmod 640 \(path)." : ""
        return CommandFailure(description: "Cannot read the key \(path): \(error).\(remedy)")
    }

    private static func write(_ text: String, to path: FilePath, mode: FilePermissions) throws(CommandFailure) {
        do {
            let file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec], permissions: mode)
            do {
                try file.closeAfter {
                    try file.writeAll(text.utf8)
                    guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                }
            } catch {
                unlink(path.string)
                throw error
            }
        } catch Errno.fileExists {
            throw exists(path)
        } catch {
            throw CommandFailure(description: "Cannot create \(path): \(error).")
        }
    }

    private static func exists(_ path: FilePath) -> CommandFailure {
        CommandFailure(description: "\(path) already exists and is not replaced: choose another name with --output.")
    }
}
