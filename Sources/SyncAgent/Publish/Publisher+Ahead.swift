// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import HTTPRules
import SyncPlan
import Synchronization
import SystemPackage

// What is done with images before they are published, or in place of that.
extension Publisher {
    /// Writes an image under its last name with some others, if it is in memory: its publication need not do it then.
    ///
    /// It must be one that no generation names. Nobody takes it for whole before one does; and what cannot be written now,
    /// or is there, is left to the publication, as are the last ones.
    package nonisolated func writeAhead(_ staged: StagedImage) {
        let full: [StagedImage]? = waiting.withLock { waiting in
            waiting.append(staged)
            guard waiting.count >= batch else { return nil }
            defer { waiting.removeAll(keepingCapacity: true) }
            return Array(waiting)
        }
        if let full { Task { await write(full) } }
    }

    private func write(_ images: [StagedImage]) {
        try? folder.keepingFoldersOpen { () throws(FileError) in
            for staged in images {
                guard let bytes = held.bytes(of: staged.name) else { continue }
                let path = staged.image.path
                do throws(FileError) {
                    try folder.write(bytes, to: path, mode: CacheFolder.imageMode)
                    held.wrote(staged.name, to: path)
                } catch  where error.errno == .fileExists {
                    continue
                }
            }
        }
    }

    /// Removes images that will not be published.
    package func discard(_ names: [String]) {
        for name in names {
            if let path = takePath(of: name) { folder.remove(path) }
        }
    }

    /// Where a staged image is that nobody needs any more; `nil` if it is in no file of its own.
    func takePath(of name: String) -> String? {
        switch held.take(name) {
        case nil: StagingPath.of(name)
        case .memory: nil
        case .file(let path): path
        }
    }
}
