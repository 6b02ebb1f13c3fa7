// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("A file of an absurd length", .timeLimit(.minutes(5)))
struct LargeFileTests {
    @Test("a sparse file of 1 TiB is damaged, and is not read: manifest, list document or image")
    func sparse() async throws {
        try await withCache { published in
            let manifest = try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let (cache, document) = (published.cache, try #require(manifest.lists["1.plist"]).document)
            func expectDamage(of name: String, _ read: () throws -> Void) throws {
                let path = published.path(name).string
                try #require(chmod(path, 0o644) == 0 && truncate(path, 1 << 40) == 0)
                #expect(throws: IconCacheError.damaged(path: path, reason: "it is too large")) { try read() }
            }
            try expectDamage(of: CacheLayout.byURL("http://a/1")) {
                _ = try IconMemory(of: cache).data(for: "http://a/1")
            }
            try expectDamage(of: document) { _ = try cache.document(of: "1.plist") }
            try expectDamage(of: document) { _ = try cache.entry(forIcon: "http://a/1") }
            try expectDamage(of: CacheLayout.manifest) { _ = try cache.manifest() }
            try expectDamage(of: CacheLayout.manifest) { _ = try cache.snapshot() }
        }
    }

    @Test("a file that proves to be longer than its length is read up to the limit")
    func endless() throws {
        // Its length is 0 until it is read.
        #expect(throws: Errno.fileTooLarge) { try FileBytes.read("/proc/self/status", upTo: 10) }
        #expect(try FileBytes.read("/proc/self/status").count > 10)
    }
}
