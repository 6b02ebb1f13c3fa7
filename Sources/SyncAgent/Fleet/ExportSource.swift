// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet
package import IconCache
import SystemPackage

package struct ExportSource: Sendable {
    package let cache: IconCache
    package let manifest: Manifest
    package let text: [UInt8]
    /// All files that the manifest references, sorted by path.
    package let files: [ExportFile]
    private let snapshot: Snapshot

    /// Reads the newest generation and takes a lease on it.
    ///
    /// - Throws: ``IconCacheError`` if the generation cannot be read.
    package init(_ cache: IconCache) throws(IconCacheError) {
        self.cache = cache
        snapshot = try cache.snapshot()
        manifest = snapshot.manifest
        text = try snapshot.json()
        var files: Set<ExportFile> = []
        for list in manifest.lists.values {
            let path = cache.folder.appending(list.document).string
            let json = try snapshot.json(of: list)
            files.insert(ExportFile(path: list.document, sha256: list.sha256, bytes: json.count))
            let document: AppListDocument
            do {
                document = try AppListDocument(json: json)
            } catch {
                throw IconCacheError(error, in: path)
            }
            for image in document.images {
                guard ExportLayout.isNamed(image.path) else {
                    throw .damaged(path: path, reason: "it names \(image.path) as the image \(image.sha256)")
                }
                files.insert(ExportFile(path: image.path, sha256: image.sha256, bytes: image.bytes))
            }
        }
        self.files = files.sorted { $0.path < $1.path }
    }

    /// Reads a file and checks its digest, so that an export never copies damage.
    ///
    /// - Throws: ``ExportError/damagedSource(path:reason:)``.
    package func bytes(of file: ExportFile) throws(ExportError) -> [UInt8] {
        let path = cache.folder.appending(file.path)
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path, upTo: file.bytes)
        } catch {
            throw .damagedSource(path: path.string, reason: "it cannot be read (\(error))")
        }
        guard bytes.count == file.bytes, Digest.of(bytes) == file.sha256 else {
            throw .damagedSource(path: path.string, reason: "its digest does not match")
        }
        return bytes
    }

    package func end() { snapshot.end() }
}
