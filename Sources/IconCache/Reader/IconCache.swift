// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
public import SystemPackage

/// A cache of icons that an agent keeps on disk, for reading.
///
/// Reading needs neither a running agent nor write permission: a cache on a read-only mount, or one whose agent was
/// removed, reads like any other. Every call looks at the folder anew; there is nothing to open, close or keep.
public struct IconCache: Sendable {
    /// The cache folder, as an absolute path.
    public let folder: FilePath

    /// Names a cache; nothing is read yet, and the folder need not be there.
    ///
    /// - Parameter folder: The cache folder. A relative path counts from the current folder at this moment. The default is
    ///   ``defaultPath``.
    public init(at folder: FilePath = defaultPath) {
        self.folder = folder.isAbsolute ? folder : Self.absolute(folder)
    }

    /// The image of an icon, if it is ready: one look at the folder, of some microseconds.
    ///
    /// The name that it gives always is that of a complete image. A refresh may replace the image at any moment, and
    /// retirement may remove the name; whoever opened the file before keeps it. Where a whole state must hold still,
    /// take a ``snapshot()``.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: `nil` if there is no image of it yet, or no app list names it.
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here, and
    ///   ``IconCacheError/unreadable(path:errno:)`` if the folder cannot be searched.
    public func icon(for url: IconURL) throws(IconCacheError) -> Icon? {
        let path = folder.appending(CacheLayout.byURL(url))
        if let status = try status(of: path) { return Icon(path: path, bytes: Int(status.size)) }
        try expectManifest()
        return nil
    }

    /// The newest manifest.
    ///
    /// What it names stays for the grace period after it was superseded (10 minutes, if nothing else is configured). To
    /// read for longer, take a ``snapshot()``.
    ///
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here; any other ``IconCacheError`` if
    ///   the manifest cannot be read.
    public func manifest() throws(IconCacheError) -> Manifest {
        let json: [UInt8]
        do {
            json = try FileBytes.read(manifestPath)
        } catch {
            throw unreadable(error)
        }
        return try IconCacheError.naming(manifestPath.string) { () throws(FormatError) in try Manifest(json: json) }
    }

    /// The newest manifest under a lease: what it names stays until the snapshot ends.
    ///
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here; any other ``IconCacheError`` if
    ///   the manifest cannot be read.
    public func snapshot() throws(IconCacheError) -> Snapshot {
        try Snapshot(of: self)
    }

    /// The newest document of an app list, read under a lease.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: `nil` if there is no such list, or no good version of it yet.
    /// - Throws: ``IconCacheError`` if the manifest or the document cannot be read.
    public func document(of list: ListName) throws(IconCacheError) -> AppListDocument? {
        let snapshot = try snapshot()
        defer { snapshot.end() }
        return try snapshot.document(of: list)
    }

    /// The entries of an app list in the list's order, read under a lease.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: `nil` if there is no such list, or no good version of it yet.
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

    /// Why the manifest could not be opened or read.
    func unreadable(_ errno: Errno) -> IconCacheError {
        errno.isAbsence ? absence : .unreadable(path: manifestPath.string, errno: errno)
    }

    /// Why there is no manifest: nothing was ever published here, or it was removed.
    private var absence: IconCacheError {
        let names = try? FileManager.default.contentsOfDirectory(
            atPath: folder.appending(CacheLayout.generations).string)
        guard let newest = names?.compactMap({ CacheLayout.generationNumber(fileName: $0) }).max() else {
            return .noCache(path: folder.string)
        }
        return .damaged(path: manifestPath.string, reason: "it is missing, although generation \(newest) is there")
    }

    /// What the file system says of a file; `nil` if there is none.
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
        // In a current folder that was removed no relative path leads anywhere, and every call will say so.
        guard let here = getcwd(nil, 0) else { return folder }
        defer { free(here) }
        return FilePath(platformString: here).pushing(folder)
    }
}

extension Errno {
    /// Whether there is nothing at the path that was asked for.
    var isAbsence: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }
}
