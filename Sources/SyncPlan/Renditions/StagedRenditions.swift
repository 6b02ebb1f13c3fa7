// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The renditions that no generation on disk names yet.
struct StagedRenditions: Sendable {
    private var waiting: [Digest: StagedImage] = [:]
    /// The renditions that are being published.
    private var inFlight: [Digest: StagedImage] = [:]

    /// Whether no rendition waits or is being published.
    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty }
    var waitingImages: some Collection<StagedImage> { waiting.values }

    /// Whether a rendition waits to be published, or is being published.
    func contains(_ rendition: Digest) -> Bool { waiting[rendition] != nil || inFlight[rendition] != nil }

    /// The waiting renditions that these documents reference.
    func waiting(in documents: [AppListDocument]) -> [StagedImage] {
        guard !waiting.isEmpty else { return [] }
        let named = Set(documents.lazy.flatMap(\.apps).flatMap(\.renditions).map(\.image.sha256))
        return named.compactMap { waiting[$0] }
    }

    mutating func add(_ image: StagedImage) { waiting[image.image.sha256] = image }

    // MARK: Publication

    /// Records that a publication has these.
    mutating func beginPublication(of images: [StagedImage]) {
        for image in images { inFlight[image.image.sha256] = waiting.removeValue(forKey: image.image.sha256) }
    }

    /// Records that they are on disk.
    mutating func endPublication() { inFlight = [:] }

    /// Moves the renditions of an aborted publication back to the waiting ones.
    mutating func abortPublication() {
        waiting.merge(inFlight) { $1 }
        inFlight = [:]
    }

    /// Removes and returns the renditions of a failed publication.
    mutating func failPublication() -> Set<Digest> {
        defer { inFlight = [:] }
        return Set(inFlight.keys)
    }

    /// Removes and returns those that were being published from these files.
    mutating func failPublication(losing files: Set<String>) -> [StagedImage] {
        let lost = inFlight.filter { files.contains($0.value.name) }
        for digest in lost.keys { inFlight[digest] = nil }
        return Array(lost.values)
    }

    // MARK: Removal

    /// Removes and returns the waiting renditions that are not in `wanted`.
    mutating func removeWaiting(besides wanted: some Sequence<AppListDocument.Image>) -> [StagedImage] {
        guard !waiting.isEmpty else { return [] }
        let wanted = Set(wanted.lazy.map(\.sha256))
        let unwanted = waiting.filter { !wanted.contains($0.key) }
        for digest in unwanted.keys { waiting[digest] = nil }
        return Array(unwanted.values)
    }
}
