// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Logging
import SyncPlan
package import SystemPackage

/// Repairs a cache that no agent holds, as far as possible without downloads.
///
/// Only the agent has the right settings for downloads: with others, a download could fail and remove what was there.
package enum OfflineRepair {
    /// Why the repair is incomplete or may not be durable.
    package struct Trouble: Equatable, Sendable {
        package var reason: String
        /// Whether a flush failed, so that a repair may not be durable.
        package var isFlush: Bool
    }

    /// Restores names of intact images.
    ///
    /// - Returns: Why the repair is incomplete or may not be durable; `nil` if only downloads remain.
    /// - Throws: ``FolderError`` if an agent holds the folder or others can change it, ``FileError`` if it cannot be
    ///   used, and ``IconCacheError`` if there is no readable manifest.
    package static func run(_ path: FilePath) async throws -> Trouble? {
        let folder = try CacheFolder(path)
        try folder.checkTrust()
        let lock = try FolderLock(in: folder.descriptor, at: path)
        defer { withExtendedLifetime(lock) {} }
        let snapshot = try IconCache(at: path).snapshot()
        defer { snapshot.end() }
        var expected = CacheExpectation(
            generation: snapshot.manifest.generation, documents: snapshot.manifest.lists.mapValues(\.sha256), images: []
        )
        var shown = ShownImages()
        for list in snapshot.manifest.lists.keys.sorted() {
            // Damaged documents are left to the agent.
            if let document = try? snapshot.document(of: list) { shown.add(document) }
        }
        expected.images = CacheExpectation.Namings(
            shown.byURL.lazy.map { CacheExpectation.Naming(image: $0.value.image, url: $0.key) })
        let publisher = Publisher(folder, staged: StagedImages(), thread: FileThread("repair"))
        let silent = Logger(label: "syncagent") { _ in SwiftLogNoOpLogHandler() }
        let found = await CacheInspector(publisher, lock: nil, logger: silent).inspect(expected)
        let failedFlush = folder.clearFailedFlush()
        return found.trouble.map { Trouble(reason: $0, isFlush: $0 == failedFlush?.description) }
    }
}
