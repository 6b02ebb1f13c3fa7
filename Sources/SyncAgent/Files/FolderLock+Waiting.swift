// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import Logging
package import SystemPackage

extension FolderLock {
    /// Takes the locks on folders; waits for up to 5 s while a command such as `purge` or an exiting agent holds one.
    ///
    /// - Returns: The locks, held for as long as they exist.
    /// - Throws: ``FolderError/held(_:by:)`` on timeout, or a ``FileError``.
    package static func locks(
        on folders: [(descriptor: FileDescriptor, path: FilePath)], atMost patience: Duration = .seconds(5),
        logger: Logger
    ) async throws -> [FolderLock] {
        let end = ContinuousClock.now + patience
        var isWaiting = false
        while true {
            do {
                return try folders.map { try FolderLock(in: $0.descriptor, at: $0.path) }
            } catch let error as FolderError where error.isHeld && ContinuousClock.now < end && !Task.isCancelled {
                if !isWaiting {
                    logger.notice(
                        "waiting for a folder that is in use",
                        metadata: ["reason": "\(error)", "limit": "\(DurationText.format(patience))"])
                }
                isWaiting = true
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
