// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan
import SystemPackage

// Handling of images before, or instead of, their publication.
extension Publisher {
    /// Writes images in memory under their final names, ahead of their publication.
    ///
    /// No generation may name them yet: until one does, nobody relies on the files. The publication writes what cannot
    /// be written now or exists already.
    package func writeAhead(_ images: [ImageAhead]) {
        // The publication opens them anew, and checks that the images are there.
        folder.keepFoldersOpen()
        for ahead in images {
            let staged = ahead.staged
            guard let bytes = held.bytes(of: staged.name) else { continue }
            let path = staged.image.path
            do throws(FileError) {
                try folder.write(bytes, to: path, mode: CacheFolder.imageMode)
                held.wrote(staged.name, to: path)
                unnamed.add(ahead)
            } catch  where error.errno == .fileExists {
                continue
            } catch {
                return
            }
        }
        if unnamed.isFull { try? nameAhead() }
    }

    /// Flushes what was written ahead, and makes the first names of its URLs.
    ///
    /// Little is left for the publication then. Names come after the bytes that they lead to, as in a publication.
    private func nameAhead() throws(FileError) {
        let images = unnamed.drain()
        guard barrier.flushesWhole else { return }
        try barrier.pass(names: [])
        let named = images.compactMap { ahead in ahead.url.map { (url: $0, staged: ahead.staged) } }
        for (name, (url, staged)) in CacheLayout.inOrder(named, \.url) where held.isFile(staged.name) {
            if (try? folder.link(staged.image.path, to: name)) != nil { held.recordName(of: staged.name, url) }
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
        if let url = held.removeName(of: name), folder.remove(CacheLayout.byURL(url)) != nil {
            leftovers.append(CacheLayout.byURL(url))
        }
        return switch held.remove(name) {
        case nil: StagingPath.of(name)
        case .memory: nil
        case .file(let path): path
        }
    }
}

extension CacheLayout {
    /// The elements with the `by-url/` names of their URLs, ordered so that consecutive names are in the same folder.
    static func inOrder<Element>(
        _ elements: [Element], _ url: (Element) -> IconURL
    ) -> some Sequence<(name: String, element: Element)> {
        elements.map { (digest: Digest.of(url($0).text), element: $0) }.sorted { $0.digest < $1.digest }
            .lazy.map { (byURL($0.digest), $0.element) }
    }
}
