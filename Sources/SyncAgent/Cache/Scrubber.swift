// SPDX-License-Identifier: Apache-2.0
package import IconCache
package import Logging

/// Reads every image again once a week, a part of them each hour, so that bytes that rot on the disk are found.
///
/// It changes nothing. What it finds goes to the plan, which has damaged images fetched again, and names put right by the
/// ``CacheInspector``.
package actor Scrubber {
    /// How many parts there are: one for each hour of a week.
    static let parts = 168
    /// How many images are read before it is told what was found.
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

    /// Reads a part of the images that the newest manifest names, and looks at whether the others are there.
    ///
    /// - Parameters:
    ///   - part: Which one.
    ///   - report: Is told soon of images that are not what they were, or are under none of their names; some at a time.
    /// - Returns: Whether anything else is not as it should be.
    package func scrub(part: Int, report: @Sendable (Set<Digest>) -> Void) async -> Bool {
        await read(where: { Self.part(of: $0) == part }, report: report)
    }

    /// Reads these images, as far as the newest manifest names them.
    ///
    /// - Parameters:
    ///   - images: Which ones.
    ///   - report: As for ``scrub(part:report:)``.
    /// - Returns: As of ``scrub(part:report:)``.
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
                // Also where another list decides what a URL shows.
                for case .ready(let image) in document.apps.lazy.map(\.state) where isMeant(image.sha256) {
                    names[image] = []
                }
            } catch {
                isSuspicious = true
                logger.error(
                    "list document damaged",
                    metadata: ["list": "\(list)", "reason": "\(error)"])
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
        while !rest.isEmpty {
            if await read(Array(rest.suffix(Self.pace)), report: report) { isSuspicious = true }
            rest.removeLast(min(rest.count, Self.pace))
        }
        return isSuspicious
    }

    /// - Returns: Whether a name of one of them that is whole leads to something else.
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
            // What was published meanwhile may have put some of them right.
            let damaged = await publisher.damaged(among: lost)
            if !damaged.isEmpty { report(Set(damaged.map(\.sha256))) }
        }
        return hasWrongNames
    }

    /// Whether there is a file of the image's size, and one of another name of it.
    ///
    /// If that cannot be told, there is none: a complete look will be made at it.
    private func isThere(_ image: AppListDocument.Image, at name: String) -> Bool {
        [image.path, name].allSatisfy { (try? folder.entry($0))?.size == Int64(image.bytes) }
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
