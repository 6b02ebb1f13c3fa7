// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import Logging

/// Reads every image again once a week, a part of them each hour, so that bytes that rot on the disk are found.
///
/// An image has several names. Where one of them leads to something else, it is made to lead to the image again.
package actor Scrubber {
    /// How many parts there are: one for each hour of a week.
    static let parts = 168

    private let folder: CacheFolder
    private let publisher: Publisher
    private let logger: Logger
    private let thread = FileThread("scrub")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ folder: CacheFolder, publisher: Publisher, logger: Logger) {
        self.folder = folder
        self.publisher = publisher
        self.logger = logger
    }

    /// Reads a part of the images that the newest manifest names.
    ///
    /// - Returns: Those that are not what they were, or are not there any more.
    package func read(part: Int) async -> Set<Digest> { await scrub(part: part).lost }

    /// Reads a part of the images that the newest manifest names, and looks at whether the others are there.
    ///
    /// - Returns: Those that are not what they were, or are not there any more; and whether something else is missing.
    package func scrub(part: Int) async -> (lost: Set<Digest>, isSuspicious: Bool) {
        await lost(among: { Self.part(of: $0) == part })
    }

    /// Reads these images, as far as the newest manifest names them.
    ///
    /// - Returns: Those that are not what they were, or are not there any more.
    package func read(_ images: Set<Digest>) async -> Set<Digest> { await lost(among: images.contains).lost }

    private func lost(among isMeant: (Digest) -> Bool) async -> (lost: Set<Digest>, isSuspicious: Bool) {
        guard let snapshot = try? IconCache(at: folder.path).snapshot() else { return ([], true) }
        defer { snapshot.end() }
        var isSuspicious = false
        var names: [AppListDocument.Image: Set<String>] = [:]
        for list in snapshot.manifest.lists.keys.sorted() {
            do {
                for app in try snapshot.document(of: list)?.apps ?? [] {
                    guard case .ready(let image) = app.state else { continue }
                    guard isMeant(image.sha256) else {
                        isSuspicious = isSuspicious || !isThere(image, at: CacheLayout.byURL(app.icon))
                        continue
                    }
                    names[image, default: []].insert(CacheLayout.byURL(app.icon))
                }
            } catch {
                isSuspicious = true
                logger.error(
                    "a list document is damaged",
                    metadata: ["list": "\(list)", "reason": "\(error)"])
            }
        }
        var lost: Set<Digest> = []
        var repairs: [Publisher.Repair] = []
        for (image, names) in names {
            switch Verification.flaw(of: image, at: image.path, in: folder) {
            case nil: repairs += names.filter { isWrong(image, at: $0) }.map { (image.path, $0) }
            case .missing:
                if let name = names.first(where: { Verification.flaw(of: image, at: $0, in: folder) == nil }) {
                    repairs.append((name, image.path))
                } else {
                    lost.insert(image.sha256)
                }
            case .wrong: lost.insert(image.sha256)
            case .unreadable(let reason):
                logger.warning("an image cannot be read", metadata: ["path": "\(image.path)", "reason": "\(reason)"])
            }
        }
        await publisher.repair(repairs, of: snapshot.manifest.generation)
        return (lost, isSuspicious)
    }

    /// Whether there is a file of the image's size, and one of another name of it.
    private func isThere(_ image: AppListDocument.Image, at name: String) -> Bool {
        folder.entry(image.path)?.size == Int64(image.bytes) && folder.entry(name)?.size == Int64(image.bytes)
    }

    /// Whether another name of an image that is whole leads to something else.
    private func isWrong(_ image: AppListDocument.Image, at name: String) -> Bool {
        switch Verification.flaw(of: image, alsoAt: name, in: folder) {
        case .missing, .wrong: return true
        case nil, .unreadable: return false
        }
    }

    /// The part that an image belongs to: digests are spread evenly.
    static func part(of image: Digest) -> Int { (Int(image.hex.prefix(4), radix: 16) ?? 0) % parts }

    /// The part whose turn it is at a time, so that a restart neither begins anew nor stands still.
    static func part(at time: Timestamp) -> Int { Int(time.sinceEpoch.components.seconds / 3600) % parts }
}
