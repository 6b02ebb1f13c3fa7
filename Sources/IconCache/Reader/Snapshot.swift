// SPDX-License-Identifier: Apache-2.0
import Synchronization
public import SystemPackage

/// One generation of a cache under a lease: the documents and images that its manifest names stay until the snapshot
/// ends.
///
/// A snapshot ends with ``end()``, or with the last reference to it, which can be right after its last use. To go on
/// using a path that it returned, end it explicitly:
/// ```swift
/// let snapshot = try cache.snapshot()
/// defer { snapshot.end() }
/// ```
/// It keeps one file open, and superseded files on disk: for a day at most, then the agent removes them anyway.
public final class Snapshot: Sendable {
    /// The manifest of this generation.
    public let manifest: Manifest
    /// Whether the lease is held.
    ///
    /// It is not on the few file systems without locks, or if another program has an exclusive lock on the manifest.
    /// Then the files that the manifest names stay for the grace period after it is superseded. On file systems of
    /// several hosts, the same can happen although the lease is held (<doc:SharedFileSystems>).
    public let isLeased: Bool

    private let cache: IconCache
    private let lease: Mutex<Lease?>

    init(of cache: IconCache) throws(IconCacheError) {
        var json: [UInt8] = []
        let lease: Lease
        do throws(Errno) {
            let path = cache.manifestPath
            lease = try FileBytes.reopening { () throws(Errno) in
                let lease = try Lease.take(onFileAt: path)
                json = try FileBytes.read(lease.manifest)
                return lease
            }
        } catch {
            throw cache.unreadable(error)
        }
        self.cache = cache
        isLeased = lease.isHeld
        manifest = try IconCacheError.naming(cache.manifestPath.string) { () throws(FormatError) in
            try Manifest(json: json)
        }
        self.lease = Mutex(lease)
    }

    /// Reads the document of an app list.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: `nil` if the manifest has no such list.
    /// - Throws: ``IconCacheError`` if the document cannot be read or is not the one that the manifest names.
    public func document(of list: ListName) throws(IconCacheError) -> AppListDocument? {
        guard let entry = manifest.lists[list] else { return nil }
        let path = path(of: entry).string
        let json = try json(of: entry)
        let document = try IconCacheError.naming(path) { () throws(FormatError) in try AppListDocument(json: json) }
        guard document.list == list else {
            throw .damaged(path: path, reason: "it belongs to another list than \(list)")
        }
        return document
    }

    /// Reads the documents of all app lists, sorted by the lists' names.
    ///
    /// - Throws: ``IconCacheError`` if one of them cannot be read or is not the one that the manifest names.
    public func documents() throws(IconCacheError) -> [AppListDocument] {
        var documents: [AppListDocument] = []
        for list in manifest.lists.keys.sorted() {
            if let document = try document(of: list) { documents.append(document) }
        }
        return documents
    }

    /// The absolute path of an image that one of the documents names.
    public func path(of image: AppListDocument.Image) -> FilePath {
        cache.path(of: image)
    }

    /// Opens an image that one of the documents names, for reading.
    ///
    /// The file stays readable while it is open, also after the end of the snapshot. A link that leads out of the cache
    /// folder is not followed.
    ///
    /// - Returns: The file, which the caller closes.
    /// - Throws: ``IconCacheError`` if it cannot be opened.
    public func openImage(_ image: AppListDocument.Image) throws(IconCacheError) -> FileDescriptor {
        try cache.openImage(at: image.path)
    }

    /// Releases the lease; a second call does nothing.
    public func end() {
        lease.withLock { $0 = nil }
    }

    /// Reads the text of the manifest, as it was published; the lease must not have ended.
    package func json() throws(IconCacheError) -> [UInt8] {
        do {
            return try lease.withLock { (lease) throws(Errno) in
                guard let file = lease?.manifest else { throw .badFileDescriptor }
                return try FileBytes.read(file)
            }
        } catch {
            throw cache.unreadable(error)
        }
    }

    /// Reads the text of a list document, and checks it against the digest in the manifest.
    package func json(of list: Manifest.List) throws(IconCacheError) -> [UInt8] {
        let path = path(of: list)
        let json: [UInt8]
        do {
            json = try FileBytes.read(path)
        } catch {
            throw IconCacheError(reading: path, error)
        }
        guard Digest.of(json) == list.sha256 else {
            throw .damaged(path: path.string, reason: "its digest differs from the one in the manifest")
        }
        return json
    }

    func path(of list: Manifest.List) -> FilePath {
        cache.folder.appending(list.document)
    }
}
