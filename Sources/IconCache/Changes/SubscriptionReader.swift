// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Compares the newest generation with the knowledge of one subscriber.
actor SubscriptionReader<Known: Subscription> {
    private let cache: IconCache
    private var known: Known
    private var newest: FileIdentity?

    init(_ cache: IconCache, _ known: Known) {
        self.cache = cache
        self.known = known
    }

    /// The elements to deliver since the last call; none if the manifest is the same file.
    func changes() throws(IconCacheError) -> [Known.Element] {
        while let identity = try identity() {
            guard identity != newest else { return [] }
            do throws(IconCacheError) {
                let changes = try readChanges()
                newest = identity
                return changes
            } catch {
                // A generation that was superseded and removed during the read is not damaged.
                guard try self.identity() == identity else { continue }
                throw error
            }
        }
        return known.advanceToNothing()
    }

    private func readChanges() throws(IconCacheError) -> [Known.Element] {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        return try known.advance(to: snapshot)
    }

    private func identity() throws(IconCacheError) -> FileIdentity? {
        try cache.status(of: cache.manifestPath).map(FileIdentity.init)
    }
}
