// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemPackage

/// A memory cache of images, for views that show the same ones repeatedly.
///
/// The first request for an image reads it. When all images together exceed ``costLimit``, the least recently used are
/// evicted. Each request checks the file in the cache folder, so the result is current after a refresh or a retirement
/// too; the bytes are read again only if the file is another one.
/// ```swift
/// let memory = IconMemory(of: cache)
/// if let png = try memory.data(for: "https://example.com/mail.png") { draw(png) }
/// ```
/// Any number of threads can use it, and none waits while another one reads: two that request the same missing image at
/// once may both read it.
public final class IconMemory: Sendable {
    private struct Image {
        let bytes: [UInt8]
        let identity: FileIdentity
    }

    /// The cache that the images are from.
    public let cache: IconCache
    /// The limit on the total size of the images in memory, in bytes.
    public let costLimit: Int

    private let images: Mutex<RecentlyUsed<Digest, Image>>

    /// Creates an empty memory cache.
    ///
    /// - Parameters:
    ///   - cache: The cache to read images from; its folder need not exist yet.
    ///   - costLimit: The limit on the total size of the images in memory, in bytes; 0 or more. The default is 32 MiB.
    public init(of cache: IconCache, costLimit: Int = 32 << 20) {
        self.cache = cache
        self.costLimit = costLimit
        images = Mutex(RecentlyUsed(limit: costLimit))
    }

    /// The total size of the images in memory, in bytes; never more than ``costLimit``.
    public var cost: Int { images.withLock(\.cost) }

    /// The current image of an icon: the whole file, in the format in which it was downloaded.
    ///
    /// An image larger than ``costLimit`` is read by each call.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: The bytes; `nil` if the icon has no image yet, or no app list names it.
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here, and
    ///   ``IconCacheError/unreadable(path:errno:)`` if the folder cannot be searched or the image cannot be read.
    /// - Complexity: Some microseconds if the image is in memory, whatever its size; else the time to read it.
    public func data(for url: IconURL) throws(IconCacheError) -> [UInt8]? {
        let key = Digest.of(url.text)
        let path = cache.folder.appending(CacheLayout.byURL(key))
        if let kept = images.withLock({ $0.use(key) }),
            let status = try cache.status(of: path), FileIdentity(status) == kept.identity
        {
            return kept.bytes
        }
        let image = try read(path)
        images.withLock { images in
            if let image {
                images.insert(image, cost: image.bytes.count, for: key)
            } else {
                images.remove(key)
            }
        }
        if image == nil { try cache.expectManifest() }
        return image?.bytes
    }

    /// Removes all images from memory, for example when memory is short.
    public func purge() {
        images.withLock { $0.removeAll() }
    }

    /// Reads the image at a path, with the identity of the file that it was read from; `nil` if there is none.
    private func read(_ path: FilePath) throws(IconCacheError) -> Image? {
        do {
            // The name may lead to another image by now, or may have been removed.
            return try FileBytes.reopening { () throws(Errno) in
                let file = try FileBytes.open(path)
                defer { try? file.close() }
                let status = try file.stat()
                return Image(bytes: try FileBytes.read(file), identity: FileIdentity(status))
            }
        } catch {
            guard error.isAbsence else { throw IconCacheError(reading: path, error) }
            return nil
        }
    }
}
