// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The renditions that no generation on disk names yet.
struct StagedRenditions: Sendable {
    private var waiting: [Digest: StagedImage] = [:]
    /// Those that are being published.
    private var inFlight: [Digest: StagedImage] = [:]

    /// Whether none waits, and none is being published.
    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty }
    var waitingImages: some Collection<StagedImage> { waiting.values }

    /// Whether a rendition waits to be published, or is being.
    func contains(_ rendition: Digest) -> Bool { waiting[rendition] != nil || inFlight[rendition] != nil }

    /// Those of the waiting ones that documents name.
    func waiting(in documents: [AppListDocument]) -> [StagedImage] {
        guard !waiting.isEmpty else { return [] }
        let named = Set(documents.lazy.flatMap(\.apps).flatMap(\.renditions).map(\.image.sha256))
        return named.compactMap { waiting[$0] }
    }

    mutating func add(_ image: StagedImage) { waiting[image.image.sha256] = image }

    // MARK: Publication

    mutating func beginPublication(of images: [StagedImage]) {
        for image in images { inFlight[image.image.sha256] = waiting.removeValue(forKey: image.image.sha256) }
    }

    mutating func endPublication() { inFlight = [:] }

    /// Lets those that were being published wait again.
    mutating func abortPublication() {
        waiting.merge(inFlight) { $1 }
        inFlight = [:]
    }

    /// Removes and returns those that were being published.
    mutating func failPublication() -> Set<Digest> {
        defer { inFlight = [:] }
        return Set(inFlight.keys)
    }

    // MARK: Removal

    /// Removes and returns those that wait and are none of these renditions.
    mutating func removeWaiting(besides wanted: some Sequence<AppListDocument.Image>) -> [StagedImage] {
        guard !waiting.isEmpty else { return [] }
        let wanted = Set(wanted.lazy.map(\.sha256))
        let unwanted = waiting.filter { !wanted.contains($0.key) }
        for digest in unwanted.keys { waiting[digest] = nil }
        return Array(unwanted.values)
    }

    /// Removes and returns all that wait.
    mutating func removeWaiting() -> [StagedImage] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
