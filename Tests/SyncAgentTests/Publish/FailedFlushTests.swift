// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A flush that fails")
struct FailedFlushTests {
    @Test("a failed flush fails the next publication, and that one alone")
    func remembered() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            try await cache.publish(1, ["http://a/one": "one"])
            #expect(throws: FileError.self) {
                try cache.folder.flushing { () throws(FileError) in throw FileError("syncfs", "/cache", .ioError) }
            }
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            let staged = try await cache.stage("two")
            publication.moves = [staged]
            guard case .failed(let reason, _) = await cache.publisher.publish(publication) else {
                Issue.record("generation 2 was published")
                return
            }
            #expect(reason.contains("syncfs") && !cache.exists(StagingPath.of(staged.name)))
            #expect(try IconCache(at: folder).manifest().generation == 1)
            try await cache.publish(3, ["http://a/two": "two"])
        }
    }
}
