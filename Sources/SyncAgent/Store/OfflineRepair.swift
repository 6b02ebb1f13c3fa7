// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Logging
package import SystemPackage

/// Repairs a cache that no agent holds, as far as that takes no download.
///
/// Only the agent has the settings to download by: whoever repairs may have others, and a download that fails by them would
/// take away what was there.
package enum OfflineRepair {
    /// Has the names of images that are whole lead to them again.
    ///
    /// - Parameters:
    ///   - path: The cache folder.
    ///   - images: Those that are not as they should be, or one of whose names is not.
    /// - Throws: ``FolderLock/Held`` if an agent holds the folder, ``Untrusted`` or ``FileError`` if it cannot be used.
    package static func run(_ path: FilePath, _ images: Set<Digest>) async throws {
        let folder = try CacheFolder(path)
        try folder.checkTrust()
        let lock = try FolderLock(in: folder.descriptor, at: path)
        defer { withExtendedLifetime(lock) {} }
        let publisher = Publisher(folder, held: HeldImages(), thread: FileThread("repair"))
        let silent = Logger(label: "syncagent") { _ in SwiftLogNoOpLogHandler() }
        await Scrubber(folder, publisher: publisher, logger: silent).read(images) { _ in }
    }
}
