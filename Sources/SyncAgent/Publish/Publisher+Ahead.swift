// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SystemPackage

// Handling of images before, or instead of, their publication.
extension Publisher {
    /// Writes images in memory under their final names, ahead of their publication.
    ///
    /// No generation may name the images yet: until one does, nobody relies on the files. The publication writes the
    /// images that cannot be written now or whose files exist already.
    package func writeAhead(_ images: [ImageAhead]) {
        if loss != nil { return }
        // The publication opens the folders anew, and checks that the images are there.
        folder.keepFoldersOpen()
        for image in images {
            guard let bytes = staged.bytes(of: image.staged.name) else { continue }
            let path = image.staged.image.path
            do throws(FileError) {
                try folder.write(bytes, to: path, mode: CacheFolder.imageMode)
                staged.wrote(image, to: path)
            } catch  where error.errno == .fileExists {
                continue
            } catch {
                return
            }
        }
        if let images = staged.drainUnnamed() { try? nameAhead(images) }
    }

    /// Flushes the images written ahead, and makes the first `by-url/` names of their URLs.
    ///
    /// That leaves little for the publication. Names come after the bytes that they lead to, as in a publication.
    private func nameAhead(_ images: [ImageAhead]) throws(FileError) {
        guard barrier.flushesWhole else { return }
        try barrier.pass(names: [])
        let named = images.compactMap { ahead in ahead.url.map { (url: $0, staged: ahead.staged) } }
        for (name, (url, image)) in CacheLayout.inOrder(named, \.url) {
            let path = image.image.path
            if (try? folder.linkIfAbsent(path, to: name)) == true { staged.named(image.name, at: path, url) }
        }
    }

    /// Removes images that will not be published.
    package func discard(_ names: [String]) {
        if loss != nil { return }
        for name in names {
            if let path = drop(name) { folder.remove(path) }
        }
    }

    /// Gives up a staged image, and returns the path of its file; `nil` if it has no file of its own.
    func drop(_ name: String) -> String? {
        kept.remove(name)
        switch staged.remove(name) {
        case .memory: return nil
        case .staging: return StagingPath.of(name)
        case .ahead(let path, let url):
            if let url, folder.remove(CacheLayout.byURL(url)) != nil { staged.record(.restore(url, before: nil)) }
            return path
        }
    }
}

extension CacheLayout {
    /// The elements with the `by-url/` names of their URLs, ordered so that consecutive names are in the same folder.
    static func inOrder<Element>(
        _ elements: [Element], _ url: (Element) -> IconURL
    ) -> some Sequence<(name: String, element: Element)> {
        // Elements are large: their indices are sorted.
        elements.indices.map { (digest: Digest.of(url(elements[$0]).text), index: $0) }
            .sorted { $0.digest < $1.digest }.lazy.map { (byURL($0.digest), elements[$0.index]) }
    }
}
