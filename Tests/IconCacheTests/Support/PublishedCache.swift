// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport

/// A cache folder into which generations are published as the agent does it: `manifest.json` last, by link and rename.
struct PublishedCache {
    let folder: FilePath
    let cache: IconCache

    /// Makes the folders of an empty cache; the folder itself may be there.
    init(at folder: FilePath) throws {
        self.folder = folder
        cache = IconCache(at: folder)
        try makeFolder(folder)
        for name in [CacheLayout.generations, CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL] {
            try makeFolder(path(name))
        }
    }

    /// The absolute path of a name in the cache.
    func path(_ name: String) -> FilePath { folder.pushing(FilePath(name)) }

    func exists(_ name: String) -> Bool { (try? path(name).stat()) != nil }

    /// Publishes a generation of these lists, whose icons have images with these texts; `nil` stands for a pending one.
    @discardableResult
    func publish(
        _ generation: Int, _ lists: KeyValuePairs<ListName, KeyValuePairs<IconURL, String?>>
    ) throws -> Manifest {
        for case (let url, let text?) in lists.flatMap(\.value) {
            let image = Sample.image(text)
            for name in [image.path, CacheLayout.byURL(url)] { try makeFolder(path(name).removingLastComponent()) }
            if !exists(image.path) { try put(text, at: image.path) }
            try link(image.path, to: CacheLayout.byURL(url))
        }
        return try publish(generation, documents: lists.map { Sample.document($0.key, $0.value) })
    }

    /// Publishes a generation with these documents, whose images are there already.
    @discardableResult
    func publish(_ generation: Int, documents: [AppListDocument]) throws -> Manifest {
        for document in documents {
            let name = CacheLayout.document(.of(document.json))
            if !exists(name) { try put(document.json, at: name) }
        }
        return try publish(Sample.manifest(generation, documents))
    }

    /// Publishes a generation with one document, which has this text.
    func publish(_ generation: Int, text: String, of list: ListName) throws {
        let digest = Digest.of(Array(text.utf8))
        try put(text, at: CacheLayout.document(digest))
        var manifest = Sample.manifest(generation, [Sample.document(list, [:])])
        manifest.lists[list]?.sha256 = digest
        try publish(manifest)
    }

    /// Publishes a manifest, whatever it says.
    @discardableResult
    func publish(_ manifest: Manifest) throws -> Manifest {
        let name = CacheLayout.generation(manifest.generation)
        try put(manifest.json, at: name)
        try link(name, to: CacheLayout.manifest)
        return manifest
    }

    /// Takes a superseded generation away with its documents, if there is no lease on it.
    ///
    /// - Returns: Whether there was none.
    func retire(_ manifest: Manifest) throws -> Bool {
        let name = CacheLayout.generation(manifest.generation)
        guard try canLock(name) else { return false }
        try remove(name)
        for list in manifest.lists.values { try remove(list.document) }
        return true
    }

    /// Whether another descriptor gets an exclusive lock on a file; it is given back at once.
    func canLock(_ name: String) throws -> Bool {
        let file = try FileDescriptor.open(path(name), .readOnly, options: [.closeOnExec])
        return try file.closeAfter {
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 else { return true }
            guard errno == EWOULDBLOCK else { throw Errno(rawValue: errno) }
            return false
        }
    }

    func remove(_ name: String) throws {
        try check(unlink(path(name).string))
    }

    private func put(_ text: String, at name: String) throws {
        try write(text, to: path("temporary"))
        try check(rename(path("temporary").string, path(name).string))
    }

    /// Makes a folder, if it is not there.
    private func makeFolder(_ path: FilePath) throws {
        guard mkdir(path.string, 0o755) != 0, errno != EEXIST else { return }
        throw Errno(rawValue: errno)
    }

    /// Gives a file another name, in place of whatever has that name.
    private func link(_ name: String, to newName: String) throws {
        try check(Glibc.link(path(name).string, path("temporary").string))
        try check(rename(path("temporary").string, path(newName).string))
        // rename(2) does nothing where both names are links of one file already.
        unlink(path("temporary").string)
    }
}

/// Runs the body with a cache folder that has nothing published yet.
func withCache<R>(_ body: (PublishedCache) async throws -> R) async throws -> R {
    try await withTemporaryFolder { folder in try await body(PublishedCache(at: folder.appending("cache"))) }
}
