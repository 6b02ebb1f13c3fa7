// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The caches whose private icons are all from known origins, by the newest generation that was published in each.
///
/// Another cache can come to the path at any time, and the database can be an older one: then there may be private icons
/// from elsewhere. There are several caches if the folder was replaced: the earlier one can come back.
struct KnownCaches: Codable, Equatable, Sendable {
    private struct Mark: Codable, Equatable {
        var generation: Int
        /// The time in its manifest: numbers alone are the same in many caches.
        var published: String

        init(_ manifest: Manifest) { (generation, published) = (manifest.generation, "\(manifest.published)") }
    }

    private static let limit = 8

    /// The cache at the path is the last one.
    private var marks: [Mark] = []

    /// Whether one of these generations of a cache was its newest one.
    func contain(_ manifests: [Manifest]) -> Bool { manifests.contains { marks.contains(Mark($0)) } }

    /// Records the newest generation of the cache at the path; with `isOther`, that may be another cache than the last one,
    /// until there is another generation.
    mutating func record(_ manifest: Manifest, isOther: inout Bool) {
        let mark = Mark(manifest)
        if marks.last == mark { return }
        if !isOther { _ = marks.popLast() }
        isOther = false
        marks = marks.filter { $0 != mark }.suffix(Self.limit - 1) + [mark]
    }
}
