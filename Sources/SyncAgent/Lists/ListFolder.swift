// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CLinux
package import CacheFormat
import Glibc
package import SystemPackage

/// The lists folder, read on a dedicated thread: on a network file system, a call may block forever.
package actor ListFolder {
    /// A listing of the folder at one moment.
    package struct Listing: Equatable, Sendable {
        package var folder: ListedFolder
        /// The reason why some changes in the folder are not reported.
        package var trouble: WatchTrouble?
        /// The app lists, each with its fingerprint; `nil` if its file cannot be inspected.
        package var files: [ListName: FileFingerprint?]
        /// The names of lists that are not UTF-8, with other bytes escaped.
        package var illegible: Set<ListName> = []
    }

    package nonisolated let path: FilePath
    /// The folder of the lists taken over from upstreams.
    private let adopted: FilePath?
    /// The files of lists that are in ``adopted``, from the last listing.
    private var adoptedFiles: [ListName: FilePath] = [:]
    private let thread = FileThread("lists")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ path: FilePath, adopted: FilePath? = nil) {
        self.path = path
        self.adopted = adopted
    }

    /// Lists the folder.
    ///
    /// - Throws: A ``FileError`` if the folder is missing or cannot be listed to its end.
    package func list() throws(FileError) -> Listing {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let folder = try FileError.check("open the lists folder", path.string, Glibc.open(path.string, flags))
        defer { Glibc.close(folder) }
        guard let identity = FolderIdentity(ofFolder: folder) else {
            throw FileError("read the lists folder", path.string, Errno(rawValue: errno))
        }
        var fileSystem = statfs()
        fstatfs(folder, &fileSystem)
        var status = stat()
        var listing = Listing(
            folder: ListedFolder(path: path.string, identity: identity),
            trouble: WatchTrouble.of(fileSystem: UInt32(truncatingIfNeeded: fileSystem.f_type)), files: [:])
        let names: [(name: FileName, inode: UInt64)]
        let copy = try FileError.check("list", path.string, fcntl(folder, F_DUPFD_CLOEXEC, 0))
        do throws(Errno) {
            names = try FolderListing.names(in: copy)
        } catch {
            throw FileError("list", path.string, error)
        }
        // A bind mount still shows a folder that was deleted at its source: it is empty, and stays so.
        if names.isEmpty, fstat(folder, &status) == 0, status.st_nlink == 0 { throw .deleted(path) }
        listing.files.reserveCapacity(names.count)
        for file in names.map(\.name) where ListName.isAppList(file.bytes) {
            guard let text = file.text else {
                listing.illegible.insert(ListName(file.escaped))
                continue
            }
            let name = ListName(text)
            if fstatat(folder, text, &status, 0) == 0 {
                if status.st_mode & S_IFMT == S_IFREG {
                    listing.files[name] = FileFingerprint(status)
                } else {
                    listing.folder.others.insert(name)
                }
            } else if errno != ENOENT || fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) == 0 {
                // A list is removed only if its name is gone; a file that cannot be inspected may be readable in a
                // moment.
                listing.files[name] = .some(nil)
            }
        }
        adoptedFiles = [:]
        let files = try adopted.map { path throws(FileError) in try AdoptedLists.files(in: path) } ?? [:]
        for (name, file) in files
        where listing.files[name] == nil && !listing.folder.others.contains(name) {
            listing.files[name] = file.fingerprint
            adoptedFiles[name] = file.path
            listing.folder.adopted.insert(name)
        }
        // The escaped form of a name may be the name of another file, which then counts.
        listing.illegible.subtract(listing.files.keys)
        return listing
    }

    /// Whether the last listing has a list from ``adopted``.
    func isAdopted(_ name: ListName) -> Bool { adoptedFiles[name] != nil }

    /// Opens and reads a list; `maxBytes` holds for those in the lists folder.
    ///
    /// - Returns: The open file, which the caller must close, and its contents.
    package func open(
        _ name: ListName, maxBytes: ByteCount
    ) throws(ListRejection) -> (file: ListFile, contents: ListFile.Contents) {
        let maxBytes = isAdopted(name) ? ListLimits.maxAdoptedBytes : maxBytes
        let file = try ListFile(opening: adoptedFiles[name] ?? path.appending(name.text), maxBytes: maxBytes)
        do {
            return (file, try file.contents(maxBytes: maxBytes))
        } catch {
            file.close()
            throw error
        }
    }

    /// Closes a list; returns whether it is unchanged since it was opened.
    package func close(_ file: ListFile) throws(ListRejection) -> Bool {
        defer { file.close() }
        return try file.isUnchanged
    }
}

extension FileFingerprint {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Duration(status.st_mtim), changed: Duration(status.st_ctim))
    }
}

extension Duration {
    init(_ time: timespec) {
        self = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
