// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A purge without an agent")
struct OfflinePurgeTests {
    @Test(
        "the origins of private icons stay known while a file could not be removed, or a reader keeps an image",
        arguments: [true, false], [true, false])
    func origins(isRemovable: Bool, isLeased: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (cache, state) = (folder.appending("cache"), folder.appending("state"))
            for path in [cache, state] { try AgentFolders.make(path, mode: .ownerReadWriteExecute) }
            try await CacheFixture(cache).publish(1, ["http://a/one": "one"])
            let store = try StateStore(folder: state, clock: AgentClock(), logger: .silent)
            var changes = MemoChanges()
            changes.values = RememberedValues(privateOrigins: ["h.example"])
            try await store.apply(changes)
            try await store.close()
            if !isRemovable {
                let image = CacheLayout.image(.of("two"), suffix: "png")
                try makeFolder(cache.pushing(FilePath(image)))
                try makeFolder(cache.pushing(FilePath(image)).appending("file"))
            }
            let lease = try FileDescriptor.open(cache.appending(CacheLayout.generation(1)), .readOnly)
            defer { try? lease.close() }
            if isLeased { try #require(flock(lease.rawValue, LOCK_SH) == 0) }
            // A second purge has the same result.
            for _ in 0..<2 {
                let result = try await OfflinePurge.run(cache: cache, state: state)
                #expect(result.failures == (isRemovable ? 0 : 1))
                let store = try StateStore(folder: state, clock: AgentClock(), logger: .silent)
                #expect(store.remembered.values.privateOrigins == (isRemovable && !isLeased ? nil : ["h.example"]))
                try await store.close()
            }
        }
    }
}
