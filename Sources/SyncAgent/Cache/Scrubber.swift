// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import Logging

/// Reads every image once a week, a part of them each hour, to detect bit rot.
///
/// The scrubber changes nothing. The plan refetches the images that it reports as damaged, and the
/// ``CacheInspector`` corrects their names.
package actor Scrubber {
    /// The number of parts: one per hour of a week.
    static let parts = 168
    /// The number of images read between reports.
    private static let pace = 64

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

    /// Reads a part of the images in the newest manifest, and checks that the others exist.
    ///
    /// `report` receives damaged and missing images, some at a time.
    ///
    /// - Returns: Whether anything else is wrong.
    package func scrub(part: Int, report: @Sendable (Set<Digest>) -> Void) async -> Bool {
        await read(where: { Self.part(of: $0) == part }, report: report)
    }

    /// Reads these images, as far as the newest manifest names them; see ``scrub(part:report:)``.
    package func read(_ images: Set<Digest>, report: @Sendable (Set<Digest>) -> Void) async -> Bool {
        await read(where: images.contains, report: report)
    }

    private func read(where isMeant: (Digest) -> Bool, report: @Sendable (Set<Digest>) -> Void) async -> Bool {
        guard let snapshot = try? IconCache(at: folder.path).snapshot() else { return true }
        defer { snapshot.end() }
        var isSuspicious = false
        var names: [AppListDocument.Image: Set<String>] = [:]
        var shown = ShownImages()
        for list in snapshot.manifest.lists.keys.sorted() {
            do {
                guard let document = try snapshot.document(of: list) else { continue }
                shown.add(document)
                // Images are read even if another list determines which image a URL shows.
                for image in document.images where isMeant(image.sha256) { names[image] = [] }
            } catch {
                isSuspicious = true
                logger.error("list document damaged", metadata: ["list": "\(list)", "reason": "\(error)"])
            }
        }
        for (url, shown) in shown.byURL {
            if isMeant(shown.image.sha256) {
                names[shown.image, default: []].insert(CacheLayout.byURL(url))
            } else if !isSuspicious {
                isSuspicious = !isThere(shown.image, at: CacheLayout.byURL(url))
            }
        }
        var rest = Array(names)
        while !rest.isEmpty, !Task.isCancelled {
            if await read(Array(rest.suffix(Self.pace)), report: report) { isSuspicious = true }
            rest.removeLast(min(rest.count, Self.pace))
        }
        return isSuspicious
    }

    /// Reads some images.
    ///
    /// - Returns: Whether a name of an intact image leads to another file.
    private func read(
        _ images: [[AppListDocument.Image: Set<String>].Element], report: @Sendable (Set<Digest>) -> Void
    ) async -> Bool {
        var lost: Set<AppListDocument.Image> = []
        var hasWrongNames = false
        for (image, names) in images {
            switch Verification.flaw(of: image, at: image.path, in: folder) {
            case nil: hasWrongNames = hasWrongNames || names.contains { isWrong(image, at: $0) }
            case .missing where names.contains(where: { Verification.flaw(of: image, at: $0, in: folder) == nil }):
                hasWrongNames = true
            case .missing, .wrong: lost.insert(image)
            case .unreadable(let error):
                logger.warning("cannot read an image", metadata: ["path": "\(image.path)", "reason": "\(error)"])
            }
        }
        if !lost.isEmpty {
            // A publication may have replaced some of the images meanwhile.
            let damaged = await publisher.damaged(among: lost)
            if !damaged.isEmpty { report(Set(damaged.map(\.sha256))) }
        }
        return hasWrongNames
    }

    /// Whether the image and this name exist with the image's size; `false` if unknown, which causes a complete
    /// inspection.
    private func isThere(_ image: AppListDocument.Image, at name: String) -> Bool {
        [image.path, name].allSatisfy { (try? folder.entry($0))?.size == Int64(image.bytes) }
    }

    /// Whether another name of an intact image leads to another file.
    private func isWrong(_ image: AppListDocument.Image, at name: String) -> Bool {
        Verification.flaw(of: image, alsoAt: name, in: folder)?.isCertain ?? false
    }

    /// The part of an image; digests spread evenly.
    static func part(of image: Digest) -> Int { (Int(image.hex.prefix(4), radix: 16) ?? 0) % parts }

    /// The part for a time of day and week, so that a restart does not begin with the first part again.
    static func part(at time: Timestamp) -> Int { Int(time.sinceEpoch.components.seconds / 3600) % parts }
}
