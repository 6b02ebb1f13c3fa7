// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import IconCache
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// A cache that is never still: one version of a list follows the other, and the images of what stays are replaced.
final class Churn: Sendable {
    let world: World

    /// The icons that every version of the list has.
    static let lasting = (0..<20).map { "lasting-\($0)" }

    private struct Images {
        /// Which icons are known to have had an image.
        var icons: [Digest: Set<String>] = [:]
        /// The newest image of each icon that lasts.
        var newest: [String: [UInt8]] = [:]
        var isStill = false

        /// A new image for an icon, unless the cache is to be still.
        mutating func next(for name: String) -> [UInt8] {
            if isStill, let image = newest[name] { return image }
            let image = IconDrawing("\(name) \(icons.count)").png()
            icons[.of(image), default: []].insert(name)
            newest[name] = image
            return image
        }
    }

    private let images = Mutex(Images())

    var cache: IconCache { IconCache(at: world.agent.cache) }

    private init(_ world: World) {
        self.world = world
        for name in Self.lasting {
            world.origin.respond(to: TestOrigin.iconPath(name)) { [self] _ in
                images.withLock { images in
                    let freshness = images.isStill ? "max-age=86400" : "max-age=1"
                    return OriginReply(headers: [("Cache-Control", freshness)], body: images.next(for: name))
                }
            }
        }
    }

    /// Runs the body while an agent keeps such a cache, from the first version on.
    ///
    /// - Parameters:
    ///   - grace: The setting `cache.grace`.
    ///   - body: Called while the cache changes.
    ///   - whenStill: Called after that, while the agent still runs, and nothing changes any more but what it has to do yet.
    /// - Throws: What the two throw, or an error if the agent does not do as it should.
    static func run(
        grace: String, _ body: @escaping @Sendable (Churn) async throws -> Void,
        whenStill: @escaping @Sendable (Churn) async throws -> Void = { _ in }
    ) async throws {
        try await World.with { world in
            let churn = Churn(
                world.setting("SYNCAGENT_CACHE_GRACE", grace).setting("SYNCAGENT_LISTS_SETTLE", "1ms")
                    .setting("SYNCAGENT_REFRESH_MINIMUM", "1s").setting("SYNCAGENT_EVICTION_HOLD_ABOVE", "100%"))
            try await churn.world.agent.whileRunning { _ in
                try churn.drop(0)
                try await churn.ready(0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        var version = 0
                        while !Task.isCancelled {
                            version += 1
                            try churn.drop(version)
                            try await churn.ready(version)
                        }
                    }
                    try await body(churn)
                    group.cancelAll()
                    try await group.waitForAll()
                }
                churn.images.withLock { $0.isStill = true }
                try await whenStill(churn)
            }
        }
    }

    /// Whether the image is one that the icon had at some time.
    func isImage(_ digest: Digest, of app: String) -> Bool {
        images.withLock { images in
            if images.icons[digest]?.contains(app) ?? false { return true }
            guard !Self.lasting.contains(app), digest == .of(IconDrawing(app).png()) else { return false }
            images.icons[digest, default: []].insert(app)
            return true
        }
    }

    /// Something that a reader was promised, and did not find.
    struct Miss: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads everything that the newest manifest names, and each of its icons by its URL.
    ///
    /// - Parameters:
    ///   - cache: The cache, or a copy of it.
    ///   - mayLackNames: Whether names in `by-url/` may be missing whose images are replaced from time to time.
    /// - Returns: How many images it read.
    /// - Throws: ``Miss``, or what the reader throws.
    @discardableResult
    func read(_ cache: IconCache, mayLackNames: Bool = false) throws -> Int {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        var count = 0
        for app in try snapshot.documents().flatMap(\.apps) {
            guard case .ready(let image) = app.state, let name = app.name else { continue }
            guard Digest.of(try FileBytes.read(snapshot.path(of: image))) == image.sha256 else {
                throw Miss(description: "\(image.path) has other bytes")
            }
            count += 1
            guard let icon = try cache.icon(for: app.icon) else {
                if mayLackNames, Self.lasting.contains(name) { continue }
                throw Miss(description: "\(name) has no name in by-url")
            }
            // It may be a newer image than the manifest tells, but not that of another icon.
            guard isImage(.of(try FileBytes.read(icon.path)), of: name) else {
                throw Miss(description: "\(name) has the image of another icon in by-url")
            }
            count += 1
        }
        guard count > 0 else { throw Miss(description: "nothing is ready") }
        return count
    }

    /// Drops a version of the list that has half of its other icons in common with the one before.
    private func drop(_ version: Int) throws {
        try world.drop(Self.names(version))
    }

    /// Returns when all icons of this version are ready, or the task is cancelled.
    private func ready(_ version: Int) async throws {
        let names = Self.names(version)
        for try await document in cache.changes(ofList: "apps.plist") {
            if let apps = document?.apps, apps.map(\.name) == names, apps.allSatisfy(\.isReady) { return }
        }
    }

    private static func names(_ version: Int) -> [String] {
        lasting + (0..<100).map { "icon-\(version * 50 + $0)" }
    }
}
