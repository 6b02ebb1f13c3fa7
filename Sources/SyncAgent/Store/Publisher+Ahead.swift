// SPDX-License-Identifier: Apache-2.0
import IconCache
package import SyncPlan
import Synchronization
import SystemPackage

// What is done with images before they are published, or in place of that.
extension Publisher {
    /// How many images are written ahead before a publication has its turn.
    private static let batch = 256

    /// Writes an image under its last name soon, if it is in memory: its publication need not do it then.
    ///
    /// It must be one that no generation names. Nobody takes it for whole before one does; and what cannot be written now,
    /// or is there, is left to the publication.
    package nonisolated func writeAhead(_ staged: StagedImage) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(staged)
            return waiting.count == 1
        }
        if isFirst { Task { await writeWaiting() } }
    }

    private func writeWaiting() {
        let (batch, isMore) = waiting.withLock { waiting in
            let batch = Array(waiting.prefix(Self.batch))
            waiting.removeFirst(batch.count)
            return (batch, !waiting.isEmpty)
        }
        if isMore { Task { writeWaiting() } }
        try? folder.keepingFoldersOpen { () throws(FileError) in
            for staged in batch {
                guard let bytes = held.bytes(of: staged.name) else { continue }
                do throws(FileError) {
                    try folder.write(bytes, to: staged.image.path, mode: CacheFolder.imageMode)
                    held.wrote(staged.name, to: staged.image.path)
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
