// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import HTTPRules
import SyncPlan
import Synchronization
import SystemPackage

// Handling of images before, or instead of, their publication.
extension Publisher {
    /// Queues an image in memory to be written under its final name with a batch of others, ahead of its publication.
    ///
    /// No generation may name the image yet: until one does, nobody relies on the file. The publication writes what
    /// cannot be written now or exists already, and what remains of the last batch.
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

    /// Gives up a staged image, and returns its file; `nil` if it has none of its own.
    func takePath(of name: String) -> String? {
        switch held.take(name) {
        case nil: StagingPath.of(name)
        case .memory: nil
        case .file(let path): path
        }
    }
}
