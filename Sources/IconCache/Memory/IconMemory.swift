// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemPackage

/// Images of a cache in memory, for views that show the same ones again and again.
///
/// An image is read when it is asked for the first time, and kept as long as there is room: when all of them together are
/// larger than the limit, those go first that nobody asked for the longest time. Each call looks at the folder, so that
/// what it gives is what the folder has, also after a refresh or a retirement; if the image still is the same file, its
/// bytes are not read again.
/// ```swift
/// let memory = IconMemory(of: cache)
/// if let png = try memory.data(for: "https://example.com/mail.png") { draw(png) }
/// ```
/// Any number of threads may use it at once, and none waits while another one reads: two that ask at once for what
/// is not there yet may both read it.
public final class IconMemory: Sendable {
    private struct Image {
        let bytes: [UInt8]
        let identity: FileIdentity
    }

    /// The cache whose images these are.
    public let cache: IconCache
    /// How many bytes all images that are kept may have together.
    public let costLimit: Int

    private let images: Mutex<RecentlyUsed<Digest, Image>>

    /// Makes a memory that is empty.
    ///
    /// - Parameters:
    ///   - cache: The cache; nothing is read yet, and its folder need not be there.
    ///   - costLimit: How many bytes all images that are kept may have together, 0 or more. The default is 32 MiB.
    public init(of cache: IconCache, costLimit: Int = 32 << 20) {
        self.cache = cache
        self.costLimit = costLimit
        images = Mutex(RecentlyUsed(limit: costLimit))
    }

    /// How many bytes the images that are kept have together; never more than ``costLimit``.
    public var cost: Int { images.withLock(\.cost) }

    /// The current image of an icon, if it is ready: the whole file, in the format in which it was downloaded.
    ///
    /// One that is larger than the limit is read at each call.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: `nil` if there is no image of it yet, or no app list names it.
    /// - Throws: ``IconCacheError/noCache(path:)`` if nothing was ever published here, and
    ///   ``IconCacheError/unreadable(path:errno:)`` if the folder cannot be searched or the image cannot be read.
    /// - Complexity: Some microseconds, whatever the size of the image, if it is kept; else it is read.
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

    /// Forgets all images; for when memory is short, or the view is gone.
    public func purge() {
        images.withLock { $0.removeAll() }
    }

    /// The image at the path, with the identity of the very file that was read; `nil` if there is none.
    private func read(_ path: FilePath) throws(IconCacheError) -> Image? {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            return try file.closeAfter {
                let status = try file.stat()
                let bytes = try FileBytes.read(file, expecting: min(Int(status.size), costLimit))
                return Image(bytes: bytes, identity: FileIdentity(status))
            }
        } catch {
            let errno = error as? Errno ?? .ioError
            guard errno.isAbsence else { throw .unreadable(path: path.string, errno: errno) }
            return nil
        }
    }
}
