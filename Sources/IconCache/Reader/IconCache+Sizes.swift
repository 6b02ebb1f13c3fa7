// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
public import SystemPackage

// Images to be drawn in a given size.
extension IconCache {
    /// Looks up the image of an icon to be drawn in this many pixels.
    ///
    /// It is the smallest rendition whose size is at least `pixels`, or else the image itself. For some seconds after a
    /// refresh, a rendition may still be of the image before. A rendition that cannot be read
    /// counts as missing.
    ///
    /// - Parameters:
    ///   - url: The icon's URL, spelled exactly as in the app list.
    ///   - pixels: What the longer side takes on the screen, at least 1.
    /// - Returns: The icon; `nil` if it has no image yet, or no app list names it.
    /// - Throws: As ``icon(for:)``.
    public func icon(for url: IconURL, pixels: Int) throws(IconCacheError) -> Icon? {
        let digest = Digest.of(url.text)
        for size in renditionSizes(from: pixels) {
            let path = folder.appending(CacheLayout.bySize(size, digest))
            do throws(Errno) {
                let status = try path.stat()
                if status.type == .regular { return Icon(path: path, bytes: Int(status.size)) }
            } catch  where error.isShortage {
                throw IconCacheError(reading: path, error)
            } catch {
                continue
            }
        }
        return try icon(for: url)
    }

    /// Opens the image of an icon to be drawn in this many pixels, for reading.
    ///
    /// - Parameters:
    ///   - url: The icon's URL, spelled exactly as in the app list.
    ///   - pixels: What the longer side takes on the screen, at least 1; see ``icon(for:pixels:)``.
    /// - Returns: The file, which the caller closes; `nil` if the icon has no image yet, or no app list names it.
    /// - Throws: As ``openImage(of:)``.
    public func openImage(of url: IconURL, pixels: Int) throws(IconCacheError) -> FileDescriptor? {
        let digest = Digest.of(url.text)
        for size in renditionSizes(from: pixels) {
            do {
                return try openImage(at: CacheLayout.bySize(size, digest))
            } catch .unreadable(let path, let errno) where errno.isShortage {
                throw .unreadable(path: path, errno: errno)
            } catch {
                continue
            }
        }
        return try openImage(of: url)
    }

    /// The sizes of renditions with at least this many pixels, in ascending order; none if nothing is rendered.
    package func renditionSizes(from pixels: Int) -> [RenditionSize] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(CacheLayout.bySize).string)
        return (names ?? []).compactMap { RenditionSize($0) }.filter { $0.pixels >= pixels }.sorted()
    }
}
