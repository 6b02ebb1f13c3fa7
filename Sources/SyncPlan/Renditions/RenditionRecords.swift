// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports

/// The results of rendering images, by the digest of the original.
struct RenditionRecords: Sendable {
    private struct Record {
        /// The renditions on disk or staged, by size in pixels.
        var made: [Int: AppListDocument.Image] = [:]
        /// Whether the renditions were made by other rules, and are shown until they are replaced; then `failure` is `nil`.
        var isOutdated = false
        var failure: RenderFailure?
    }

    private var records: [Digest: Record] = [:]
    private var outdated = 0
    /// The originals whose failures changed since they were stored.
    private var changedFailures: Set<Digest> = []

    var isEmpty: Bool { records.isEmpty }
    /// The originals that could not be rendered.
    var failed: some Sequence<Digest> { records.lazy.filter { $0.value.failure != nil }.map(\.key) }
    /// Whether there are records by other rules.
    var hasOutdated: Bool { outdated > 0 }

    // MARK: One original

    func made(of original: Digest) -> [Int: AppListDocument.Image] { records[original]?.made ?? [:] }
    func failure(of original: Digest) -> RenderFailure? { records[original]?.failure }

    /// The sizes among `pixels` in which an image must still be rendered.
    func missing(of original: Digest, among pixels: [Int]) -> [Int] {
        guard let record = records[original] else { return pixels }
        if record.failure != nil { return [] }
        return record.isOutdated ? pixels : pixels.filter { record.made[$0] == nil }
    }

    mutating func add(_ rendition: AppListDocument.Image, of original: Digest, pixels: Int) {
        records[original, default: Record()].made[pixels] = rendition
    }

    mutating func fail(_ original: Digest, with failure: RenderFailure) {
        records[original, default: Record()].failure = failure
        changedFailures.insert(original)
    }

    /// Records a failure that is stored already.
    mutating func restore(_ failure: RenderFailure, of original: Digest) {
        records[original, default: Record()].failure = failure
    }

    /// Forgets the renditions of an original that were made by other rules; returns whether there were any.
    mutating func removeOutdated(of original: Digest) -> Bool {
        guard records[original]?.isOutdated == true else { return false }
        remove(original)
        return true
    }

    private mutating func remove(_ original: Digest) {
        guard let record = records.removeValue(forKey: original) else { return }
        if record.isOutdated { outdated -= 1 }
        if record.failure != nil { changedFailures.insert(original) }
    }

    // MARK: All originals

    /// The renditions of all originals.
    var all: some Sequence<AppListDocument.Image> { records.values.lazy.flatMap(\.made.values) }

    /// Records that other rules apply.
    mutating func outdate() {
        for original in records.keys { records[original]?.isOutdated = true }
        outdated = records.count
        forgetFailures { _ in true }
    }

    mutating func forgetFailures(where isForgotten: (RenderFailure.Code) -> Bool) {
        for (original, record) in records {
            guard let failure = record.failure, failure.code.known.map(isForgotten) ?? true else { continue }
            forgetFailure(of: original)
        }
    }

    mutating func forgetFailure(of original: Digest) {
        guard records[original]?.failure != nil else { return }
        records[original]?.failure = nil
        changedFailures.insert(original)
    }

    /// Removes and returns the originals whose failures came or went.
    mutating func drainChangedFailures() -> Set<Digest> { exchange(&changedFailures, with: []) }

    /// Forgets images, as originals and as renditions; returns the originals that lost a rendition.
    mutating func forget(_ images: Set<Digest>) -> Set<Digest> {
        for image in images { remove(image) }
        var originals: Set<Digest> = []
        for (original, record) in records where record.made.values.contains(where: { images.contains($0.sha256) }) {
            originals.insert(original)
            records[original]?.made = record.made.filter { !images.contains($0.value.sha256) }
        }
        return originals
    }

    /// Forgets everything; failures count as changed.
    mutating func reset() {
        changedFailures.formUnion(failed)
        (records, outdated) = ([:], 0)
    }
}
