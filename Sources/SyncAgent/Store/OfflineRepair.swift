// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Logging
import SyncPlan
package import SystemPackage

/// Repairs a cache that no agent holds, as far as that takes no download.
///
/// Only the agent has the settings to download by: whoever repairs may have others, and a download that fails by them would
/// take away what was there.
package enum OfflineRepair {
    /// Has the names of images that are whole lead to them again.
    ///
    /// - Parameter path: The cache folder.
    /// - Returns: Why not all of it could be repaired; `nil` if that takes downloads only.
    /// - Throws: ``FolderError`` if an agent holds the folder or others can change it, ``FileError`` if it cannot be used,
    ///   and ``IconCacheError`` if there is no manifest that could be read.
    package static func run(_ path: FilePath) async throws -> String? {
        let folder = try CacheFolder(path)
        try folder.checkTrust()
        let lock = try FolderLock(in: folder.descriptor, at: path)
        defer { withExtendedLifetime(lock) {} }
        let snapshot = try IconCache(at: path).snapshot()
        defer { snapshot.end() }
        var expected = CacheExpectation(
            generation: snapshot.manifest.generation, documents: snapshot.manifest.lists.mapValues(\.sha256), images: []
        )
        for list in snapshot.manifest.lists.keys {
            // What is damaged otherwise is left to the agent.
            for app in (try? snapshot.document(of: list))?.apps ?? [] {
                guard case .ready(let image) = app.state else { continue }
                expected.images?.append(CacheExpectation.Naming(image: image, url: app.icon))
            }
        }
        let publisher = Publisher(folder, held: HeldImages(), thread: FileThread("repair"))
        let silent = Logger(label: "syncagent") { _ in SwiftLogNoOpLogHandler() }
        return await CacheInspector(publisher, lock: nil, logger: silent).inspect(expected).trouble
    }
}
