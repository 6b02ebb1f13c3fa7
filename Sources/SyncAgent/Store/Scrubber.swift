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
    package func read(part: Int) -> Set<Digest> { damaged(among: { Self.part(of: $0) == part }) }

    /// Reads these images, as far as the newest manifest names them.
    ///
    /// - Returns: Those that are not what they were.
    package func read(_ images: Set<Digest>) -> Set<Digest> { damaged(among: images.contains) }

    private func damaged(among isMeant: (Digest) -> Bool) -> Set<Digest> {
        guard let snapshot = try? IconCache(at: folder.path).snapshot() else { return [] }
        defer { snapshot.end() }
        var files: [String: AppListDocument.Image] = [:]
        for app in ((try? snapshot.documents()) ?? []).lazy.flatMap(\.apps) {
            guard case .ready(let image) = app.state, isMeant(image.sha256) else { continue }
            files[image.path] = image
            // It is the same file, unless somebody put another one there.
            let name = CacheLayout.byURL(app.icon)
            if folder.entry(name)?.inode != folder.entry(image.path)?.inode { files[name] = image }
        }
        return Set(files.filter { Verification.flaw(of: $1, at: $0, in: folder) != nil }.values.map(\.sha256))
    }

    /// The part that an image belongs to: digests are spread evenly.
    static func part(of image: Digest) -> Int { (Int(image.hex.prefix(4), radix: 16) ?? 0) % parts }

    /// The part whose turn it is at a time, so that a restart neither begins anew nor stands still.
    static func part(at time: Timestamp) -> Int { Int(time.sinceEpoch.components.seconds / 3600) % parts }
}
