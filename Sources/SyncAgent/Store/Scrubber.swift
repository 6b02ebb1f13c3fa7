// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// Reads every image again once a week, a part of them each hour, so that bytes that rot on the disk are found.
package actor Scrubber {
    /// How many parts there are: one for each hour of a week.
    static let parts = 168

    private let folder: CacheFolder
    private let thread = FileThread("scrub")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ folder: CacheFolder) {
        self.folder = folder
    }

    /// Reads a part of the images that the newest manifest names.
    ///
    /// - Returns: Those that are not what they were.
    package func read(part: Int) -> Set<Digest> {
        guard let snapshot = try? IconCache(at: folder.path).snapshot() else { return [] }
        defer { snapshot.end() }
        var images: Set<AppListDocument.Image> = []
        for document in (try? snapshot.documents()) ?? [] {
            for case .ready(let image) in document.apps.lazy.map(\.state) where Self.part(of: image.sha256) == part {
                images.insert(image)
            }
        }
        return Set(images.filter { Verification.flaw(of: $0, at: $0.path, in: folder) != nil }.map(\.sha256))
    }

    /// The part that an image belongs to: digests are spread evenly.
    static func part(of image: Digest) -> Int { (Int(image.hex.prefix(4), radix: 16) ?? 0) % parts }

    /// The part whose turn it is at a time, so that a restart neither begins anew nor stands still.
    static func part(at time: Timestamp) -> Int { Int(time.sinceEpoch.components.seconds / 3600) % parts }
}
