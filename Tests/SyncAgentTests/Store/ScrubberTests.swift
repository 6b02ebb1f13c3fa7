// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Looking for damage")
struct ScrubberTests {
    /// Runs the body with a cache of four images, the second of which is damaged; the third is so where its URL leads.
    private func withDamage(_ body: (Scrubber) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            try await cache.publish(
                1, ["http://a/1": "one", "http://a/2": "two", "http://a/3": "three", "http://a/4": "four"])
            for name in [CacheLayout.image(.of("two"), suffix: "png"), CacheLayout.byURL("http://a/3")] {
                try #require(cache.folder.remove(name) == nil)
                try cache.folder.write("xyz".utf8, to: name, mode: CacheFolder.imageMode)
            }
            try await body(Scrubber(cache.folder))
        }
    }

    @Test("the parts together find all that is damaged, each its own")
    func parts() async throws {
        try await withDamage { scrubber in
            var found: Set<Digest> = []
            for part in 0..<Scrubber.parts {
                let damaged = await scrubber.read(part: part)
                #expect(damaged.allSatisfy { Scrubber.part(of: $0) == part })
                found.formUnion(damaged)
            }
            #expect(found == [.of("two"), .of("three")])
        }
    }

    @Test("of images that are said to be damaged, those are found that are")
    func suspects() async throws {
        try await withDamage { scrubber in
            #expect(await scrubber.read([.of("one"), .of("two"), .of("nothing of the cache")]) == [.of("two")])
            #expect(await scrubber.read([.of("one"), .of("four")]).isEmpty)
        }
    }

    @Test("without a manifest nothing is damaged")
    func empty() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            #expect(await Scrubber(cache.folder).read([.of("one")]).isEmpty)
        }
    }
}
