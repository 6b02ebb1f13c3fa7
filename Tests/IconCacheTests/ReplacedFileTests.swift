// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import IconCache

@Suite("Files that go while they are read", .timeLimit(.minutes(5)))
struct ReplacedFileTests {
    private static let passing: [Errno] = [.staleNFSFileHandle, .noSuchFileOrDirectory, .ioError]

    @Test("three errors may mean that a file was replaced, no others")
    func errors() {
        for errno in Self.passing { #expect(errno.mayMeanReplaced) }
        for errno: Errno in [.permissionDenied, .notDirectory, .tooManyOpenFiles, .interrupted, .timedOut] {
            #expect(!errno.mayMeanReplaced)
        }
        #expect(!IconCacheError.damaged(path: "a", reason: "b").mayMeanReplaced)
        #expect(!IconCacheError.noCache(path: "a").mayMeanReplaced)
    }

    @Test("a document removed with its generation is read from the newer one", arguments: passing)
    func superseded(errno: Errno) async throws {
        try await withCache { published in
            let old = try published.publish(1, ["1.plist": ["http://a/1": nil]])
            var reads: [Int] = []
            let document = try published.cache.withNewest { snapshot throws(IconCacheError) in
                reads.append(snapshot.manifest.generation)
                if reads.count == 1 {
                    do {
                        try published.publish(2, ["1.plist": ["http://a/1": "one"]])
                        for list in old.lists.values { try published.remove(list.document) }
                    } catch {
                        Issue.record(error)
                    }
                    if errno != .noSuchFileOrDirectory { throw .unreadable(path: "lists/1.json", errno: errno) }
                }
                return try snapshot.document(of: "1.plist")
            }
            #expect(reads == [1, 2])
            #expect(document == Sample.document("1.plist", ["http://a/1": "one"]))
            #expect(try OpenFiles(folder: published.folder).count() == 0)
        }
    }

    @Test("an error without a newer generation is thrown as it is, with its path", arguments: passing)
    func same(errno: Errno) async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": [:]])
            var reads = 0
            let thrown = IconCacheError.unreadable(path: "/cache/lists/1.json", errno: errno)
            #expect(throws: thrown) {
                try published.cache.withNewest { _ throws(IconCacheError) in
                    reads += 1
                    throw thrown
                }
            }
            #expect(reads == 1)
        }
    }

    @Test("a generation removed each time is read twice at most, and other errors are not retried")
    func bounded() async throws {
        try await withCache { published in
            for errno: Errno in [.staleNFSFileHandle, .permissionDenied] {
                var generation = try published.publish(1, [:]).generation
                var reads = 0
                let thrown = IconCacheError.unreadable(path: "/cache/lists/1.json", errno: errno)
                #expect(throws: thrown) {
                    try published.cache.withNewest { _ throws(IconCacheError) in
                        reads += 1
                        generation += 1
                        #expect(throws: Never.self) { try published.publish(generation, [:]) }
                        throw thrown
                    }
                }
                #expect(reads == (errno.mayMeanReplaced ? 2 : 1))
            }
        }
    }

    @Test("a read is repeated once, and the second error counts", arguments: passing)
    func again(errno: Errno) throws {
        var errors = [errno]
        func read() throws(Errno) -> Int {
            guard let error = errors.popLast() else { return 1 }
            throw error
        }
        #expect(try FileBytes.reopening(read) == 1)
        errors = [.permissionDenied, errno]
        #expect(throws: Errno.permissionDenied) { try FileBytes.reopening(read) }
        errors = [errno, .permissionDenied]
        #expect(throws: Errno.permissionDenied) { try FileBytes.reopening(read) }
        #expect(errors.count == 1)
    }
}
