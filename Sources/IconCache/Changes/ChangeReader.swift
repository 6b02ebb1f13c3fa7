// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Reads what is different from what it read before.
actor ChangeReader {
    /// Which file it is and since when: any other manifest has another one.
    private struct Identity: Equatable {
        var device: DeviceID
        var inode: Inode
        var seconds: Int
        var nanoseconds: Int

        init(_ status: Stat) {
            device = status.deviceID
            inode = status.inode
            seconds = status.st_ctim.tv_sec
            nanoseconds = status.st_ctim.tv_nsec
        }
    }

    private let cache: IconCache
    private var known = KnownState()
    private var newest: Identity?

    init(_ cache: IconCache) {
        self.cache = cache
    }

    /// The changes since the last call; none if there is no cache, or no other manifest.
    func changes() throws(IconCacheError) -> [Change] {
        while let identity = try identity(), identity != newest {
            do throws(IconCacheError) {
                let changes = try readChanges()
                newest = identity
                return changes
            } catch {
                // What was taken away while it was being read is no damage.
                guard try self.identity() == identity else { continue }
                throw error
            }
        }
        return []
    }

    private func readChanges() throws(IconCacheError) -> [Change] {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        var documents: [AppListDocument] = []
        for list in known.unknownLists(of: snapshot.manifest) {
            if let document = try snapshot.document(of: list) { documents.append(document) }
        }
        return known.advance(to: snapshot.manifest, documents: documents)
    }

    private func identity() throws(IconCacheError) -> Identity? {
        try cache.status(of: cache.manifestPath).map(Identity.init)
    }
}
