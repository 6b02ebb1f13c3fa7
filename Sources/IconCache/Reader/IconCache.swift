// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
public import SystemPackage

/// Reads the cache of icons that an agent keeps on disk.
///
/// Reading needs no running agent and no write permission: it works on a read-only mount, and after the agent was
/// removed. Each call reads the folder as it is at that moment; there is nothing to open or close.
public struct IconCache: Sendable {
    /// The cache folder, as an absolute path.
    public let folder: FilePath
    /// How often a subscription checks the manifest if inotify reports nothing.
    package var pollingInterval: Duration = .seconds(2)

    /// Creates a reader of a cache; nothing is read yet, and the folder need not exist.
    ///
    /// - Parameter folder: The cache folder. A relative path is resolved now, against the current directory. The
    ///   default is ``defaultPath``.
    public init(at folder: FilePath = defaultPath) {
        self.folder = folder.isAbsolute ? folder : Self.absolute(folder)
    }

    /// Looks up the image of an icon, in some microseconds.
    ///
    /// The path is always that of a complete image. A refresh can replace the image at any time, and a retirement can
    /// remove the path; a file that is open stays readable. To read several files of one state, take a ``snapshot()``.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: The icon; `nil` if it has no image yet, or no app list names it.
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here, and
    ///   ``IconCacheError/unreadable(path:errno:)`` if the folder cannot be searched.
    public func icon(for url: IconURL) throws(IconCacheError) -> Icon? {
        let path = folder.appending(CacheLayout.byURL(url))
        if let status = try status(of: path) { return Icon(path: path, bytes: Int(status.size)) }
        try expectManifest()
        return nil
    }

    /// Opens the image of an icon for reading.
    ///
    /// The file stays readable while it is open, whatever becomes of its name. A link that leads out of the cache folder
    /// is not followed.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: The file, which the caller closes; `nil` if the icon has no image yet, or no app list names it.
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here, and another ``IconCacheError`` if
    ///   the image cannot be opened.
    public func openImage(of url: IconURL) throws(IconCacheError) -> FileDescriptor? {
        do {
            return try openImage(at: CacheLayout.byURL(url))
        } catch .unreadable(_, let errno) where errno.isAbsence {
            try expectManifest()
            return nil
        }
    }

    /// Reads the newest manifest.
    ///
    /// The files that it names stay for the grace period after it is superseded: 10 minutes by default. To use them for
    /// longer, take a ``snapshot()``.
    ///
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here; any other ``IconCacheError`` if
    ///   the manifest cannot be read.
    public func manifest() throws(IconCacheError) -> Manifest {
        let json: [UInt8]
        do {
            json = try FileBytes.reopening { () throws(Errno) in try FileBytes.read(manifestPath) }
        } catch {
            throw unreadable(error)
        }
        return try IconCacheError.naming(manifestPath.string) { () throws(FormatError) in try Manifest(json: json) }
    }

    /// Reads the newest manifest and takes a lease on it: the files that it names stay until the snapshot ends.
    ///
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here; any other ``IconCacheError`` if
    ///   the manifest cannot be read.
    public func snapshot() throws(IconCacheError) -> Snapshot {
        try Snapshot(of: self)
    }

    /// Reads the newest document of an app list, under a lease.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: `nil` if there is no such list, or no valid version of it yet.
    /// - Throws: ``IconCacheError`` if the manifest or the document cannot be read.
    public func document(of list: ListName) throws(IconCacheError) -> AppListDocument? {
        try withNewest { snapshot throws(IconCacheError) in try snapshot.document(of: list) }
    }

    /// Reads the entries of an app list, in the list's order, under a lease.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: `nil` if there is no such list, or no valid version of it yet.
    /// - Throws: ``IconCacheError`` if the manifest or the document cannot be read.
    public func apps(in list: ListName) throws(IconCacheError) -> [AppListDocument.App]? {
        try document(of: list)?.apps
    }

    /// The absolute path of an image that a document names.
    public func path(of image: AppListDocument.Image) -> FilePath {
        folder.appending(image.path)
    }
}

extension IconCache {
    var manifestPath: FilePath { folder.appending(CacheLayout.manifest) }

    /// Reads from the newest generation, under a lease.
    ///
    /// Where no lease holds, as on some network file systems, a file can be removed while it is read, because newer
    /// generations do not name it. Then the body runs once more, on the newest generation, if that is another one.
    func withNewest<Result>(
        _ body: (Snapshot) throws(IconCacheError) -> Result
    ) throws(IconCacheError) -> Result {
        let first = try snapshot()
        defer { first.end() }
        do {
            return try body(first)
        } catch  where error.mayMeanReplaced {
            guard let newest = try? snapshot(), newest.manifest.generation != first.manifest.generation else {
                throw error
            }
            defer { newest.end() }
            return try body(newest)
        }
    }

    func unreadable(_ errno: Errno) -> IconCacheError {
        errno.isAbsence ? absence : IconCacheError(reading: manifestPath, errno)
    }

    /// The error for a missing manifest: nothing was ever published here, or it was removed.
    private var absence: IconCacheError {
        let names = try? FileManager.default.contentsOfDirectory(
            atPath: folder.appending(CacheLayout.generations).string)
        guard let newest = names?.compactMap({ CacheLayout.generationNumber(fileName: $0) }).max() else {
            return .noCache(path: folder.string)
        }
        return .damaged(path: manifestPath.string, reason: "it is missing, although generation \(newest) is there")
    }

    /// Opens an image by its path in the folder.
    func openImage(at path: String) throws(IconCacheError) -> FileDescriptor {
        do {
            return try FileBytes.reopening { () throws(Errno) in try Beneath.open(FilePath(path), in: folder) }
        } catch {
            let path = folder.appending(path)
            guard error == .improperLink || error == .tooManySymbolicLinkLevels else {
                throw IconCacheError(reading: path, error)
            }
            throw .damaged(path: path.string, reason: "it is a link that leads out of the cache folder")
        }
    }

    /// The status of a file; `nil` if there is none.
    func status(of path: FilePath) throws(IconCacheError) -> Stat? {
        do {
            return try path.stat()
        } catch {
            guard error.isAbsence else { throw .unreadable(path: path.string, errno: error) }
            return nil
        }
    }

    /// Throws ``IconCacheError/noCache(path:)`` if nothing was ever published here.
    func expectManifest() throws(IconCacheError) {
        guard try status(of: manifestPath) != nil else { throw absence }
    }

    private static func absolute(_ folder: FilePath) -> FilePath {
        // The current directory was removed: the relative path stays, and every call fails.
        guard let here = getcwd(nil, 0) else { return folder }
        defer { free(here) }
        return FilePath(platformString: here).pushing(folder)
    }
}

extension Errno {
    /// Whether the error means that no file is at the path.
    var isAbsence: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }

    /// Whether no memory or no descriptor is left, which says nothing about the file.
    package var isShortage: Bool { [.noMemory, .tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(self) }

    /// Whether a file may be gone because another host replaced or removed it.
    ///
    /// For such a file, even an open one, NFS fails with `ESTALE`, JuiceFS with `ENOENT`, and others with `EIO`.
    var mayMeanReplaced: Bool { [.staleNFSFileHandle, .noSuchFileOrDirectory, .ioError].contains(self) }
}
