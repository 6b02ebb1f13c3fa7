// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import HTTPRules
import SyncPlan
import SystemPackage

// Handling of images before, or instead of, their publication.
extension Publisher {
    /// Writes images in memory under their final names, ahead of their publication.
    ///
    /// No generation may name them yet: until one does, nobody relies on the files. The publication writes what cannot
    /// be written now or exists already.
    package func writeAhead(_ images: [StagedImage]) {
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
            if let path = dropStaged(name) { folder.remove(path) }
        }
    }

    /// Gives up a staged image, and returns its file; `nil` if it has none of its own.
    func dropStaged(_ name: String) -> String? {
        switch held.remove(name) {
        case nil: StagingPath.of(name)
        case .memory: nil
        case .file(let path): path
        }
    }
}
