// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// What a reader finds in a cache, and what of it is not as it is promised.
struct CacheCheck {
    /// The generation in force; `nil` before the first one.
    private(set) var generation: Int?
    /// The list documents, by list.
    private(set) var documents: [ListName: Digest] = [:]
    /// The images of the icons that are ready, by URL.
    private(set) var images: [IconURL: AppListDocument.Image] = [:]
    /// What is promised and does not hold.
    private(set) var damages: [String] = []

    private let cache: FilePath

    /// Reads everything that the manifest names, and holds it against the digests that it gives.
    ///
    /// - Parameters:
    ///   - cache: The cache folder.
    ///   - newer: Images that names in `by-url/` may lead to before the manifest names them. None by default.
    init(_ cache: FilePath, newer: Set<Digest> = []) {
        self.cache = cache
        do {
            let snapshot = try IconCache(at: cache).snapshot()
            defer { snapshot.end() }
            generation = snapshot.manifest.generation
            documents = snapshot.manifest.lists.mapValues(\.sha256)
            for document in try snapshot.documents() {
                for app in document.apps {
                    if case .ready(let image) = app.state { images[app.icon] = image }
                }
            }
            for image in Set(images.values) { expect(image.path, isOneOf: [image.sha256]) }
            for (url, image) in images { expect(CacheLayout.byURL(url), isOneOf: newer.union([image.sha256])) }
        } catch .noCache {
            return
        } catch {
            damages.append("\(error)")
        }
    }

    private mutating func expect(_ name: String, isOneOf digests: Set<Digest>) {
        do {
            let bytes = try FileBytes.read(cache.appending(name))
            if !digests.contains(.of(bytes)) { damages.append("\(name) has \(bytes.count) bytes of something else") }
        } catch {
            damages.append("\(name): \(error)")
        }
    }

    /// What is in the cache's folders although no current manifest names it, and what is not as a start leaves it.
    func strays() throws -> [String] {
        let named = [
            CacheLayout.generations: Set(generation.map(CacheLayout.generation).map { [$0] } ?? []),
            CacheLayout.lists: Set(documents.values.map(CacheLayout.document)),
            CacheLayout.icons: Set(images.values.map(\.path)),
            CacheLayout.byURL: Set(images.keys.map { CacheLayout.byURL($0) }),
            CacheLayout.staging: [],
        ]
        var strays: [String] = []
        for (folder, names) in named {
            strays += Set(try files(in: cache.appending(folder)).map { "\(folder)/\($0)" }).subtracting(names)
        }
        let tag = try FileBytes.read(cache.appending(CacheLayout.tag))
        if !tag.starts(with: "Signature: 8a477f597d28d172789f06886806bc55".utf8) { strays.append(CacheLayout.tag) }
        return strays
    }
}
