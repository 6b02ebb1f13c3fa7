// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The caches whose private icons are all from known origins, by the generations on disk that were published in each.
///
/// Another cache can come to the path at any time, and the database can be an older one: then there may be private icons
/// from elsewhere. There are several caches if the folder was replaced: the earlier one can come back. A cache has several
/// generations, because the newest one can be damaged.
struct KnownCaches: Codable, Equatable, Sendable {
    private struct Mark: Codable, Equatable {
        var generation: Int
        /// The time in its manifest: numbers alone are the same in many caches.
        var published: String

        init(_ manifest: Manifest) { (generation, published) = (manifest.generation, "\(manifest.published)") }
    }

    private static let limit = 8
    /// More only if readers keep many generations.
    private static let markLimit = 16

    /// The generations of each cache, the oldest first; the cache at the path is the last one.
    private var caches: [[Mark]] = []

    /// Whether one of these generations is that of a known cache.
    func contain(_ manifests: [Manifest]) -> Bool { index(of: manifests) != nil }

    private func index(of manifests: [Manifest]) -> Int? {
        let marks = manifests.map(Mark.init)
        return caches.lastIndex { $0.contains(where: marks.contains) }
    }

    /// Records that the cache with these generations is at the path; returns whether it is known.
    @discardableResult
    mutating func select(_ manifests: [Manifest]) -> Bool {
        let index = index(of: manifests)
        let selected = index.map { caches.remove(at: $0) } ?? []
        caches = caches.filter { !$0.isEmpty }.suffix(Self.limit - 1) + [selected]
        return index != nil
    }

    /// Records the newest generation of the cache at the path, and forgets those that are not on disk.
    mutating func record(_ manifest: Manifest, onDisk isOnDisk: (Int) -> Bool) {
        let mark = Mark(manifest)
        if caches.last?.last == mark { return }
        let marks = (caches.popLast() ?? []).filter { isOnDisk($0.generation) && $0.generation < mark.generation }
        caches.append(marks.suffix(Self.markLimit - 1) + [mark])
    }
}
